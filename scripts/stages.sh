# Source this. stage NAME COMMAND... runs a command with its whole output in build/logs/NAME.log and
# prints one line: its name at the beginning, time and outcome at the end, and on a terminal its
# progress in between. A failed stage shows what its log says of the failures; the script goes on.
# finish shows that once more, because the end of a long output is what is read, prints the sums and
# exits.
#
# A few failed tests run once more, one at a time, because a loaded machine can make one fail; those
# that pass then are listed, and what they printed first is shown at the end. Where a sanitizer has
# reported something none does: a race or a wrong access counts though it is seen once in ten runs.
#
# Tests are counted from ctest's own summary, or pytest's where a stage runs that itself; what
# pytest skipped is listed with the reason. A failed stage without tests counts as one failure.

stage_logs=$PWD/build/logs
tests_passed=0
tests_failed=0
tests_left_out=0
failed_stages=()
shaky_stages=() # passed, but some of their tests only when run again
export STRIA_RUN_AGAIN=${STRIA_RUN_AGAIN:-3} # at most so many failed tests of a stage
progress_shower= # the process that shows how far a stage is
ahead_group=     # the processes of ahead
mkdir -p "$stage_logs"

stage() {
  local name=$1 log=$stage_logs/$1.log code=0 begin seconds passed failed left_out
  shift
  printf '%-22s ' "$name"
  begin=${EPOCHREALTIME/[.,]/}
  : >"$log"
  if [[ -t 1 ]]; then
    show_progress "$name" "$log" 2>/dev/null &
    progress_shower=$!
  fi
  "$@" >"$log" 2>&1 </dev/null || code=$?
  hide_progress "$name"
  seconds=$(((${EPOCHREALTIME/[.,]/} - begin) / 100000))
  read -r passed failed left_out < <(count_tests "$log" "$code")
  tests_passed=$((tests_passed + passed))
  tests_failed=$((tests_failed + failed))
  tests_left_out=$((tests_left_out + left_out))
  printf '%5d.%d s  %s%s\n' $((seconds / 10)) $((seconds % 10)) \
    "$([[ $code == 0 ]] && echo ok || echo "FAILED (exit $code)")" "$(describe_counts "$passed" "$failed" "$left_out")"
  list_left_out "$log"
  if [[ $code == 0 ]] && grep -q '^run again: ' "$log"; then
    shaky_stages+=("$name")
    sed -n 's/^run again: /    failed at first, passed by itself: /p' "$log"
  fi
  if [[ $code != 0 ]]; then
    failed_stages+=("$name")
    show_failures "$name" 60
  fi
  return "$code"
}

# show_failures STAGE LINES: the names of ctest's failed tests, and the end of what each printed; of
# other stages the end of the log.
show_failures() {
  local log=$stage_logs/$1.log
  echo "---- from build/logs/$1.log"
  awk -v most="$2" '
    function show(  i) {
      if (name == "") return
      print "== " name
      for (i = count > most ? count - most : 0; i < count; ++i) print said[i]
      name = ""
      shown = 1
    }
    /^ *[0-9]+\/[0-9]+ Test +#|^ *Start +[0-9]+: |^[0-9]+% tests passed/ { show() }
    / Test +#[0-9]+: .*\*\*\*/ { name = $4; count = 0; next }
    name != "" && NF { said[count++] = $0 }
    END { exit !shown }' "$log" || tail -n "$2" "$log"
  echo "----"
}

# Every few seconds the last "12/345" that a build or ctest has logged, or the last
# target of fuzz.sh.
show_progress() {
  local at
  while sleep 5; do
    at=$(grep -aoE '^\[[0-9]+/[0-9]+\]|^ *[0-9]+/[0-9]+ Test|^== .*' "$2" | tail -n 1 | sed -E 's/^==|Test|[][ ]//g')
    printf '\r%-22s %-30.30s' "$1" "$at"
  done
}

hide_progress() {
  if [[ -n $progress_shower ]]; then
    kill "$progress_shower" && wait "$progress_shower" || true
    progress_shower=
    printf '\r%-54s\r%-22s ' '' "$1"
  fi 2>/dev/null
}
trap 'hide_progress ""; end_ahead' EXIT

