#!/usr/bin/env bash
# MPI-IO, HDF5, PnetCDF and the library on four virtual nodes on this machine, side by side with
# the native implementations. Figures in out/bench/nodes.json. Needs root.
# usage: lab/scripts/bench_nodes.sh [OPTION of lab/compare/run_nodes_bench.py ...]
#        lab/scripts/bench_nodes.sh ceph [OPTION of lab/compare/run_ceph_nodes_bench.py ...]
#   ceph: beside OMPIO and ROMIO on a CephFS of the nodes, with a store of their own directories;
#   figures in out/bench/nodes_ceph.json. Without Ceph it says so and ends
#        lab/scripts/bench_nodes.sh simulate [OPTION of lab/compare/run_simulate_bench.py ...]
#   simulate: eight patterns on a store of limited links, beside what `stria simulate` says of them;
#   figures in out/bench/simulate.json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh
source scripts/mpiexec_env.sh

scripts/setup.sh
stage build build_united release stria_mpiio bench_flash_peers stria_cli || exit 1
program=lab/compare/run_nodes_bench.py
if [[ ${1:-} == ceph ]]; then
  program=lab/compare/run_ceph_nodes_bench.py
  shift
elif [[ ${1:-} == simulate ]]; then
  program=lab/compare/run_simulate_bench.py
  shift
fi
exec tests/nodes/cluster.sh enter build/venv/bin/python -B "$program" "$@"
