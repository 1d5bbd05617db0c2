#!/usr/bin/env bash
# Makes build/NAME with the Python packages of a file of scripts/; silent when it is there and up to
# date.
# usage: scripts/pinned_venv.sh NAME REQUIREMENTS
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/build/$1
requirements=$root/scripts/$2
log=$root/build/logs/$1.log

if cmp -s "$requirements" "$venv/stria_stamp"; then exit 0; fi
mkdir -p "$root/build/logs"
echo "Installing $(grep -c == "$requirements") Python packages into build/$1"
if ! { rm -rf "$venv" && python3 -m venv "$venv" &&
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --only-binary=:all: --progress-bar off \
    -r "$requirements"; } >"$log" 2>&1 </dev/null; then
  tail -n 5 "$log" >&2
  echo "pinned_venv: failed; the whole output is in $log" >&2
  exit 1
fi
cp "$requirements" "$venv/stria_stamp"
