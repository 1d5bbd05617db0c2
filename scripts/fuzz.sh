#!/usr/bin/env bash
# Runs every fuzz target of the clang build for SECONDS each, from the inputs in
# tests/fuzz/corpus/TARGET. New inputs stay in build/fuzz/; an input that fails is left there as
# crash-*, to be added to the corpus once mended.
# usage: scripts/fuzz.sh [SECONDS] [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
targets=("${@:2}")
if ((${#targets[@]} == 0)); then
  for program in build/clang/bin/*_fuzz; do
    if [[ -x $program ]]; then targets+=("$(basename "$program")"); fi
  done
fi
if ((${#targets[@]} == 0)); then
  echo "no fuzz targets in build/clang/bin"
  exit 0
fi

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0
failed=()
for target in "${targets[@]}"; do
  echo "== $target"
  mkdir -p "build/fuzz/$target"
  "build/clang/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target/" "build/fuzz/$target" "tests/fuzz/corpus/$target" || failed+=("$target")
done
if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}; the inputs are in build/fuzz/"
  exit 1
fi
