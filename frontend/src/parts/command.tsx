/** A command one can copy, and a remedy made of sentences and commands. */

import { useEffect, useState } from "preact/hooks";

import { isCopyable, remedyParts } from "../model/commands";
import { plain } from "../model/text";
import { announce } from "./announce";
import { Check, CopyIcon } from "./icons";
import { Line } from "./text";

const SHOWN_COPIED = 1600;

export function Command({ of }: { readonly of: string }) {
  return (
    <span class="command">
      <code>
        <Line of={of} max={400} />
      </code>
      {isCopyable(of) && <Copy text={of} />}
    </span>
  );
}

export function Copy({ text, what = text }: { readonly text: string; readonly what?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SHOWN_COPIED);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => {
        setDone(true);
        announce("Copied");
      },
      () => announce("The browser refused to copy"),
    );
  };
  return (
    <button type="button" class="copy" data-done={done} onClick={copy} aria-label={`Copy ${plain(what, 80)}`} title="Copy">
      {done ? <Check /> : <CopyIcon />}
    </button>
  );
}

export function Remedy({ of }: { readonly of: string }) {
  if (of === "") return null;
  const parts = remedyParts(of);
  return (
    <p class="remedy">
      <span class="lead">{parts.length === 1 && parts[0]?.command ? "Run" : "Remedy"}</span>
      {parts.map((part) => (part.command ? <Command of={part.text} /> : <Line of={part.text} max={600} />))}
    </p>
  );
}

/** A sentence of ours with names in it; what stands in backticks is set as code, nothing is offered to copy. */
export function Sentence({ of, max = 600 }: { readonly of: string; readonly max?: number }) {
  return (
    <>
      {remedyParts(of).map((part) =>
        part.command ? (
          <code>
            <Line of={part.text} max={max} />
          </code>
        ) : (
          <Line of={part.text} max={max} />
        ),
      )}
    </>
  );
}
