/** The tools page: which tools a filter leaves, their groups, and the arguments a schema describes. */

import type { Tool } from "./rows";

export interface ToolFilter {
  readonly granted: "all" | "granted" | "denied";
  readonly server: string;
  readonly text: string;
}

export function toolPasses(tool: Tool, filter: ToolFilter): boolean {
  if (filter.granted !== "all" && tool.granted !== (filter.granted === "granted")) return false;
  if (filter.server !== "" && tool.server !== filter.server) return false;
  const wanted = filter.text.trim().toLowerCase();
  return (
    wanted === "" ||
    [tool.name, tool.title, tool.server, tool.description].some((field) => field.toLowerCase().includes(wanted))
  );
}

/** The tools by server, both in the order they came. */
export function byServer(tools: readonly Tool[]): [string, Tool[]][] {
  const groups = new Map<string, Tool[]>();
  for (const tool of tools) {
    const group = groups.get(tool.server);
    if (group) group.push(tool);
    else groups.set(tool.server, [tool]);
  }
  return [...groups];
}

export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** The top-level arguments of a schema, as far as it says so plainly; null when it does not. */
export function argumentsOf(schema: string): Argument[] | null {
  const parsed = object(parse(schema));
  const properties = object(parsed?.["properties"]);
  if (!properties) return null;
  const required = Array.isArray(parsed?.["required"]) ? parsed["required"] : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = object(value);
    const description = property?.["description"];
    return {
      name,
      type: typeOf(property),
      required: required.includes(name),
      description: typeof description === "string" ? description : "",
    };
  });
}

function typeOf(property: Record<string, unknown> | null): string {
  const found = typesIn(property, 2);
  return found.size === 0 ? "any" : [...found].join(" or ");
}

function typesIn(property: Record<string, unknown> | null, depth: number): Set<string> {
  if (Array.isArray(property?.["enum"])) return new Set(["one of a list"]);
  const type = property?.["type"];
  const found = new Set([type].flat().filter((name) => typeof name === "string"));
  const choices = property?.["anyOf"] ?? property?.["oneOf"];
  if (depth > 0 && Array.isArray(choices)) {
    for (const choice of choices) for (const name of typesIn(object(choice), depth - 1)) found.add(name);
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function object(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
