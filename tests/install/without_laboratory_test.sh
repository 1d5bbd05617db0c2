#!/usr/bin/env bash
# Builds the product from a source without the folder lab/, runs its tests of the command, and
# installs it.
# usage: without_laboratory_test.sh MPI MPIEXEC
set -euo pipefail

mpi=$1 mpiexec=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d --tmpdir stria_without_laboratory_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

mkdir "$work/source"
tar -C "$source" --exclude ./build --exclude ./out --exclude ./lab --exclude ./.git -cf - . | tar -C "$work/source" -xf -
mkdir "$work/source/build"
ln -s "$source/build/venv" "$work/source/build/venv"
build=$work/source/build/product
# The options are those of the presets, so that ccache finds what they have compiled.
cmake -S "$work/source" -B "$build" -G Ninja -DSTRIA_MPI="$mpi" -DCMAKE_BUILD_TYPE=Release -DSTRIA_WERROR=ON \
  -DSTRIA_BUILD_BENCH=ON -DSTRIA_BUILD_PYTHON=OFF -DSTRIA_UNITY=ON
cmake --build "$build" -j 2 --target installed stria_trace_synthetic
(cd "$build" && ctest --output-on-failure --no-tests=error -R '^(cli[.](bad_input|verify|manual|width|output)|trace[.]export|viewer[.]report)$')

cmake --install "$build" --prefix "$work/prefix"
if (cd "$work/prefix" && find .) | grep -iE 'laboratory|papers|flash_peers'; then exit 1; fi
stria=$work/prefix/bin/stria
"$stria" --version
if "$mpiexec" -n 2 "$stria" verify "$work/nothing.h5" 2>"$work/said"; then exit 1; fi
grep "open '$work/nothing.h5'" "$work/said"
# Once, however many ranks.
if "$mpiexec" -n 3 "$stria" bench block3d 2>"$work/said"; then exit 1; fi
[[ $(grep -c '^stria: ' "$work/said") == 1 ]]
grep "'stria bench' needs the laboratory, which is not installed" "$work/said"
