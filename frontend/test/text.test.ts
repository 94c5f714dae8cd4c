import { describe, expect, it } from "vitest";

import { clip, counted, inAddress, isPlain, pieces, plain } from "../src/model/text";

describe("text of unknown origin", () => {
  it("shows ordinary text in any script as it is", () => {
    for (const text of ["get_time", "größe", "日本語", "שלום", "नमस्ते", "🚀"]) expect(pieces(text)).toEqual([{ text, named: false }]);
  });

  it.each([
    ["a right-to-left override", "\u202e", "U+202E"],
    ["an isolate", "\u2066", "U+2066"],
    ["a zero-width space", "\u200b", "U+200B"],
    ["a byte order mark", "\ufeff", "U+FEFF"],
    ["a soft hyphen", "\u00ad", "U+00AD"],
    ["an escape", "\u001b", "U+001B"],
    ["a tag character", "\u{e0041}", "U+E0041"],
    ["a variation selector of the supplement", "\u{e0100}", "U+E0100"],
    ["a line separator", "\u2028", "U+2028"],
    ["half a surrogate pair", "\ud800", "U+D800"],
    ["a filler that looks like nothing", "\u3164", "U+3164"],
    ["a line break in a name", "\n", "U+000A"],
  ])("names %s", (_, character, name) => {
    expect(pieces(`a${character}b`)).toEqual([
      { text: "a", named: false },
      { text: name, named: true },
      { text: "b", named: false },
    ]);
    expect(isPlain(`a${character}b`)).toBe(false);
    expect(plain(`a${character}b`)).toBe(`a⟨${name}⟩b`);
  });

  it("keeps lines, tabs and joiners in prose, and nothing else", () => {
    expect(pieces("a\n\tb\u200dc", true)).toEqual([{ text: "a\n\tb\u200dc", named: false }]);
    expect(pieces("a\r\nb\u202e", true).filter((piece) => piece.named).map((piece) => piece.text)).toEqual([
      "U+000D",
      "U+202E",
    ]);
  });

  it("counts marks that are heaped on one letter, and leaves what languages write", () => {
    expect(pieces(`Z${"\u0335".repeat(400)}a`).map((piece) => piece.text)).toEqual([`Z${"\u0335".repeat(4)}`, "396 marks", "a"]);
    expect(pieces("ệ בְּרֵאשִׁ֖ית".normalize("NFD"))).toHaveLength(1);
    expect(isPlain(`Z${"\u0335".repeat(9)}`)).toBe(false);
  });

  it("cuts between characters, never within one", () => {
    expect(clip("ab", 2)).toEqual({ shown: "ab", rest: 0 });
    expect(clip("🚀🚀🚀", 2)).toEqual({ shown: "🚀🚀", rest: 2 });
    expect(clip("x".repeat(100_000), 160).shown).toHaveLength(160);
  });

  it("goes into an address whatever it is", () => {
    expect(inAddress("a b/\ud800")).toBe("a%20b%2F%EF%BF%BD");
  });

  it("counts in words", () => {
    expect(counted(1, "tool")).toBe("1 tool");
    expect(counted(12_000, "tool")).toBe("12,000 tools");
  });
});
