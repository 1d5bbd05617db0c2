#!/usr/bin/env bash
# What takes too long for every change: the tests labelled "long" (200 kills …), every test under
# address, undefined-behaviour and thread sanitizers, those of ranks with both MPIs, and longer
# fuzzing. Same output as check.sh.
# usage: scripts/check_long.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh
source scripts/mpiexec_env.sh

fuzz_seconds=${STRIA_FUZZ_SECONDS:-300} # for each target

scripts/setup.sh || { echo "0 passed, 1 failed" && exit 1; }

if stage build build_preset release; then
  # There may be no long tests here, so an empty selection is no failure.
  stage test_long ctest --preset release -L '^long$' || true
  stage nodes_long env STRIA_NODES_LONG=1 scripts/check_nodes.sh || true
  stage nodes_nfs env STRIA_NODES=nfs scripts/check_nodes.sh || true
  stage nodes_ceph env STRIA_NODES=ceph scripts/check_nodes.sh || true
fi
if stage build_mpich build_preset release-mpich; then
  stage test_mpich test_preset release-mpich -L '^mpi$' || true
fi
for preset in asan tsan asan-mpich tsan-mpich; do
  if stage "build_$preset" build_preset "$preset"; then
    stage "test_$preset" test_preset "$preset" -LE 'long|style' || true
  fi
done
if stage build_clang build_preset clang; then
  stage fuzz_long scripts/fuzz.sh "$fuzz_seconds" || true
fi
finish
