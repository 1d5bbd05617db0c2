#!/usr/bin/env bash
# Measures what a change costs: the workloads of `stria bench` by another commit and by this tree,
# in turn. That commit is built in build/commits/COMMIT, which stays for the next time. Figures in
# out/bench/commits.json.
# usage: lab/scripts/bench_commits.sh COMMIT [OPTION of lab/compare/run_commits_bench.py ...]
#        lab/scripts/bench_commits.sh HEAD~10 --workloads noncontig pieces
set -euo pipefail
if [[ ${1:--} == -* ]]; then sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 2; fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

commit=$(git rev-parse --short=10 --verify --quiet "$1^{commit}") ||
  { echo "bench_commits: no commit '$1' here" >&2 && exit 2; }
shift
tree=build/commits/$commit

# This tree's set-up serves both: that of the other would change what is installed.
build_other() {
  if [[ ! -e $tree/CMakeLists.txt ]]; then
    mkdir -p "$tree"
    git archive "$commit" | tar -x -C "$tree"
  fi
  mkdir -p "$tree/build"
  ln -sfn ../../../venv "$tree/build/venv"
  (cd "$tree" && build_united release stria_cli)
}

scripts/setup.sh
stage build build_united release stria_cli || exit 1
stage "build_$commit" build_other || exit 1
mkdir -p out/bench
exec build/venv/bin/python -B lab/compare/run_commits_bench.py "$tree/build/release/bin/stria" build/release/bin/stria \
  --out out/bench/commits.json "$@"
