/** Commands a person may copy into a shell. */

import { isPlain } from "./text";

export interface RemedyPart {
  readonly text: string;
  readonly command: boolean;
}

const LONGEST = 600;

/** A remedy is one command, or a sentence with commands in backticks. */
export function remedyParts(remedy: string): RemedyPart[] {
  if (/^homeport [a-z]/.test(remedy) && !remedy.includes("`") && !/[.:;]\s/.test(remedy)) {
    return [{ text: remedy, command: true }];
  }
  const parts = remedy.split("`");
  // An odd number of backticks is not ours to interpret.
  if (parts.length % 2 === 0) return [{ text: remedy, command: false }];
  return parts.map((text, index) => ({ text, command: index % 2 === 1 })).filter((part) => part.text !== "");
}

/** Whether a command may be offered for copying: one line, nothing hidden in it. */
export function isCopyable(command: string): boolean {
  return command.length <= LONGEST && isPlain(command);
}

/** The words as one POSIX shell line; null when one of them could hide something or be taken for an option. */
export function shellLine(...words: string[]): string | null {
  const line = words.map(quoted);
  if (line.includes(null)) return null;
  const text = line.join(" ");
  return isCopyable(text) ? text : null;
}

function quoted(word: string): string | null {
  if (word === "" || !isPlain(word)) return null;
  if (/^[A-Za-z0-9_./:@=+,%-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** `homeport call SERVER TOOL`, or null for a name that no shell line should hold. */
export function callCommand(server: string, tool: string): string | null {
  return tool.startsWith("-") ? null : shellLine("homeport", "call", server, tool);
}

/** `homeport grant SERVER TOOL [--profile P]`, or null likewise. */
export function grantCommand(server: string, tool: string, profile: string): string | null {
  return tool.startsWith("-") ? null : shellLine("homeport", "grant", server, tool, ...scope(profile));
}

/** `homeport grant SERVER --read-only [--profile P]`. */
export function grantReadOnlyCommand(server: string, profile: string): string | null {
  return shellLine("homeport", "grant", server, "--read-only", ...scope(profile));
}

function scope(profile: string): string[] {
  return profile === "default" ? [] : ["--profile", profile];
}
