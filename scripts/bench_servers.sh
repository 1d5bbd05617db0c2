#!/usr/bin/env bash
# A store of eight servers on this machine by every method, goals beside ratios. Figures in
# out/bench/servers.json and .png.
# usage: scripts/bench_servers.sh [OPTION of bench/run_servers_bench.py ...]
#   --full   as large as in the paper
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh

scripts/setup.sh
stage build build_preset release store_bench stria_cli stria_mpiio || exit 1
exec build/venv/bin/python -B bench/run_servers_bench.py "$@"
