import { describe, expect, it } from "vitest";

import { KEPT, outcome, outcomeText, passes, take } from "../src/model/calls";
import type { Call } from "../src/model/rows";

function call(id: string, fields: Partial<Call> = {}): Call {
  return {
    id,
    ts_ms: 1000,
    stage: "ended",
    profile: "default",
    client: "codex",
    edge: "http",
    session: "",
    kind: "tools/call",
    server: "time",
    name: "now",
    decision: "accept",
    rule: "",
    reason: "",
    place: "",
    args: null,
    result: null,
    duration_ms: 5,
    dry_run: false,
    approval: "",
    ...fields,
  };
}

describe("what a call came to", () => {
  it.each([
    [{ stage: "begun" }, "running", "Running"],
    [{}, "done", "Done"],
    [{ dry_run: true }, "done", "Dry run"],
    [{ result: { is_error: true } }, "error", "Error result"],
    [{ decision: "upstream_failed" }, "error", "Server failed"],
    [{ stage: "refused", decision: "policy_denied" }, "refused", "Denied by policy"],
    [{ stage: "refused", decision: "a_kind_of_tomorrow" }, "refused", "Refused"],
    [{ stage: "refused", decision: "constructor" }, "refused", "Refused"],
  ] as const)("%j is %s", (fields, came, words) => {
    expect(outcome(call("a", fields))).toBe(came);
    expect(outcomeText(call("a", fields))).toBe(words);
  });
});

describe("the list of calls", () => {
  it("takes new calls in front, newest first", () => {
    expect(take([call("a")], [call("b"), call("c")]).map((row) => row.id)).toEqual(["c", "b", "a"]);
  });

  it("brings a known call up to date where it stands", () => {
    const rows = take([call("b"), call("a", { stage: "begun" })], [call("a", { ts_ms: 2000 })]);
    expect(rows.map((row) => [row.id, row.stage, row.ts_ms])).toEqual([
      ["b", "ended", 1000],
      ["a", "ended", 1000],
    ]);
  });

  it("takes the beginning and the end of a call in one burst as one row", () => {
    expect(take([], [call("a", { stage: "begun" }), call("a")]).map((row) => row.stage)).toEqual(["ended"]);
  });

  it("never goes back from an end to a beginning", () => {
    expect(take([call("a")], [call("a", { stage: "begun" })])[0]?.stage).toBe("ended");
  });

  it("is bounded", () => {
    const many = Array.from({ length: KEPT + 50 }, (_, index) => call(String(index)));
    const rows = take([], many);
    expect(rows).toHaveLength(KEPT);
    expect(rows[0]?.id).toBe(String(KEPT + 49));
  });
});

describe("a filter", () => {
  const all = { outcome: "all", server: "", text: "" } as const;
  it("by outcome, server and text", () => {
    expect(passes(call("a"), { ...all, outcome: "refused" })).toBe(false);
    expect(passes(call("a"), { ...all, server: "git" })).toBe(false);
    expect(passes(call("a"), { ...all, text: " NOW " })).toBe(true);
    expect(passes(call("a", { reason: "no grant" }), { ...all, text: "grant" })).toBe(true);
  });
});
