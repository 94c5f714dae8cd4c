/** Calls as they arrive. Refused ones stand out and say why; nothing moves under a reader. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { memo } from "preact/compat";

import { KEPT, outcome, outcomeText, passes, type CallFilter } from "../model/calls";
import { callCommand } from "../model/commands";
import type { Call } from "../model/rows";
import { counted, plain } from "../model/text";
import { clock, duration, elapsed, size, stamp } from "../model/time";
import { Command, Copy, Sentence } from "../parts/command";
import { Chip, Choices, Facts, onRowKeys, Row, SearchBox } from "../parts/controls";
import { Empty, Waiting } from "../parts/panels";
import { Line } from "../parts/text";
import { route } from "../route";
import { calls, now, project, tools } from "../store";

const DRAWN = 100;
const NEAR_TOP = 120;

export function CallsPage() {
  const wanted = useSignal<CallFilter["outcome"]>("all");
  const text = useSignal("");
  const open = useSignal<string | null>(null);
  const most = useSignal(DRAWN);
  const held = useHeld(open.value !== null);
  const all = held.rows;
  const server = route.value.server;
  if (all === null) return <Waiting rows={8} of="calls" />;
  const filter: CallFilter = { outcome: wanted.value, server, text: text.value };
  const shown = all.filter((call) => passes(call, filter));
  const waiting = held.fresh.filter((call) => passes(call, filter)).length;
  return (
    <>
      <div class="bar">
        <SearchBox label="Search calls" value={text.value} onInput={(value) => (text.value = value)} />
        <Choices
          label="Show calls"
          value={wanted.value}
          onChoose={(value) => (wanted.value = value)}
          of={[
            { value: "all", label: "All" },
            { value: "refused", label: "Refused" },
            { value: "error", label: "Errors" },
            { value: "running", label: "Running" },
          ]}
        />
        {server !== "" && (
          <Chip page="calls">
            <Line of={server} max={60} />
          </Chip>
        )}
      </div>
      {waiting > 0 && (
        <div class="fresh">
          <button
            type="button"
            onClick={() => {
              open.value = null;
              held.release();
            }}
          >
            {counted(waiting, "new call")}
          </button>
        </div>
      )}
      {all.length === 0 && waiting === 0 ? (
        <NoCalls />
      ) : shown.length === 0 ? (
        <NoMatch />
      ) : (
        <ul class="rows calls" onKeyDown={onRowKeys} aria-label="Calls, newest first">
          {shown.slice(0, most.value).map((call) => (
            <CallItem
              key={call.id}
              of={call}
              open={open.value === call.id}
              onToggle={() => (open.value = open.value === call.id ? null : call.id)}
            />
          ))}
        </ul>
      )}
      {shown.length > most.value && (
        <p class="more">
          <button type="button" class="act" onClick={() => (most.value += DRAWN)}>
            Show more
          </button>
        </p>
      )}
      {all.length >= KEPT && (
        <p class="hint">
          Older calls are in the journal: <Command of="homeport audit" />
        </p>
      )}
    </>
  );
}

/** New calls wait while a row is open or the page is scrolled; calls that are shown keep being brought up to date. */
function useHeld(reading: boolean) {
  const since = useRef<ReadonlySet<string> | null>(null);
  const scrolled = useSignal(false);
  useEffect(() => {
    const look = () => (scrolled.value = scrollY > NEAR_TOP);
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  const rows = calls.value;
  const hold = reading || scrolled.value;
  if (!hold || rows === null) since.current = null;
  else since.current ??= new Set(rows.map((call) => call.id));
  const known = since.current;
  return {
    rows: known && rows ? rows.filter((call) => known.has(call.id)) : rows,
    fresh: known && rows ? rows.filter((call) => !known.has(call.id)) : [],
    release: () => {
      since.current = null;
      scrolled.value = false;
      scrollTo(0, 0);
    },
  };
}

interface ItemProps {
  readonly of: Call;
  readonly open: boolean;
  readonly onToggle: () => void;
}

const CallItem = memo(
  function CallItem({ of: call, open, onToggle }: ItemProps) {
    const came = outcome(call);
    return (
      <Row
        class="call"
        open={open}
        onToggle={onToggle}
        data={{ "data-outcome": came }}
        head={
          <>
            <time class="at" dateTime={new Date(call.ts_ms).toISOString()}>
              {clock(call.ts_ms)}
            </time>
            <span class="outcome" data-outcome={came}>
              {plain(outcomeText(call), 32)}
            </span>
            <span class="what">
              <Line of={call.server === "" ? "—" : call.server} class="at-server" max={48} />
              <Line of={call.name} class="name mono" max={120} />
            </span>
            <span class="who">
              <Line of={call.profile} max={40} />
              {call.client !== "" && <Line of={call.client} class="source" max={60} />}
            </span>
            <span class="took">{came === "running" ? <Elapsed since={call.ts_ms} /> : took(call)}</span>
          </>
        }
        below={
          saysWhy(call) && (
            <div class="why">
              <p class="sentence">
                <Sentence of={call.reason} />
              </p>
            </div>
          )
        }
      >
        <CallDetail of={call} />
      </Row>
    );
  },
  // The toggle closes over nothing but the id.
  (before, after) => before.of === after.of && before.open === after.open,
);

/** Whether the row itself says why, opened or not. */
function saysWhy(call: Call): boolean {
  const came = outcome(call);
  return call.reason !== "" && (came === "refused" || came === "error");
}

function took(call: Call): string {
  return call.duration_ms === null ? "" : duration(call.duration_ms);
}

function Elapsed({ since }: { readonly since: number }) {
  return <>{elapsed(now.value - since)}</>;
}

function CallDetail({ of: call }: { readonly of: Call }) {
  return (
    <Facts
      of={[
        ["Time", stamp(call.ts_ms)],
        ["Request", <Line of={call.kind} class="mono" />],
        ["Decision", <Line of={call.decision} class="mono" />],
        ["Rule", call.rule === "" ? "" : <Line of={call.rule} class="mono" />],
        ["Reason", call.reason === "" || saysWhy(call) ? "" : <Sentence of={call.reason} max={2000} />],
        ["Approval", call.approval === "" ? "" : <Line of={call.approval} class="mono" />],
        ["From", call.place === "" ? "" : <Line of={call.place} class="mono" max={400} />],
        ["Arguments", measured(call.args)],
        ["Result", measured(call.result)],
        ["Client", <Line of={[call.client, call.edge].filter(Boolean).join(" over ")} />],
        ["Session", call.session === "" ? "" : <Line of={call.session} class="mono" />],
        [
          "Id",
          <>
            <Line of={call.id} class="mono" />
            <Copy text={call.id} what="the id" />
          </>,
        ],
      ]}
    />
  );
}

/** `path, limit · 84 B`: names and sizes; the journal keeps no values. */
function measured(of: Call["args"]) {
  if (of === null) return "";
  const keys = Array.isArray(of["keys"]) ? of["keys"].filter((key) => typeof key === "string").join(", ") : "";
  const bytes = typeof of["bytes"] === "number" ? size(of["bytes"]) : "";
  const error = of["is_error"] === true ? "error" : "";
  const digest = typeof of["digest"] === "string" ? of["digest"] : "";
  return (
    <>
      <Line of={[error, keys, bytes].filter(Boolean).join(" · ")} max={400} />{" "}
      {digest !== "" && <Line of={digest} class="mono digest" />}
    </>
  );
}

function NoCalls() {
  const granted = (tools.value ?? []).find((tool) => tool.granted);
  const command = granted ? callCommand(granted.server, granted.name) : null;
  return (
    <Empty title="No calls yet">
      <p>Every call an agent makes appears here the moment it is made, refused ones too. Point an agent at</p>
      {project.value && (
        <p>
          <Command of={project.value.endpoint} />
        </p>
      )}
      <p>or start its stdio side with</p>
      <p>
        <Command of="homeport connect --profile default" />
      </p>
      {command && (
        <>
          <p>or make the first call yourself:</p>
          <p>
            <Command of={command} />
          </p>
        </>
      )}
    </Empty>
  );
}

function NoMatch() {
  return (
    <Empty title="No call matches">
      <p>Clear the search, or show all calls.</p>
    </Empty>
  );
}
