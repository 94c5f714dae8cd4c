#!/usr/bin/env bash
# Run a command without root's powers. For root, permission bits do not exist, so tests of read-only files would pass or
# fail for the wrong reason. Dropping every capability makes the bits count again and, unlike another user id, still
# lets a Python below root's home be used.
set -eu
if [ "$(id -u)" -ne 0 ]; then
  exec "$@"
fi
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs "$@"
