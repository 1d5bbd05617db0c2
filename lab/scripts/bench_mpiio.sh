#!/usr/bin/env bash
# MPI-IO side by side: the native implementations and the drop-in, interleaved in one run. Figures
# in out/bench/mpiio.json.
# usage: lab/scripts/bench_mpiio.sh [OPTION of lab/compare/run_mpiio_bench.py ...]
#   --full   every combination
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release stria_cli stria_mpiio bench_flash_peers || exit 1
stage build_mpich build_united release-mpich stria_cli stria_mpiio || exit 1
exec build/venv/bin/python -B lab/compare/run_mpiio_bench.py "$@"
