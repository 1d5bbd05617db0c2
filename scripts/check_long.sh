#!/usr/bin/env bash
# What takes too long for every change: the tests labelled "long" (200 kills …), every test under address, undefined-behaviour
# and thread sanitizers, ranks included, those of the MPI-IO drop-in with both MPIs, and longer fuzzing. Same output as check.sh.
# usage: scripts/check_long.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh
source scripts/mpiexec_env.sh

fuzz_seconds=${STRIA_FUZZ_SECONDS:-300} # for each target

scripts/setup.sh || { echo "0 passed, 1 failed" && exit 1; }

if stage build build_preset release; then
  # No other test is required to be long, so that an empty selection is no failure here.
  stage test_long ctest --preset release -L '^long$' || true
fi
if stage build_asan build_preset asan; then
  stage test_asan test_preset asan -LE 'long|style' || true
fi
if stage build_tsan build_preset tsan; then
  stage test_tsan test_preset tsan -LE 'long|style' || true
fi
for preset in asan-mpich tsan-mpich; do
  if stage "build_$preset" build_preset "$preset" mpiio_tests; then
    stage "test_$preset" test_preset "$preset" -L '^mpiio$' -LE 'long|style' || true
  fi
done
if stage build_clang build_preset clang; then
  stage fuzz_long scripts/fuzz.sh "$fuzz_seconds" || true
fi
finish
