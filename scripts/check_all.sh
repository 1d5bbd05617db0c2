#!/usr/bin/env bash
# Everything that a document names and `make check` leaves out, in parts, each of which can be asked
# for. Prints a line per part with its time and outcome; the whole output of a part is in
# build/logs/check_all_PART.log. docs/checked.md keeps the last outcome of each part, with the
# commit.
# usage: scripts/check_all.sh [PART...]        all parts where none is named
#        scripts/check_all.sh --list
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

table=docs/checked.md
parts=(apart long nodes mpich asan tsan asan_mpich tsan_mpich fuzz drop_in hdf5 examples targets documents docs packages
  wheels papers figures bench bench_async bench_commits bench_hdf5 bench_languages bench_mpiio bench_nodes bench_servers
  debian13 newest)

# The command of a part. What measures does so at a size at which it only shows that it works.
run_part() {
  case $1 in
    long | nodes | mpich | asan | tsan | asan_mpich | tsan_mpich | fuzz) scripts/check_long.sh "$1" ;;
    apart) # every target, each of its files by itself, and all unit tests without sanitizers
      scripts/setup.sh && cmake --preset release -B build/apart -DSTRIA_UNITY=OFF && cmake --build build/apart &&
        ctest --test-dir build/apart --output-on-failure -L '^unit$' -LE long -j "$(($(nproc) + 1))"
      ;;
    drop_in) scripts/check_drop_in.sh ;;
    hdf5) scripts/check_hdf5.sh ;;
    examples) # against an installed package, under both MPIs
      scripts/setup.sh && source scripts/stages.sh &&
        build_united release && ctest --preset release -L install -LE long &&
        build_united release-mpich && ctest --preset release-mpich -L install -LE long
      ;;
    targets) # make builds and shows
      make build build-mpich demo
      ;;
    documents) # the command lines of README, tutorial and how-to pages
      scripts/setup.sh && source scripts/stages.sh && build_united release && ctest --preset release -R '^site[.]'
      ;;
    docs) scripts/docs.sh ;;
    packages) scripts/packages.sh --lint ;;
    wheels) scripts/setup.sh && scripts/wheels.sh ;;
    papers) lab/scripts/papers.sh run all --quick ;;
    figures) # pictures that documents name, of short runs
      lab/scripts/ross_discovery.sh 2 1 && lab/scripts/convection.sh --steps 80 --averages-every 40 --data-every 40
      ;;
    bench) lab/scripts/bench.sh --quick ;;
    bench_async) # its own --quick leaves the slow device out
      lab/scripts/bench_async.sh --megabytes 20 --ranks 2 --rounds 2 --cycles 1 --steps 10
      ;;
    bench_commits) lab/scripts/bench_commits.sh HEAD --quick ;; # beside itself: the other tree is built
    bench_hdf5 | bench_languages | bench_mpiio | bench_nodes | bench_servers) "lab/scripts/$1.sh" --quick ;;
    debian13) scripts/debian13.sh ;;
    newest) scripts/newest.sh ;;
    *) return 2 ;;
  esac
}

# The commit that is here; one that differs from it is said to.
commit_here() {
  local commit
  commit=$(git rev-parse --short=10 HEAD)
  if [[ -n $(git status --porcelain -- . ":!$table") ]]; then commit+=" and changes"; fi
  echo "$commit"
}

# note PART COMMIT RESULT: the part's row of the table, or a new one at its end.
note() {
  local row
  row="| $1 | $2 | $(date -u +%F) | $3 |"
  if grep -q "^| $1 |" "$table"; then
    sed -i "s#^| $1 |.*#$row#" "$table"
  else
    echo "$row" >>"$table"
  fi
}

# The last count that a part printed ("N passed, N failed"), or nothing.
counted() {
  grep -aoE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ left out)?$|[0-9]+% tests passed(, [0-9]+ tests failed)? out of [0-9]+' "$1" |
    grep -v '^0 passed, 0 failed$' | tail -n 1 || true
}

check_part() {
  local part=$1 log=build/logs/check_all_$1.log code=0 begin=$SECONDS commit outcome count
  commit=$(commit_here) # before the part runs: somebody may commit meanwhile
  printf '%-18s ' "$part"
  (run_part "$part") >"$log" 2>&1 || code=$?
  outcome=$([[ $code == 0 ]] && echo ok || echo "FAILED (exit $code)")
  # What this machine can't do at all says so in pytest's words.
  if [[ $code == 0 ]] && grep -qE '^[0-9]+ skipped in ' "$log"; then
    outcome="LEFT OUT ($(sed -nE 's/^SKIPPED \[[0-9]+\] [^ ]+ //p' "$log" | tail -n 1))"
  fi
  count=$(counted "$log")
  printf '%6d s  %s%s\n' $((SECONDS - begin)) "$outcome" "${count:+, $count}"
  note "$part" "$commit" "$outcome${count:+, $count}, $((SECONDS - begin)) s"
  if [[ $code != 0 ]]; then
    echo "---- the end of $log"
    tail -n 40 "$log"
    echo "----"
  fi
  return "$code"
}

chosen=("$@")
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${parts[@]}"
  exit 0
fi
if ((${#chosen[@]} == 0)); then chosen=("${parts[@]}"); fi
for part in "${chosen[@]}"; do
  [[ " ${parts[*]} " == *" $part "* ]] || { echo "check_all: no part '$part'; there are: ${parts[*]}" >&2 && exit 2; }
done
mkdir -p build/logs
failed=()
for part in "${chosen[@]}"; do
  check_part "$part" || failed+=("$part")
done
echo "$((${#chosen[@]} - ${#failed[@]})) passed, ${#failed[@]} failed"
((${#failed[@]} == 0))
