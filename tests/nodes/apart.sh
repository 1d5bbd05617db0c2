#!/usr/bin/env bash
# Runs a program on ranks that each have their own process numbers, as in a container per rank. With
# STRIA_APART=seen they still see /proc of the machine, whose numbers rank 0 has. Exit code 77 where
# that is not allowed. usage: tests/nodes/apart.sh MPIEXEC RANKS PROGRAM [ARGUMENT...]
set -euo pipefail
mpiexec=$1
ranks=$2
shift 2
apart=(unshare --pid --fork --kill-child --mount-proc)
if ! "${apart[@]}" true 2>/dev/null; then
  echo "skipped: process-id namespaces are not allowed here"
  exit 77
fi
# MPI's own shared memory takes process ids for granted.
export OMPI_MCA_btl=tcp,self UCX_TLS=tcp,self STRIA_TEST_APART=1
if [[ ${STRIA_APART:-} == seen ]]; then
  unset "apart[-1]"
  apart=(bash -c 'if [[ $OMPI_COMM_WORLD_RANK == 0 ]]; then shift 4; fi; exec "$@"' rank "${apart[@]}")
fi
exec "$mpiexec" -n "$ranks" "${apart[@]}" "$@"
