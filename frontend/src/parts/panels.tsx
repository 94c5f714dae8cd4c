/** What stands where rows would: nothing yet, not loaded, or a failure. */

import type { ComponentChildren } from "preact";

import type { Failure } from "../model/rows";
import { Remedy } from "./command";
import { Line } from "./text";

export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Rows of the height that is coming, so that nothing moves when it is there. */
export function Waiting({ rows, of }: { readonly rows: number; readonly of: string }) {
  return (
    <div class="waiting" role="status">
      <span class="said">Reading {of}</span>
      {Array.from({ length: rows }, () => (
        <div class="bone" />
      ))}
    </div>
  );
}

export function Notice({ tone, children }: { readonly tone: "warn" | "bad"; readonly children: ComponentChildren }) {
  return (
    <div class="notice" data-tone={tone} role="status">
      {children}
    </div>
  );
}

export function Trouble({ of }: { readonly of: Failure }) {
  return (
    <Notice tone="bad">
      <p>
        <Line of={of.message} max={600} />
      </p>
      <Remedy of={of.remedy} />
    </Notice>
  );
}
