# Source this, then: run_ranks COUNT PROGRAM [ARGUMENT...]
# Starts a program on COUNT ranks, as root or not, on fewer cores than ranks or more. STRIA_MPI=mpich takes MPICH, anything
# else Open MPI. Each setting yields to one that the caller has already made.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
: "${OMPI_MCA_rmaps_base_oversubscribe:=1}"         # more ranks than cores are fine
: "${OMPI_MCA_hwloc_base_binding_policy:=none}"     # jobs side by side must not be pinned to the same cores
: "${OMPI_MCA_btl_base_warn_component_unused:=0}"   # no talk about absent networks
: "${OMPI_MCA_btl_vader_single_copy_mechanism:=none}" # containers often forbid it, with a page of warnings
: "${UCX_MEM_EVENTS:=n}"                            # MPICH's UCX must leave malloc alone
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_btl_base_warn_component_unused
export OMPI_MCA_btl_vader_single_copy_mechanism UCX_MEM_EVENTS

run_ranks() {
  local rank_count=$1
  shift
  "mpiexec.${STRIA_MPI:-openmpi}" -n "$rank_count" "$@" </dev/null
}
