#!/usr/bin/env bash
# two_of_three.sh LIBRARIES PROGRAM...: one of three ranks; all but the last preload the libraries.
# Two programs in one job (mpiexec -n 2 A : -n 1 B) would say the same, but the mpiexec of Open MPI
# 5.0 dies of them where more ranks than cores are allowed.
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?two_of_three: start it by mpiexec}}
if ((rank < 2)); then export LD_PRELOAD=$1; fi
exec "${@:2}"
