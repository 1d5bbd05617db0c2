#!/usr/bin/env bash
# Builds the source as on a machine without MPI, installs it, and runs the examples of one process
# against it.
# usage: without_mpi_test.sh
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d --tmpdir stria_without_mpi_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

no_mpi=-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
cmake -S "$source" -B "$work/build" -G Ninja -DSTRIA_MPI=none -DSTRIA_UNITY=ON $no_mpi
cmake --build "$work/build" --target installed
if [[ -e $work/build/bindings/python ]]; then
  cmake --build "$work/build" --target stria_python
fi
cmake --install "$work/build" --prefix "$work/prefix"

# One project asks for what there is, and another for this part.
cmake -S "$source/examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" $no_mpi
cmake --build "$work/examples"
for program in "$work"/examples/one_process_*; do
  "$program" "$work/${program##*_}.h5" | grep "period 2.* height 3.* m"
  cmp "$work/${program##*_}.h5" "$work/c.h5"
done
mkdir "$work/asks"
cat >"$work/asks/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(asks LANGUAGES CXX)
find_package(stria REQUIRED COMPONENTS serial)
find_package(stria COMPONENTS mpi)
if(stria_FOUND OR NOT TARGET stria::stria_serial OR TARGET stria::stria)
  message(FATAL_ERROR "a part is found that isn't there")
endif()
END
cmake -S "$work/asks" -B "$work/asks/build" -DCMAKE_PREFIX_PATH="$work/prefix" $no_mpi

"$work/prefix/bin/stria" verify "$work/c.h5"
"$work/prefix/bin/stria" inspect "$work/c.h5"
if "$work/prefix/bin/stria" bench block3d 2>"$work/said"; then exit 1; fi
grep "needs MPI" "$work/said"
if find "$work/prefix" -name '*.so' -exec ldd {} + | grep libmpi; then exit 1; fi