# Prints "passed failed left-out" for one stage's log and exit status.
count_tests() {
  local log=$1 code=$2 line total=0 failed=0 left_out=0
  # ctest: "98% tests passed, 1 tests failed out of 42", or of CMake 4 "100% tests passed out of 42"
  while read -r line; do
    [[ $line =~ (, ([0-9]+)\ tests?\ failed)?\ out\ of\ ([0-9]+) ]] || continue
    if ((total > 0)) && grep -q '^run again: ' "$log"; then
      failed=${BASH_REMATCH[2]:-0} # the second summary is of the same tests
      break
    fi
    failed=$((failed + ${BASH_REMATCH[2]:-0}))
    total=$((total + BASH_REMATCH[3]))
  done < <(grep -E '^[0-9]+% tests passed' "$log" || true)
  if ((total == 0)); then
    # pytest -q: "1 failed, 40 passed, 2 skipped in 7.21s"
    line=$(grep -aE '^([0-9]+ [a-z]+, )*[0-9]+ [a-z]+ in [0-9.]+s' "$log" | tail -n 2 || true)
    if ! grep -q '^run again: ' "$log"; then line=${line##*$'\n'}; fi
    failed=$(count_failed "${line##*$'\n'}") # Where some ran again, those count.
    line=${line%%$'\n'*}
    total=$(($(count_of passed "$line") + $(count_failed "$line")))
    left_out=$(count_of skipped "$line")
  fi
  if ((code != 0 && failed == 0)); then
    failed=1
    total=$((total + 1))
  fi
  echo "$((total - failed)) $failed $left_out"
}

# count_of OUTCOME LINE: the number before that word of pytest's summary, or 0.
count_of() {
  if [[ $2 =~ ([0-9]+)\ $1 ]]; then echo "${BASH_REMATCH[1]}"; else echo 0; fi
}

# count_failed LINE: what failed or could not be set up, of pytest's summary.
count_failed() {
  echo $(($(count_of failed "$1") + $(count_of 'errors?' "$1")))
}

# describe_counts PASSED FAILED LEFT_OUT
describe_counts() {
  if (($1 + $2 + $3 > 0)); then echo ", $1 passed, $2 failed$( (($3 == 0)) || echo ", $3 left out")"; fi
}

# What pytest -rs says: "SKIPPED [2] TEST.py:7: the reason". One line per reason, with the
# number of tests.
list_left_out() {
  sed -nE 's/^SKIPPED \[([0-9]+)\] [^ ]+ (.*)/\1 \2/p' "$1" |
    awk '{ n = $1; sub(/^[0-9]+ /, ""); if (!($0 in tests)) order[++reasons] = $0; tests[$0] += n }
      END { for (i = 1; i <= reasons; ++i) printf "    left out: %s (%d)\n", order[i], tests[order[i]] }'
}

finish() {
  local name
  for name in "${shaky_stages[@]}" "${failed_stages[@]}"; do
    show_failures "$name" 12
  done
  echo "$tests_passed passed, $tests_failed failed$( ((tests_left_out == 0)) || echo ", $tests_left_out left out")"
  [[ $tests_failed == 0 ]]
}

# build_preset PRESET [TARGET...]: configures and builds one of CMakePresets.json.
build_preset() {
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
}

# build_united PRESET [TARGET...]: the same for who only builds. A folder of build/ that is new
# compiles the files of each target together, and for users' build has only the unit tests that do
# more without sanitizers; one that is there stays as it was configured.
build_united() {
  local options=(-DSTRIA_UNITY=ON)
  if [[ $1 == release ]]; then options+=(-DSTRIA_UNIT_TESTS=PLAIN); fi
  [[ -e build/$1/CMakeCache.txt ]] || cmake --preset "$1" "${options[@]}" || return
  build_preset "$@"
}

# ahead COMMAND...: begins at a low priority what a later stage does, beside those that wait much.
# end_ahead stops it wherever it is; the later stage goes on from there. Ranks that wait look busy
# to the system, so that the lowest priority would get little.
ahead() {
  set -m # a process group of its own, so that end_ahead reaches the compilers too
  { renice -n 10 "$BASHPID" && "$@"; } >"$stage_logs/ahead.log" 2>&1 </dev/null &
  ahead_group=$!
  set +m
}

end_ahead() {
  if [[ -n $ahead_group ]]; then
    kill -TERM -- "-$ahead_group" || true
    wait "$ahead_group" || true
    ahead_group=
  fi 2>/dev/null
}

# test_preset PRESET [CTEST ARGUMENT...]: one test more at a time than there are processors, because
# those of servers wait more than they compute.
test_preset() {
  local preset=$1 failed
  shift
  ctest --preset "$preset" --no-tests=error -j "$(($(nproc) + 1))" "$@" && return
  failed=build/$preset/Testing/Temporary/LastTestsFailed.log # lines "NUMBER:NAME"
  if [[ ! -e $failed ]] || (($(wc -l <"$failed") > STRIA_RUN_AGAIN)); then return 1; fi
  if grep -aq '^SUMMARY: [A-Za-z]*Sanitizer' "build/$preset/Testing/Temporary/LastTest.log"; then return 1; fi
  echo
  sed 's/^[0-9]*:/run again: /' "$failed"
  ctest --preset "$preset" --rerun-failed
}
