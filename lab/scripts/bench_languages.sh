#!/usr/bin/env bash
# Measures what Stria costs in C, Fortran and Python beside C++, and Python beside h5py with MPI;
# figures in out/bench/languages.json.
# usage: lab/scripts/bench_languages.sh [OPTION of lab/compare/run_languages_bench.py ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release bench_languages_{cpp,c,fortran} stria_python || exit 1
exec build/venv/bin/python -B lab/compare/run_languages_bench.py "$@"
