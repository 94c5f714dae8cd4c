// Builds into a temporary directory and compares, byte for byte, with what is committed. Checks the lock file too.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL("..", import.meta.url));
const committed = resolve(here, "../src/homeport/console/static");
const BUDGET = 60_000;

let built = "";

const lock = readFileSync(join(here, "package-lock.json"), "utf8");
if (/:\/\//.test(lock)) fail("package-lock.json holds an address; run: node scripts/tidy-lock.mjs");

built = mkdtempSync(join(tmpdir(), "homeport-console-"));
try {
  const vite = join(here, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "--outDir", built, "--emptyOutDir", "--logLevel", "warn"], {
    cwd: here,
    stdio: "inherit",
  });
  const ours = filesOf(committed);
  const fresh = filesOf(built);
  for (const name of new Set([...ours.keys(), ...fresh.keys()])) {
    const [held, made] = [ours.get(name), fresh.get(name)];
    if (!held || !made) fail(`${name} is only in ${held ? "the package" : "the fresh build"}; run: npm run build`);
    if (!held.equals(made)) fail(`${name} differs from a fresh build; run: npm run build`);
  }
  const size = [...fresh.values()].reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
  if (size > BUDGET) fail(`the front end is ${size} bytes compressed, more than ${BUDGET}`);
  console.log(`The built front end is what its source gives: ${fresh.size} files, ${size} bytes compressed.`);
} finally {
  rmSync(built, { recursive: true, force: true });
}

function filesOf(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return [relative(root, path).replaceAll("\\", "/"), readFileSync(path)];
    }),
  );
}

function fail(message) {
  console.error(message);
  if (built !== "") rmSync(built, { recursive: true, force: true });
  process.exit(1);
}
