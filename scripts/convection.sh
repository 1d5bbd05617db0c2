#!/usr/bin/env bash
# Convection in a stratified layer, for as many steps as rolls take to form: a picture of the last
# arrays and a movie of all frames in out/convection.
# usage: scripts/convection.sh [OPTION of stria convection ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh
source scripts/mpiexec_env.sh

out=out/convection
scripts/setup.sh
stage build build_united release stria_cli || exit 1
mkdir -p "$out"
find "$out" -maxdepth 1 -type f \( -name 'convection_*.h5' -o -name '*.png' -o -name '*.gif' \) -delete
run_ranks 2 build/release/bin/stria convection --cells 256 128 --steps 4000 --no-sync --out "$out" \
  --movie-every 40 --averages-every 400 --data-every 1000 --restart-every 2000 "$@"
build/venv/bin/python -B scripts/convection_pictures.py "$out"
