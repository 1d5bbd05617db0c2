#!/usr/bin/env bash
# Installs a build, and looks at find_package(stria) in projects of one language or two, each of
# which builds and runs a program; and at pkg-config with gfortran itself, which is no wrapper of
# MPI.
# usage: languages_test.sh BUILD_DIR MPIEXEC
set -euo pipefail

build=$1 mpiexec=$2
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples" && pwd)
work=$(mktemp -d --tmpdir stria_languages_test.XXXXXX)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/install.log"
# What an earlier run compiled is used again.
if ccache=$(command -v ccache); then
  launcher="$examples/../cmake/ccache.sh;$work;$ccache"
  export CMAKE_CXX_COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher
fi

# project "LANGUAGE…" SOURCE TARGET: the program of a project that knows these languages.
project() {
  local name=${1// /_}
  mkdir "$work/$name"
  cat >"$work/$name/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(of_$name LANGUAGES $1)
find_package(stria 0.1 REQUIRED)
add_executable(program $examples/$2)
target_link_libraries(program PRIVATE $3)
END
  cmake -S "$work/$name" -B "$work/$name/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/said" 2>&1 &&
    cmake --build "$work/$name/build" >>"$work/said" 2>&1 || { cat "$work/said" && exit 1; }
  "$mpiexec" -n 2 "$work/$name/build/program" "$work/$name.h5" >/dev/null
  cmp "$work/$name.h5" "$work/C.h5"
  echo "project of $1: ok"
}

project C c/checkpoint.c stria::c
project CXX cpp/checkpoint.cpp stria::stria
if PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name stria_c.pc)") && export PKG_CONFIG_PATH && pkg-config --exists stria_fortran; then
  project Fortran fortran/checkpoint.f90 stria::fortran
  project "C Fortran" fortran/checkpoint.f90 stria::fortran
  # shellcheck disable=SC2046
  gfortran "$examples/fortran/checkpoint.f90" -J "$work" -o "$work/by_gfortran" $(pkg-config --cflags --libs stria_fortran) \
    "-Wl,-rpath,$(pkg-config --variable=libdir stria_fortran)"
  "$mpiexec" -n 2 "$work/by_gfortran" "$work/by_gfortran.h5" >/dev/null
  cmp "$work/by_gfortran.h5" "$work/C.h5"
  echo "gfortran by pkg-config: ok"
fi
