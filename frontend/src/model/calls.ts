/** What a call came to, the list of calls, and what of it a filter leaves. */

import type { Call } from "./rows";

export type Outcome = "running" | "done" | "error" | "refused";

/** The most calls kept in the page; older ones are in `homeport audit`. */
export const KEPT = 500;

const REFUSALS = new Map(
  Object.entries({
    unknown: "Unknown",
    invalid_arguments: "Invalid arguments",
    policy_denied: "Denied by policy",
    untrusted: "Server not trusted",
    unavailable_here: "Not available here",
    rate_limited: "Rate limit reached",
    approval: "Not approved",
    schema_drift: "Tool has drifted",
    secret_missing: "Secret missing",
    journal: "Journal not writable",
    upstream_failed: "Server failed",
    output_mismatch: "Output mismatch",
    input_required: "Input required",
    cancelled: "Cancelled",
  }),
);

export function outcome(call: Call): Outcome {
  if (call.stage === "begun") return "running";
  if (call.stage === "refused") return "refused";
  if (call.decision !== "accept" || call.result?.["is_error"] === true) return "error";
  return "done";
}

/** In a word or three. */
export function outcomeText(call: Call): string {
  switch (outcome(call)) {
    case "running":
      return "Running";
    case "refused":
      return REFUSALS.get(call.decision) ?? "Refused";
    case "error":
      return call.decision === "accept" ? "Error result" : (REFUSALS.get(call.decision) ?? "Failed");
    case "done":
      return call.dry_run ? "Dry run" : "Done";
  }
}

/** Rows that arrived, in the order they did, taken into a list that is newest first. A known id keeps its place. */
export function take(calls: readonly Call[], arrived: readonly Call[]): Call[] {
  const places = new Map(calls.map((call, index) => [call.id, index]));
  const next = [...calls];
  const fresh: Call[] = [];
  for (const row of arrived) {
    const at = places.get(row.id);
    const again = fresh.findIndex((call) => call.id === row.id);
    if (at !== undefined) next[at] = later(next[at], row);
    else if (again >= 0) fresh[again] = later(fresh[again], row);
    else fresh.push(row);
  }
  return [...fresh.reverse(), ...next].slice(0, KEPT);
}

/** Rows of one call can overtake each other between a read and the stream; `begun` never replaces an end. */
function later(held: Call | undefined, row: Call): Call {
  if (held === undefined) return row;
  return row.stage === "begun" && held.stage !== "begun" ? held : { ...row, ts_ms: held.ts_ms };
}

export interface CallFilter {
  readonly outcome: "all" | "refused" | "error" | "running";
  readonly server: string;
  readonly text: string;
}

export function passes(call: Call, filter: CallFilter): boolean {
  if (filter.outcome !== "all" && outcome(call) !== filter.outcome) return false;
  if (filter.server !== "" && call.server !== filter.server) return false;
  const wanted = filter.text.trim().toLowerCase();
  if (wanted === "") return true;
  return [call.name, call.server, call.profile, call.client, call.reason, call.decision].some((field) =>
    field.toLowerCase().includes(wanted),
  );
}
