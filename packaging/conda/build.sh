#!/usr/bin/env bash
# Called by recipe.yaml, in the root of the source.
set -euxo pipefail

"$PYTHON" -m pip install . --no-deps --no-build-isolation -vv
if [[ $mpi == nompi ]]; then exit 0; fi

# shellcheck disable=SC2086 # conda's arguments are several
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS} -DCMAKE_BUILD_TYPE=Release -DSTRIA_MPI="$mpi" \
  -DSTRIA_BUILD_TESTS=OFF -DSTRIA_BUILD_PYTHON=OFF
cmake --build build/conda --target installed
cmake --install build/conda --prefix "$PREFIX"
