#!/usr/bin/env bash
# The comparison: FLASH I/O through the limits, the peers and Stria, interleaved in one run. Table
# on the screen; JSON and a chart in out/bench.
# usage: lab/scripts/bench.sh [OPTION of lab/compare/run_flash_bench.py ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh
source scripts/mpiexec_env.sh

scripts/setup.sh
stage build build_united release || exit 1
mkdir -p out/bench
exec build/venv/bin/python lab/compare/run_flash_bench.py --out out/bench "$@"
