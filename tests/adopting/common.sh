# Holds what the tests of ports share. Sourced by them after set -euo pipefail.
#   build, root, work   the build of Stria (Open MPI), its source, a folder that goes at the end
# A port is tested where a variable of the environment names the source of the program, and left out
# otherwise: exit code 77.

# need_source VARIABLE NAME: sets source
need_source() {
  source=${!1:-}
  if [[ -z $source ]]; then
    echo "left out: $1 names no source of $2"
    exit 77
  fi
  source=$(realpath "$source")
}

# copy_source PLACE PATH...: some of the source, whether it is a checkout or a bare repository
copy_source() {
  local place=$1
  shift
  mkdir -p "$place"
  if [[ -e $source/HEAD ]]; then
    git -C "$source" archive HEAD "$@" | tar -x -C "$place"
  else
    tar -c -C "$source" "$@" | tar -x -C "$place"
  fi
}

# compare WHAT BEFORE AFTER: the datasets and attributes of both files are the same
compare() {
  h5diff --exclude-path=/.stria "$2" "$3" || { echo "$1: $3 has another content than $2" >&2 && exit 1; }
}

# ranks N COMMAND...
ranks() {
  mpiexec.openmpi -n "$@"
}

# ratio: of the medians of the seconds in the lines "timed:" of two files
ratio() {
  python3 - "$1" "$2" <<'PYTHON'
import re
import statistics
import sys

before, after = (
    statistics.median(float(found) for found in re.findall(r"timed: \d+ calls, ([0-9.]+) s", open(path).read()))
    for path in sys.argv[1:]
)
print(f"before {before:.3f} s, after {after:.3f} s: {before / after:.2f} times as fast")
PYTHON
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../../scripts/mpiexec_env.sh
source "$root/scripts/mpiexec_env.sh"
work=$(mktemp -d --tmpdir stria_port.XXXXXX)
trap 'rm -rf "$work"' EXIT
cached() { if command -v ccache >/dev/null; then echo "ccache $1"; else echo "$1"; fi; }
