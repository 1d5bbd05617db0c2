#!/usr/bin/env bash
# Runs what takes too long for every change: the tests labelled "long" (200 kills …), every test
# under address, undefined-behaviour and thread sanitizers, those of ranks with both MPIs, and
# longer fuzzing. Same output as check.sh.
# usage: scripts/check_long.sh [PART...]
#   PART  long, nodes, mpich, asan, tsan, asan_mpich, tsan_mpich, fuzz; all where none is named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh
source scripts/mpiexec_env.sh

fuzz_seconds=${STRIA_FUZZ_SECONDS:-300} # for each target
known=(long nodes mpich asan tsan asan_mpich tsan_mpich fuzz)
parts=("$@")
if ((${#parts[@]} == 0)); then parts=("${known[@]}"); fi

# Each part: what it builds, then what it runs.
run_part() {
  case $1 in
    long)
      if stage build build_united release; then stage test_long test_preset release -L '^long$' || true; fi
      ;;
    nodes)
      if stage build build_united release; then
        stage nodes_long env STRIA_NODES_LONG=1 scripts/check_nodes.sh || true
        stage nodes_nfs env STRIA_NODES=nfs scripts/check_nodes.sh || true
        stage nodes_ceph env STRIA_NODES=ceph scripts/check_nodes.sh || true
      fi
      ;;
    mpich)
      if stage build_mpich build_preset checked-mpich; then stage test_mpich test_preset checked-mpich -L '^mpi$' || true; fi
      ;;
    asan | tsan | asan_mpich | tsan_mpich) # all rounds of random tests (tests/support/rounds.hpp)
      if stage "build_$1" build_preset "${1/_/-}"; then
        STRIA_ALL_ROUNDS=1 stage "test_$1" test_preset "${1/_/-}" -LE 'long|style' || true
      fi
      ;;
    fuzz)
      if stage build_clang build_preset clang; then stage fuzz_long scripts/fuzz.sh "$fuzz_seconds" || true; fi
      ;;
  esac
}

for part in "${parts[@]}"; do
  [[ " ${known[*]} " == *" $part "* ]] || { echo "check_long: no part '$part'; there are: ${known[*]}" >&2 && exit 2; }
done
scripts/setup.sh || { echo "0 passed, 1 failed" && exit 1; }
for part in "${parts[@]}"; do
  run_part "$part"
done
finish
