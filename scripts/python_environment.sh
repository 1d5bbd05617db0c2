#!/usr/bin/env bash
# Makes build/venv with the Python packages of requirements.txt; silent when it is there
# and up to date.
# usage: scripts/python_environment.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/build/venv
requirements=$root/scripts/requirements.txt

# The environment is good as long as the requirements, the interpreter and its own place
# have not changed.
python=$(command -v python3) || { echo "python_environment: no python3; run scripts/install_dependencies.sh" >&2 && exit 1; }
stamp="$(sha256sum <"$requirements") $("$python" -c 'import sys; print(sys.version.split()[0], sys.base_prefix)') $venv"
if [[ -x $venv/bin/python && -f $venv/stria_stamp && $(<"$venv/stria_stamp") == "$stamp" ]]; then exit 0; fi

mkdir -p "$root/build/logs"
log=$root/build/logs/python_environment.log
echo "Installing $(grep -c == "$requirements") Python packages into build/venv: yt, h5py, matplotlib, ruff, pytest and what they need"
if ! { rm -rf "$venv" && "$python" -m venv "$venv" &&
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --only-binary=:all: --progress-bar off \
    -r "$requirements"; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "python_environment: failed; the whole output is in $log" >&2
  exit 1
fi
echo "$stamp" >"$venv/stria_stamp"
