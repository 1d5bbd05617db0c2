#!/usr/bin/env bash
# Ross's discovery again: the FLASH I/O benchmark through HDF5 with memory hyperslabs, the same on
# Stria's MPI-IO, through HDF5 from packed buffers, and through Stria, each traced. It writes a
# timeline and a table of each to out/ross, and pictures and a table of all beside each other;
# docs/ross has the pictures of one run. docs/ross_discovery.md says what to see in them.
# usage: lab/scripts/ross_discovery.sh [RANKS [BLOCKS]]      (4 ranks, 8 blocks per rank)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh
source scripts/mpiexec_env.sh

ranks=${1:-4}
blocks=${2:-8}
out=out/ross
bin=build/release/bin

scripts/setup.sh
stage build build_united release stria_cli stria_trace stria_mpiio bench_flash_peers
export STRIA_PYTHON=build/venv/bin/python
mkdir -p "$out"
find "$out" -maxdepth 1 -type f \( -name '*.stria-trace' -o -name '*.html' -o -name '*.txt' -o -name '*.parquet' \) -delete

# traced NAME COMMAND...: runs on all ranks, keeps the trace as NAME.stria-trace, writes its
# table and its page.
traced() {
  local name=$1 trace
  shift
  run_ranks "$ranks" env STRIA_TRACE=full STRIA_TRACE_DIR="$out/$name" "$@" >"$out/$name.log" 2>&1 || {
    tail -n 20 "$out/$name.log" >&2
    exit 1
  }
  trace=$(find "$out/$name" -name '*.stria-trace' -type f)
  mv "$trace" "$out/$name.stria-trace"
  rmdir "$out/$name"
  run_ranks 1 "$bin/stria" trace stats "$out/$name.stria-trace" >"$out/$name.txt"
  run_ranks 1 "$bin/stria" trace view "$out/$name.stria-trace" -o "$out/$name.html"
  run_ranks 1 "$bin/stria" trace export --parquet "$out/$name.stria-trace" -o "$out/$name.parquet"
}

peers=("$bin/bench_flash_peers" --blocks "$blocks" --rounds 1 --dir "$out")
wrappers=$PWD/build/release/lib/libstria_trace.so
traced hyperslab env LD_PRELOAD="$wrappers" "${peers[@]}" --modes hdf5-independent-hyperslab
traced collective env LD_PRELOAD="$wrappers" "${peers[@]}" --modes hdf5-collective-hyperslab
inside=$wrappers:$PWD/build/release/lib/libstria_mpiio.so
traced inside env LD_PRELOAD="$inside" "${peers[@]}" --modes hdf5-collective-hyperslab
traced packed env LD_PRELOAD="$wrappers" "${peers[@]}" --modes hdf5-independent
traced stria "$bin/stria" flash io --blocks "$blocks" --rounds 1 --layout standard --dir "$out"

"$STRIA_PYTHON" -B lab/figures/ross_pictures.py "$out"
echo
cat "$out/table.md"
echo
echo "$out: the pictures checkpoint.svg and call.svg; a table (.txt) and a timeline (.html) of each run"
