#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: GCC with Open MPI, GCC with MPICH, Clang
# with sanitizers, fuzzing. Prints one line per stage, and at the end "N passed, N failed"; whole
# outputs are in build/logs/. Asks nothing. usage: scripts/check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh
source scripts/mpiexec_env.sh

fuzz_seconds=${STRIA_FUZZ_SECONDS:-10} # for each target

scripts/setup.sh || { echo "0 passed, 1 failed" && exit 1; }

stage format scripts/format.sh --check || true
stage tidy build/venv/bin/python -B tests/tidy/tidy.py || true

# What the later stages build first.
build_next() {
  build_preset checked-mpich && build_united clang unit_tests
}

# Contracts are checked (base/check.hpp) where the tests of ranks run under MPICH and the unit tests
# with Clang; the first build is as users install it, and has only those unit tests that do more
# without sanitizers. The files of a target are compiled together in a new folder, which takes two
# fifths of the time with GCC and half of it with Clang. The part "apart" of check_all.sh compiles
# each by itself and runs every unit test without sanitizers. Label "long" is for check_long.sh.
# "unit" needs no ranks, "mpi" does, "style" looks at the sources.
# MPICH's build has -O1, with which GCC compiles the library in half the time; there GCC 12 warns
# without reason of how coroutines free their frames.
if stage build build_united release; then
  ahead build_next # The tests leave a third of the processors' time, and those of nodes more.
  stage test test_preset release -LE long || true
  stage nodes scripts/check_nodes.sh || true
  end_ahead
fi
if stage build_mpich build_preset checked-mpich; then
  # MPICH's waiting ranks never sleep. What takes longest by that is left to check_long.sh, and so
  # is what hardly differs from the first build: one rank, and the examples of an installed package.
  stage test_mpich test_preset checked-mpich -L '^mpi$' -LE long \
    -E '^(convection_.*|leaving_test|wait_watch_test|file_test)\.np7$|\.np1$|^(install|install_languages|servers|fault\.storage)$' || true
  stage nodes_mpich env STRIA_MPI=mpich STRIA_NODES_PRESET=checked-mpich scripts/check_nodes.sh || true
fi
if stage build_clang build_united clang unit_tests; then
  stage test_clang test_preset clang -L '^unit$' -LE long || true
  stage fuzz scripts/fuzz.sh "$fuzz_seconds" || true
fi
finish
