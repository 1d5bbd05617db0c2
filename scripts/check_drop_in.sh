#!/usr/bin/env bash
# Other projects' programs on the MPI-IO drop-in, with both MPIs: mpi4py's own tests, HDF5, PnetCDF,
# netCDF-4, h5py, and the I/O tests of MPICH, HDF5, PnetCDF and IOR (scripts/io_suites.sh says where
# their sources come from).
# usage: scripts/check_drop_in.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh

mpi4py_version=4.1.2 # its wheel serves both MPIs; its source has the tests

# Unpacks mpi4py's source, with its wheel beside the tests, into build/mpi4py.
fetch_mpi4py() {
  local place=build/mpi4py pip=(build/venv/bin/python -m pip --disable-pip-version-check --no-input)
  if [[ -f $place/version && $(<"$place/version") == "$mpi4py_version" ]]; then return; fi
  rm -rf "$place"
  mkdir -p "$place"
  "${pip[@]}" download --no-deps --no-binary mpi4py --dest "$place" "mpi4py==$mpi4py_version"
  tar -xzf "$place/mpi4py-$mpi4py_version.tar.gz" -C "$place" --strip-components 1
  "${pip[@]}" install --no-deps --only-binary mpi4py --target "$place/installed" "mpi4py==$mpi4py_version"
  echo "$mpi4py_version" >"$place/version"
}

# drop_in MPI PRESET
drop_in() {
  STRIA_MPI=$1 STRIA_BIN=$PWD/build/$2/bin STRIA_MPIIO=$PWD/build/$2/lib/libstria_mpiio.so STRIA_RANKS="1 2 3" \
    STRIA_MPI4PY=$PWD/build/mpi4py build/venv/bin/python -B -m pytest -q -p no:cacheprovider -rs --tb=short \
    tests/mpiio/drop_in_test.py
}

# suites MPI PRESET RANKS
suites() {
  STRIA_MPI=$1 STRIA_BIN=$PWD/build/$2/bin STRIA_MPIIO=$PWD/build/$2/lib/libstria_mpiio.so STRIA_RANKS=$3 \
    STRIA_SUITES=$PWD/build/suites/$1 build/venv/bin/python -B -m pytest -q -p no:cacheprovider -rs --tb=short \
    tests/mpiio/suites_test.py
}

scripts/setup.sh
stage fetch_mpi4py fetch_mpi4py || true
targets=(stria_mpiio mpiio_hdf5_program)
if stage build build_united release "${targets[@]}" mpiio_pnetcdf_program mpiio_netcdf_program; then
  stage drop_in drop_in openmpi release || true
fi
if stage build_mpich build_united release-mpich "${targets[@]}"; then
  stage drop_in_mpich drop_in mpich release-mpich || true
fi
if stage fetch_suites scripts/io_suites.sh fetch; then
  if stage build_suites scripts/io_suites.sh build openmpi; then
    stage suites suites openmpi release "2 3 4 7" || true
  fi
  if stage build_suites_mpich scripts/io_suites.sh build mpich; then
    stage suites_mpich suites mpich release-mpich 2 || true # its ranks never sleep: more of them take hours
  fi
fi
finish
