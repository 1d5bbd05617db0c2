#!/usr/bin/env bash
# An unmodified HDF5 program with and without libstria_hdf5, packed by hand, and by the library's
# own interface, in turns; figures in out/bench/hdf5.json.
# usage: lab/scripts/bench_hdf5.sh [OPTION of lab/compare/run_hdf5_bench.py ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release stria_hdf5 hdf5_hyperslabs stria_hyperslabs || exit 1
mkdir -p out/bench
exec build/venv/bin/python -B lab/compare/run_hdf5_bench.py --out out/bench/hdf5.json "$@"
