#!/usr/bin/env bash
# Athena++ with the patch of docs/adopting writes the files that it writes without, and how long
# both take.
# usage: STRIA_ATHENA_SOURCE=DIR athena_test.sh BUILD_DIR [ATHENA_OPTION ...]
#   ATHENA_OPTION  replaces a parameter of athena_input.txt, such as mesh/nx1=96
set -euo pipefail
build=$(realpath "$1")
shift
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_source STRIA_ATHENA_SOURCE Athena++

copy_source "$work/athena" configure.py Makefile.in src
cd "$work/athena"
places() { pkg-config "$2" hdf5-openmpi | grep -o -- "$1[^ ]*hdf5[^ ]*" | head -n 1 | cut -c 3-; } # -I or -L of HDF5
# GCC on x86 has __FLT16_MAX__, by which Athena++ expects __fp16, which it doesn't have.
hdf5=(--include="$(places -I --cflags-only-I)" --lib_path="$(places -L --libs-only-L)")
timed=_ZN7Outputs11MakeOutputsEP4MeshP14ParameterInputb
gcc -O1 -DFIRST=$timed -c "$root/tests/adopting/timed_calls.c" -o timed_calls.o
make_athena() { # NAME LIBRARIES
  make -j "$(nproc)" CXX="$(cached mpicxx.openmpi)" LDLIBS="-lhdf5 timed_calls.o -Wl,--wrap=$timed $2" >>"$work/make.log" 2>&1 ||
    { tail -n 30 "$work/make.log" && exit 1; }
  mv bin/athena "$work/$1"
}
configure() { python3 configure.py --prob=blast -mpi -hdf5 "${hdf5[@]}" "$@" >"$work/configure.log"; }

configure --cflag="-O1 -U__FLT16_MAX__"
make_athena before ""
patch -p1 <"$root/docs/adopting/athena.patch"
configure --cflag="-O1 -U__FLT16_MAX__ -DSTRIA_OUTPUT" --include="$root/include" --lib_path="$build/lib" --lib=stria_c
make_athena after "-lstria_c -Wl,-rpath,$build/lib -Wl,-rpath-link,$build/lib"

for _ in 1 2 3; do
  for which in before after; do
    mkdir -p "$work/run_$which"
    ranks 2 "$work/$which" -d "$work/run_$which" -i "$root/tests/adopting/athena_input.txt" "$@" >>"$work/$which.log" 2>&1 ||
      { cat "$work/$which.log" && exit 1; }
  done
done
count=0
for file in "$work"/run_before/*.athdf; do
  other=$work/run_after/$(basename "$file")
  compare Athena++ "$file" "$other"
  cmp "$file.xdmf" "$other.xdmf"
  "$build/bin/stria" verify "$other" >/dev/null
  count=$((count + 1))
done
[[ $count -ge 6 ]] || { echo "only $count files were written" >&2 && exit 1; }
echo "Athena++: $count files are the same; $(du -ch "$work"/run_after/*.athdf | tail -n 1 | cut -f 1) written"
echo "Athena++, all outputs of a run: $(ratio "$work/before.log" "$work/after.log")"
