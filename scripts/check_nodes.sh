#!/usr/bin/env bash
# Tests on four virtual nodes on this machine, with networks, page caches and processes of their own
# (tests/nodes/cluster.sh). Where namespaces are not allowed, it says so and leaves them out.
# STRIA_NODES_LONG=1: also tests that take minutes. STRIA_MPI=mpich: the tests that depend on the
# MPI, on that of scripts/mpich_wheel.sh. STRIA_NODES=nfs, or ceph: those on real NFS, or CephFS;
# they take minutes. usage: scripts/check_nodes.sh [PYTEST_OPTION...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/mpiexec_env.sh

leave_out() { # REASON
  echo "SKIPPED [1] tests/nodes/nodes_test.py:1: $1"
  echo "1 skipped in 0.0s"
  exit 0
}

run_tests() { # CLUSTER [PYTEST_OPTION...]
  local nodes=tests/nodes/$1
  shift
  "$nodes" enter build/venv/bin/python -B -m pytest -q -o cache_dir="$PWD/build/nodes_cache" -rs --tb=short "$@"
}

# A few failed tests run once more, as those of ctest do (stages.sh).
run_again() { # CLUSTER [PYTEST_OPTION...]
  local failed
  failed=$(build/venv/bin/python -c 'import json, sys; print(*json.load(sys.stdin), sep="\n")' \
    <build/nodes_cache/v/cache/lastfailed) || return 1
  if (($(wc -l <<<"$failed") > ${STRIA_RUN_AGAIN:-0})); then return 1; fi
  sed 's/^.*::/run again: /' <<<"$failed"
  run_tests "$@" --last-failed
}

cluster=cluster.sh
chosen=()
files=(tests/nodes/{nodes_test,store_test,lost_node_test,cut_manager_test}.py)
if [[ -e lab/tests/nodes_bench_test.py ]]; then files+=(lab/tests/nodes_bench_test.py); fi
if [[ ${STRIA_MPI:-} == mpich ]]; then
  scripts/mpich_wheel.sh || leave_out "MPICH of several nodes: no package of it can be had from PyPI"
  files=(tests/nodes/nodes_test.py) # servers know nothing of MPI
  chosen=(-k "(test_library and 2x3) or mpiio_pointers or (test_cut_link and local)")
fi
case ${STRIA_NODES:-} in
  ceph)
    files=(tests/nodes/nodes_test.py)
    chosen=(-k "(library or restart or drop_in) and not cut")
    ;;
  nfs)
    cluster=nfs.sh
    files=(tests/nodes/nfs_test.py)
    ;;
esac
code=0
rm -rf build/nodes_cache
run_tests "$cluster" "${files[@]}" "${chosen[@]}" "$@" || code=$?
if [[ $code == 1 ]] && run_again "$cluster" "${files[@]}" "${chosen[@]}" "$@"; then code=0; fi
if [[ $code == 77 ]]; then leave_out "no namespaces of network, mounts and processes, or no program that these nodes need"; fi
exit "$code"
