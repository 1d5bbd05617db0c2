#!/usr/bin/env bash
# shards.sh COUNT PROGRAM: runs the tests of a GoogleTest program in COUNT processes at once, for
# tests that mostly wait. Prints what each has said, one after the other; fails where one does.
set -u
count=$1
program=$2
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
export GTEST_TOTAL_SHARDS=$count
processes=()
for ((index = 0; index < count; ++index)); do
  GTEST_SHARD_INDEX=$index "$program" >"$said/$index" 2>&1 &
  processes+=($!)
done
outcome=0
for ((index = 0; index < count; ++index)); do
  wait "${processes[index]}" || outcome=$?
  cat "$said/$index"
done
exit $outcome
