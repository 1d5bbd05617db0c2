#!/usr/bin/env bash
# Tests what a configuration says and leaves out where something is missing.
# usage: parts_test.sh MPI
set -euo pipefail

mpi=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d --tmpdir stria_parts_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

# Makes pkg-config know all modules but these.
without() {
  rm -rf "$work/pc"
  mkdir "$work/pc"
  local folder module
  for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    cp -sn "$folder"/*.pc "$work/pc" 2>/dev/null || true
  done
  for module in "$@"; do
    rm "$work/pc/$module.pc"
  done
}
configure() { # OPTION…: what it says
  rm -rf "$work/build"
  PKG_CONFIG_LIBDIR=$work/pc cmake -S "$source" -B "$work/build" -G Ninja -DSTRIA_MPI="$mpi" -DSTRIA_BUILD_PYTHON=OFF "$@" >"$work/said" 2>&1
}
expect() { # TEXT
  grep -F -- "$1" "$work/said" >/dev/null || { cat "$work/said" && echo "it does not say: $1" && exit 1; }
}

echo "== the libraries alone"
without sqlite3 pangocairo
lacking=(-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)
configure -DSTRIA_BUILD_APPS=OFF -DSTRIA_BUILD_TESTS=OFF "${lacking[@]}" || { cat "$work/said" && exit 1; }
if grep -E "LEFT OUT: (tests|the stria command)" "$work/said"; then exit 1; fi
ninja -C "$work/build" -n stria_c stria_c_serial >/dev/null

echo "== parts that lack something are left out, and the others are there"
configure "${lacking[@]}" || { cat "$work/said" && exit 1; }
expect "LEFT OUT: the stria command: no sqlite3>=3.37 (Debian: libsqlite3-dev), nlohmann/json >= 3.11"
expect "CLI11 >= 2.1 (Debian: libcli11-dev)"
expect "LEFT OUT: tests: no sqlite3>=3.37"
expect "GoogleTest >= 1.12 (Debian: libgtest-dev)"
ninja -C "$work/build" -n stria_c stria_c_serial >/dev/null

echo "== the laboratory alone lacks something"
without pangocairo
configure || { cat "$work/said" && exit 1; }
expect "LEFT OUT: the laboratory: no pangocairo>=1.50"
ninja -C "$work/build" -n stria_cli installed >/dev/null
if ninja -C "$work/build" -t targets all | grep -E '^(lab/|stria_laboratory)'; then exit 1; fi

echo "== all that the libraries lack is told at once"
without liburing libisal
if configure; then exit 1; fi
expect "liburing>=2.0 (Debian: liburing-dev)"
expect "libisal>=2.30 (Debian: libisal-dev)"

echo "== warnings are errors for who works on Stria, and for nobody else"
without
configure -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_Fortran_COMPILER=NOTFOUND || { cat "$work/said" && exit 1; }
if grep -q -- -Werror "$work/build/compile_commands.json"; then exit 1; fi

echo "== a compiler that was missing when the folder was first configured, and is there now"
if command -v gfortran >/dev/null && grep "LEFT OUT: Fortran" "$work/said"; then exit 1; fi
