#!/usr/bin/env bash
# Idefix, unchanged, writes the same dumps and VTK files on the drop-in as without, and restarts
# from them.
# usage: STRIA_IDEFIX_SOURCE=DIR idefix_test.sh BUILD_DIR
#   STRIA_IDEFIX_SOURCE  with its submodule, src/kokkos
set -euo pipefail
build=$(realpath "$1")
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_source STRIA_IDEFIX_SOURCE Idefix

# Three dimensions, a magnetic field on the faces of the cells, and tracers; all output, often.
problem=$source/test/MHD/OrszagTang3D
mkdir "$work/problem"
cd "$work/problem"
cp "$problem/setup.cpp" "$problem/definitions.hpp" .
sed -e '/\[Output\]/,$d' -e 's/^tstop.*/tstop 0.02/' "$problem/idefix.ini" >idefix.ini
cat >>idefix.ini <<'INI'
[Output]
vtk         0.005
dmp         0.01
vtk_slice1  0.01 2 0.5 cut
vtk_slice2  0.01 0 0.5 average
INI
# The program writes, behind the text in a dump's header, what its stack has there, unless that is
# zeroed.
options=(-DIdefix_MPI=ON -DIdefix_MHD=ON -DMPI_CXX_COMPILER=mpicxx.openmpi
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -ftrivial-auto-var-init=zero")
command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -G "Unix Makefiles" -S "$source" -B . "${options[@]}" >"$work/make.log" 2>&1 &&
  make -j "$(nproc)" >>"$work/make.log" 2>&1 || { tail -n 30 "$work/make.log" && exit 1; }

run() { # native|drop_in LAST_TIME [OPTION...]: a run, or one more after a restart
  local preload=
  [[ $1 == drop_in ]] && preload=$build/lib/libstria_mpiio.so
  sed -i "s/^tstop.*/tstop $2/" "$work/$1/idefix.ini"
  (cd "$work/$1" && ranks 2 env LD_PRELOAD=$preload STRIA_TRACE=full STRIA_TRACE_DIR="$work/$1.trace" \
    "$work/problem/idefix" -nolog -dec 1 2 1 "${@:3}" >>"$work/$1.log" 2>&1) ||
    { tail -n 30 "$work/$1.log" && exit 1; }
}
compare_all() { # LEAST: the least number of files
  local count=0 file
  for file in "$work"/native/*.{dmp,vtk}; do
    cmp "$file" "$work/drop_in/$(basename "$file")"
    count=$((count + 1))
  done
  [[ $count -ge $1 ]] || { echo "only $count files were written" >&2 && exit 1; }
  echo "Idefix: $count files are the same, $(du -ch "$work"/drop_in/*.{dmp,vtk} | tail -n 1 | cut -f 1)"
}
for which in native drop_in; do
  mkdir "$work/$which"
  cp idefix.ini "$work/$which"
  run "$which" 0.02
done
compare_all 14
for which in native drop_in; do
  run "$which" 0.03 -restart
done
compare_all 18
compgen -G "$work/drop_in.trace/*" >/dev/null || { echo "the drop-in was not in use" >&2 && exit 1; }
