#!/usr/bin/env bash
# Measures what a checkpoint costs a program that computes on, and the layouts, restarts and plot
# files that go with it, each as a ratio with its goal; figures in out/bench/async.json.
# usage: lab/scripts/bench_async.sh [OPTION of lab/compare/run_async_bench.py ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release stria_cli stria_cli_mpi || exit 1
mkdir -p out/bench
exec build/venv/bin/python -B lab/compare/run_async_bench.py --out out/bench/async.json "$@"
