#!/usr/bin/env bash
# A store of eight servers by every method, goals beside figures. Figures in out/bench/servers.json
# and .png, with --rate in servers_RATE.json and .png.
# usage: lab/scripts/bench_servers.sh [OPTION of lab/compare/run_servers_bench.py ...]
#   without options: on this machine, then on virtual nodes with links of 100 Mbit/s as in the paper
#   (where namespaces are allowed), then one table of all goals
#   --rate RATE  on virtual nodes with links of that rate, such as 100mbit, or of any
#   --full       as large as in the paper
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/stages.sh

scripts/setup.sh
stage build build_united release store_bench stria_cli stria_mpiio || exit 1
bench=(build/venv/bin/python -B lab/compare/run_servers_bench.py)
case " $*" in
  *" --rate"*) exec tests/nodes/cluster.sh enter "${bench[@]}" "$@" ;;
  " --"* | " -"*) exec "${bench[@]}" "$@" ;;
esac
code=0
"${bench[@]}" || code=$?
echo
nodes_code=0
tests/nodes/cluster.sh enter "${bench[@]}" --rate 100mbit --cycles 1 || nodes_code=$?
"${bench[@]}" --table
# 77: nodes are not allowed here, as cluster.sh has said.
if ((nodes_code != 77 && nodes_code > code)); then code=$nodes_code; fi
exit "$code"
