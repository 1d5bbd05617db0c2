#!/usr/bin/env bash
# Makes build/venv_mpich with the MPICH of requirements_mpich.txt, under the names that Debian's
# programs look for; silent when it is there and up to date. Exit code 1 where it can't be had.
# usage: scripts/mpich_wheel.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=build/venv_mpich
log=build/logs/mpich_wheel.log
if cmp -s scripts/requirements_mpich.txt "$venv/stria_stamp"; then exit 0; fi
mkdir -p build/logs
if ! { rm -rf "$venv" && python3 -m venv "$venv" &&
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --only-binary=:all: --progress-bar off \
    -r scripts/requirements_mpich.txt && ln -s libmpi.so.12 "$venv/lib/libmpich.so.12"; } >"$log" 2>&1 </dev/null; then
  tail -n 5 "$log" >&2
  echo "mpich_wheel: failed; the whole output is in $log" >&2
  exit 1
fi
cp scripts/requirements_mpich.txt "$venv/stria_stamp"
