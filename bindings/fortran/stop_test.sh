#!/usr/bin/env bash
# A Fortran program that leaves out `ierr`: an error prints its message, and no rank goes on.
# usage: stop_test.sh PROGRAM RANKS MOST_SPEAKERS
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/mpiexec_env.sh"
work=$(mktemp -d --tmpdir stria_stop_test.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
declare -A says=([open]="stria: open: .*none.h5" [put]="stria: put: dataset 'x': .*passes the end at 3")
# Ranks wait a second for the one that speaks; a busy machine may take longer to end them.
for error in open put; do
  for _ in 1 2 3; do
    if run_ranks "$2" "$1" $error >out 2>&1; then
      cat out
      echo "$error: the program ended as if nothing had been" >&2
      exit 1
    fi
    cat out
    if grep -q "goes on" out || [[ -e put.h5 ]]; then
      echo "$error: a rank went on" >&2
      exit 1
    fi
    said=$(grep -c "${says[$error]}" out || true)
    if ((said >= 1 && said <= $3)); then break; fi
  done
  ((said >= 1 && said <= $3))
done
