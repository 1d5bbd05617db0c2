#!/usr/bin/env bash
# Tries the wheel that an environment has: what it loads lies in the environment or is the C or C++
# library's, and the examples run. Called by scripts/wheels.sh.
# usage: wheel_bare.sh VENV none|mpich|openmpi
set -euo pipefail
venv=$1 mpi=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=$here/../../examples/python
work=$(mktemp -d --tmpdir stria_wheel_bare.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_LIBRARY_PATH PYTHONPATH

if [[ $mpi == none ]]; then
  "$venv/bin/python" "$examples/one_process.py" table.h5 | grep "period 2 s: height 3 m"
  "$venv/bin/python" "$here/wheel_alone.py" "$venv"
  exit 0
fi

# Open MPI runs as root, and with more ranks than there are cores, only where it is told so.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { # RANKS EXAMPLE ARGUMENT...
  "$venv/bin/mpiexec" -n "$1" "$venv/bin/python" "$examples/$2.py" "${@:3}"
}
run 2 checkpoint checkpoint.h5
run 3 restart checkpoint.h5 | grep "40 blocks of time 0.25, as written"
run 2 compressed compressed.h5
run 2 particles particles.h5
"$venv/bin/python" -c "import stria; assert stria.open('particles.h5')['id'].shape == (2010,)"
