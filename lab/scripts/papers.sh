#!/usr/bin/env bash
# Experiments of the papers that Stria rebuilds: the papers' figures beside ours in
# out/papers/index.html.
# usage: lab/scripts/papers.sh list | run ID ... | run all
#          [OPTION of stria papers run ...]
#   --quick   small sizes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release stria_cli stria_mpiio stria_trace bench_flash_peers || exit 1
STRIA_PYTHON=${STRIA_PYTHON:-build/venv/bin/python} exec build/release/bin/stria papers "$@"
