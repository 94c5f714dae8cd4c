import { describe, expect, it } from "vitest";

import { callCommand, grantCommand, isCopyable, remedyParts, shellLine } from "../src/model/commands";

describe("a remedy", () => {
  it("that is one command is that command", () => {
    expect(remedyParts("homeport trust")).toEqual([{ text: "homeport trust", command: true }]);
  });

  it("that is a sentence has its commands in backticks", () => {
    expect(remedyParts("install Blender, then `homeport check blender`")).toEqual([
      { text: "install Blender, then ", command: false },
      { text: "homeport check blender", command: true },
    ]);
  });

  it("with a stray backtick is a sentence", () => {
    expect(remedyParts("use `this")).toEqual([{ text: "use `this", command: false }]);
  });

  it("that begins with the product's name is not yet a command", () => {
    expect(remedyParts("homeport trust agrees to it; see the manual")[0]?.command).toBe(false);
    expect(remedyParts("Homeport cannot")[0]?.command).toBe(false);
  });
});

describe("a command to copy", () => {
  it("quotes what a shell would read", () => {
    expect(callCommand("git", "a b")).toBe("homeport call git 'a b'");
    expect(callCommand("git", "$(reboot)")).toBe("homeport call git '$(reboot)'");
    expect(callCommand("git", "it's")).toBe("homeport call git 'it'\\''s'");
  });

  it("is not offered for a name that hides something or reads as an option", () => {
    for (const name of ["", "a\nreboot", "a\u202eb", "--all", "x".repeat(1000)]) {
      expect(callCommand("git", name)).toBeNull();
      expect(grantCommand("git", name, "default")).toBeNull();
    }
  });

  it("is one visible line", () => {
    expect(isCopyable("homeport up")).toBe(true);
    expect(isCopyable("homeport up\nreboot")).toBe(false);
    expect(isCopyable("homeport up\r")).toBe(false);
  });

  it("names the profile where it is not the default one", () => {
    expect(grantCommand("git", "log", "default")).toBe("homeport grant git log");
    expect(grantCommand("git", "log", "review")).toBe("homeport grant git log --profile review");
    expect(shellLine("a", "b/c==1")).toBe("a b/c==1");
  });
});
