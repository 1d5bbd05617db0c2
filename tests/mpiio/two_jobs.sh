#!/usr/bin/env bash
# two_jobs.sh MPIEXEC PROGRAM...: the two sides of neighbours_test.cpp as two jobs of two
# ranks at once.
set -u
mpiexec=$1; shift
MPIIO_SIDE=other "$mpiexec" -n 2 "$@" </dev/null & other=$!
MPIIO_SIDE=holey "$mpiexec" -n 2 "$@" </dev/null; code=$?
wait "$other" && exit "$code"
exit 1
