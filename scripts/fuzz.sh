#!/usr/bin/env bash
# Runs every fuzz target of the clang build for SECONDS each, as many at a time as there are cores,
# from the inputs in tests/fuzz/corpus/TARGET. New inputs stay in build/fuzz/; an input that fails
# is left there as crash-*, to be added to the corpus once mended.
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

# fuzz SECONDS TARGET: its output is printed at the end, whole.
fuzz() {
  local log=build/fuzz/$2.log code=0
  echo "== $2"
  mkdir -p "build/fuzz/$2"
  "build/clang/bin/$2" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$2/" "build/fuzz/$2" "tests/fuzz/corpus/$2" >"$log" 2>&1 || code=$?
  ((code == 0)) || echo "failed: $2; the input is in build/fuzz/$2/" >>"$log"
  cat "$log"
  return "$code"
}
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I TARGET bash -c 'fuzz "$@"' fuzz "$seconds" TARGET
