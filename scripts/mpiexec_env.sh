# Source this, then: run_ranks COUNT PROGRAM [ARGUMENT...]
# Starts a program on COUNT ranks, as root or not, on fewer cores than ranks or more.
# STRIA_MPI=mpich takes MPICH, anything else Open MPI. The settings are in mpiexec.env; the caller's
# own settings win.

while IFS='=' read -r name value; do
  if [[ $name =~ ^[A-Z] && ! -v $name ]]; then export "$name=$value"; fi
done <"$(dirname "${BASH_SOURCE[0]}")/mpiexec.env"
unset name value

run_ranks() {
  local rank_count=$1
  shift
  "mpiexec.${STRIA_MPI:-openmpi}" -n "$rank_count" "$@" </dev/null
}
