import { describe, expect, it } from "vitest";

import type { Server, Tool } from "../src/model/rows";
import { canRestart, meaning, needsYou, serverPasses } from "../src/model/servers";
import { age, duration, elapsed, size } from "../src/model/time";
import { argumentsOf, byServer, toolPasses } from "../src/model/tools";

function server(state: string): Server {
  return {
    name: "s",
    source: "",
    state: state as Server["state"],
    sentence: "",
    remedy: "",
    tools_locked: 0,
    tools_granted: 0,
    pid: null,
    era: "",
    version: "",
    since_ms: null,
    stderr: [],
  };
}

function tool(name: string, fields: Partial<Tool> = {}): Tool {
  return {
    server: "git",
    name,
    served: "",
    title: "",
    description: "",
    granted: false,
    reason: "",
    read_only: false,
    destructive: false,
    schema: "",
    ...fields,
  };
}

describe("a server's state", () => {
  it("needs a person where something is to be done, and only there", () => {
    const wanting = ["failed", "untrusted", "withheld", "fault"];
    for (const state of ["ready", "starting", "stopped", "disabled", ...wanting]) {
      expect(needsYou(server(state)), state).toBe(wanting.includes(state));
    }
  });

  it("that this page does not know is shown and asks for a look", () => {
    expect(meaning("melted")).toEqual({ label: "melted", tone: "warn", says: "" });
    expect(meaning("constructor").label).toBe("constructor");
    expect(needsYou(server("melted"))).toBe(true);
  });

  it("puts every server under exactly one filter", () => {
    for (const state of ["ready", "starting", "stopped", "failed", "untrusted", "withheld", "disabled", "fault"]) {
      const under = (["serving", "attention", "off"] as const).filter((filter) => serverPasses(server(state), filter));
      expect(under, state).toHaveLength(1);
    }
  });

  it("offers a restart where one can help", () => {
    expect(canRestart(server("failed"))).toBe(true);
    expect(canRestart(server("withheld"))).toBe(false);
  });
});

describe("tools", () => {
  it("are grouped by server in the order they come", () => {
    const groups = byServer([tool("a"), tool("b", { server: "time" }), tool("c")]);
    expect(groups.map(([name, tools]) => [name, tools.map((each) => each.name)])).toEqual([
      ["git", ["a", "c"]],
      ["time", ["b"]],
    ]);
  });

  it("are found by what they say", () => {
    const filter = { granted: "all", server: "", text: "tree" } as const;
    expect(toolPasses(tool("a", { description: "the working TREE" }), filter)).toBe(true);
    expect(toolPasses(tool("a"), filter)).toBe(false);
    expect(toolPasses(tool("a", { granted: true }), { ...filter, text: "", granted: "denied" })).toBe(false);
  });
});

describe("the arguments of a schema", () => {
  it("are its top-level properties", () => {
    const schema = `{"properties":{"a":{"type":"string","description":"d"},"b":{"type":["integer","null"]},"c":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]}`;
    expect(argumentsOf(schema)).toEqual([
      { name: "a", type: "string", required: true, description: "d" },
      { name: "b", type: "integer or null", required: false, description: "" },
      { name: "c", type: "string or null", required: false, description: "" },
    ]);
  });

  it("are unknown for what is no such schema", () => {
    for (const schema of ["", "nonsense", "[]", "true", "null", `{"properties":[]}`, `{"type":"object"}`]) {
      expect(argumentsOf(schema)).toBeNull();
    }
  });

  it("survive properties of any shape", () => {
    const schema = `{"properties":{"__proto__":{"type":{}},"a":null,"b":true,"c":{"description":{}}},"required":"a"}`;
    expect(argumentsOf(schema)?.map((each) => each.type)).toEqual(["any", "any", "any", "any"]);
  });
});

describe("times and sizes", () => {
  it("are short", () => {
    expect([0, 5000, 59_999, 60_000, 3_600_000, 90_000_000].map(age)).toEqual(["now", "5 s", "59 s", "1 min", "1 h", "1 d"]);
    expect([0.2, 12.4, 999.4, 1400, 123_000].map(duration)).toEqual(["<1 ms", "12 ms", "999 ms", "1.4 s", "2 min 03 s"]);
    expect([-5, 900, 26_400, 123_000].map(elapsed)).toEqual(["0 s", "0 s", "26 s", "2 min 03 s"]);
    expect([312, 4100, 2_000_000].map(size)).toEqual(["312 B", "4.1 kB", "2.0 MB"]);
  });

  it("of clocks that disagree are not negative", () => {
    expect(age(-10_000)).toBe("now");
  });
});
