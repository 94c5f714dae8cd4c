/** How text of unknown origin is shown: what would be invisible, or would bend its surroundings, is named instead. */

export interface Piece {
  readonly text: string;
  /** True for the name of a character that is not drawn as itself, e.g. `U+202E`. */
  readonly named: boolean;
}

// What follows the fourth mark on one letter: a heap of them covers the lines around it.
const HEAPED = /(?<=\p{M}{4})\p{M}+/u;

// Controls, formats (bidi marks, zero-width, tags), lone surrogates, line separators, blanks that look like nothing.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;

const ACTING = new RegExp(`${HEAPED.source}|${UNSEEN.source}`, "gu");

// Prose has lines; joiners shape emoji and Indic scripts.
const FINE_IN_PROSE = /^[\n\t\u200c\u200d]$/;

/** Cut at `max` code points. `rest` is how many were left out. */
export function clip(text: string, max: number): { shown: string; rest: number } {
  if (text.length <= max) return { shown: text, rest: 0 };
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return { shown: text.slice(0, end), rest: text.length - end };
}

/** The text in pieces: runs to show as they are, and names of what must not act. */
export function pieces(text: string, prose = false): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(ACTING)) {
    if (prose && FINE_IN_PROSE.test(match[0])) continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index), named: false });
    found.push({ text: nameOf(match[0]), named: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from), named: false });
  return found;
}

/** The same as one string, for places that hold only a string: titles, labels. */
export function plain(text: string, max = 200): string {
  const { shown, rest } = clip(text, max);
  const seen = pieces(shown).map((piece) => (piece.named ? `⟨${piece.text}⟩` : piece.text));
  return seen.join("") + (rest > 0 ? "…" : "");
}

/** Whether every character is drawn as itself. */
export function isPlain(text: string): boolean {
  return text.search(ACTING) < 0;
}

function nameOf(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  const count = [...found].length;
  return count > 1 ? counted(count, "mark") : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** For an address: half a surrogate pair has no form there, and would be an exception. */
export function inAddress(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd"));
}

/** `1 tool`, `2 tools`, `12,000 tools`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
