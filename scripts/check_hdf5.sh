#!/usr/bin/env bash
# The tests of HDF5 1.10 and 1.14, h5py and netCDF, natively, with libstria_hdf5 preloaded, and with
# the VOL connector: their outcomes are the same. Open MPI.
# usage: scripts/check_hdf5.sh [PYTEST_OPTION...]     e.g. -k h5py
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
source scripts/stages.sh

newer=${STRIA_NEWER_HDF5:-${XDG_CACHE_HOME:-$HOME/.cache}/stria/hdf5-1.14.5}

suites() {
  PYTHONPATH=scripts STRIA_HDF5_PRELOAD=$PWD/build/release/lib/libstria_hdf5.so STRIA_NEWER_HDF5=$newer \
    STRIA_HDF5_PLUGINS=$PWD/build/release/lib/hdf5_plugins STRIA_SUITES=$PWD/build/suites/openmpi \
    build/venv/bin/python -B -m pytest -q -p no:cacheprovider -rs --tb=short bindings/hdf5/tests/suites_test.py "$@"
}

scripts/setup.sh
stage newer_hdf5 scripts/newer_hdf5.sh serial openmpi || true
stage fetch_suites scripts/io_suites.sh fetch hdf5 netcdf || true
stage build_suites scripts/io_suites.sh build openmpi hdf5 netcdf || true
if stage build build_united release hdf5_vol_tests; then
  stage hdf5_suites suites "$@" || true
fi
finish
