#!/usr/bin/env bash
# HDF5 1.14.5, which Debian 12 lacks, for the VOL connector and its tests: Debian 13's source
# package, pinned below, unpacked and built into ~/.cache/stria/hdf5-1.14.5, where CMake finds it,
# or what STRIA_NEWER_HDF5 names. What is built already stays.
# usage: scripts/newer_hdf5.sh serial|openmpi|mpich|wheel...
#
# Each kind gets a folder with include/, lib/ (static and shared) and bin/: HDF5's tools, its tests
# of VOL connectors, and where it is parallel its parallel tests. That for wheels is the library
# alone: with szip, and without the network libraries that Debian's needs.
set -euo pipefail
exec </dev/null

url=http://deb.debian.org/debian/pool/main/h/hdf5/hdf5_1.14.5+repack.orig.tar.gz
sha256=71cdb04c151ef4e8a7f88907adfc4f3b75afd44e96fbd55775e1c9d7c4e7c112
place=${STRIA_NEWER_HDF5:-${XDG_CACHE_HOME:-$HOME/.cache}/stria/hdf5-1.14.5}

# build KIND: in its folder, which is its prefix as well. Objects go when all is linked.
build() {
  local kind=$1 prefix=$place/$1 options=() targets=(hdf5-static hdf5-shared)
  if [[ -e $prefix/built ]]; then return; fi
  rm -rf "$prefix"
  if [[ $kind == serial ]]; then
    options=(-DHDF5_BUILD_TOOLS=ON)
    targets+=(h5dump h5ls h5diff h5repack h5copy h5stat h5_api_test)
  elif [[ $kind == wheel ]]; then
    # CMake looks for a package of szip, which Debian's library has not.
    mkdir -p "$prefix/szip"
    echo 'find_library(SZIP_LIBRARY sz REQUIRED)
find_path(SZIP_INCLUDE_DIR szlib.h REQUIRED)
add_library(szip SHARED IMPORTED GLOBAL)
set_target_properties(szip PROPERTIES IMPORTED_LOCATION ${SZIP_LIBRARY} OUTPUT_NAME sz)
set(SZIP_LIBRARIES szip)' >"$prefix/szip/SZIPConfig.cmake"
    options=(-DHDF5_BUILD_TOOLS=OFF -DBUILD_TESTING=OFF -DHDF5_TEST_API=OFF -DBUILD_STATIC_LIBS=OFF -DHDF5_ENABLE_SZIP_SUPPORT=ON
      "-DSZIP_DIR=$prefix/szip" "-DCMAKE_C_FLAGS_RELEASE=-O2 -w")
    targets=(hdf5-shared)
  else
    options=(-DHDF5_BUILD_TOOLS=OFF -DHDF5_ENABLE_PARALLEL=ON -DCMAKE_C_COMPILER="mpicc.$kind")
    targets+=(h5_api_test_parallel testphdf5 t_shapesame t_filters_parallel t_pmulti_dset t_select_io_dset)
  fi
  if command -v ccache >/dev/null; then options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
  cmake -S "$place/source" -B "$prefix" -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE="-O1 -w" -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=ON -DBUILD_TESTING=ON -DHDF5_TEST_API=ON \
    -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_BUILD_FORTRAN=OFF -DHDF5_BUILD_CPP_LIB=OFF \
    -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_JAVA=OFF "${options[@]}"
  cmake --build "$prefix" -j "$(nproc)" --target "${targets[@]}"
  cmake --install "$prefix" --component headers
  cmake --install "$prefix" --component libraries
  find "$prefix" -name '*.o' -delete
  touch "$prefix/built"
}

if (($# == 0)); then sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 2; fi
for kind in "$@"; do
  [[ $kind =~ ^(serial|openmpi|mpich|wheel)$ ]] || { echo "newer_hdf5: '$kind' is none of serial, openmpi, mpich, wheel" >&2 && exit 2; }
done
if [[ ! -e $place/source/CMakeLists.txt ]]; then
  "$(dirname "${BASH_SOURCE[0]}")/pinned_source.sh" "$url" "$sha256" "$place/source"
fi
for kind in "$@"; do build "$kind"; done
