#!/bin/sh
# A compiler through ccache, so that any clone finds what another has compiled: paths below the
# source are hashed, and told to the compiler, relative to the build.
# usage: ccache.sh SOURCE CCACHE COMPILER ARGUMENT...
#
# Clang notes in a precompiled header where the files lie that were its source, and wants to find
# them there. CMake makes two for each target, in the build. Copies of these in a place that all
# clones share are compiled instead.
#
# Files that CMake makes to compile others together name these by their whole paths. Copies that
# name them from the source on are the same in every clone, so that ccache needn't preprocess them.
export CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1
# Precompiled headers need the first two; the language of messages makes no other object.
export CCACHE_SLOPPINESS=pch_defines,time_macros,locale
ccache=$2
shift 2

# The shared copy of a file that CMake made.
shared_copy() { # FILE
  folder=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/stria
  sum=$(cksum <"$1")
  copy=$folder/${sum% *}.${1##*.}
  if ! cmp -s "$1" "$copy"; then
    mkdir -p "$folder"
    cp "$1" "$copy.$$" && mv "$copy.$$" "$copy"
  fi
}

together=
for argument in "$@"; do
  shift
  case $argument in
    "$PWD"/*/cmake_pch.hxx | "$PWD"/*/cmake_pch.hxx.cxx)
      shared_copy "$argument"
      argument=$copy
      ;;
    "$PWD"/*/Unity/unity_*.c | "$PWD"/*/Unity/unity_*.cxx)
      together=${argument%.*}.near.${argument##*.}
      awk '{ source = "\"" ENVIRON["CCACHE_BASEDIR"] "/"; at = index($0, source) }
        at { $0 = substr($0, 1, at) substr($0, at + length(source)) } 1' "$argument" >"$together"
      argument=$together
      ;;
    "$PWD"/*.pch) argument=${argument#"$PWD"/} ;; # ccache 4.7 leaves it as it is behind -Xclang
  esac
  set -- "$@" "$argument"
done
exec "$ccache" "$@" ${together:+-iquote "$CCACHE_BASEDIR"}
