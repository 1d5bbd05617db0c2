#!/usr/bin/env bash
# The demonstration: installs and builds what is missing, runs a Sedov blast wave on an adaptive
# mesh on 4 ranks, checks every file that it wrote, draws the last one, and ends with the timeline
# and the report of its own run. All results are in out/demo.
# usage: scripts/demo.sh [OPTION of stria flash sedov ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/stages.sh
source scripts/mpiexec_env.sh

# What is run. Options given on the command line come after these and win.
rank_count=4
sedov_options=(
  --dim 2                # space dimensions; in two the mesh can be deep within seconds, and its picture shows all of it
  --nxb 8                # cells of a block along each axis
  --min-level 2          # coarsest level of the mesh; level 1 is one block
  --max-level 6          # finest level
  --tend 0.08            # simulated time at the end
  --checkpoint-every 200 # steps
  --plot-every 200
)

out=out/demo
stria=build/release/bin/stria

fail() {
  echo "demo: $*" >&2
  exit 1
}

scripts/setup.sh demo
echo "Building the stria command, which takes minutes the first time"
stage build build_united release stria_cli || fail "the build failed; its output is in build/logs/build.log"

# The script removes only what an earlier demo wrote.
mkdir -p "$out"
find "$out" -maxdepth 1 -type f \( -name '*hdf5_chk_*' -o -name '*hdf5_plt_cnt_*' -o -name '*.json' -o -name '*.png' \
  -o -name '*.html' -o -name '*.stria-trace' \) -delete
rm -rf "$out"/*.stria-trace.parts

echo
echo "A Sedov blast on $rank_count ranks"
STRIA_TRACE=full STRIA_TRACE_DIR=$out run_ranks "$rank_count" "$stria" flash sedov "${sedov_options[@]}" --out "$out" --json "$out/run.json" "$@"

echo
echo "Checking every file"
files=("$out"/*hdf5_chk_* "$out"/*hdf5_plt_cnt_*)
for file in "${files[@]}"; do
  [[ -f $file ]] || fail "the run wrote no ${file##*/}"
  run_ranks 1 "$stria" verify "$file" || fail "$file is not what was written"
done

echo
checkpoints=("$out"/*hdf5_chk_*)
plots=("$out"/*hdf5_plt_cnt_*)
run_ranks 1 "$stria" flash picture "${plots[-1]}" -o "$out/blast.png"

echo
echo "The run was traced: its timeline and its report"
traces=("$out"/*.stria-trace)
[[ -f ${traces[0]} && ${#traces[@]} == 1 ]] || fail "the run left ${#traces[@]} traces in $out, not one: ${traces[*]}"
mv "${traces[0]}" "$out/run.stria-trace"
run_ranks 1 "$stria" trace view "$out/run.stria-trace" -o "$out/timeline.html"
run_ranks 1 "$stria" trace report "$out/run.stria-trace" -o "$out/report.html" --probe "$out"

cat <<END

What to look at next
  $out/blast.png      density and pressure of the blast, with the mesh's blocks of all levels drawn on them
  $out/timeline.html  who did what when, from the whole run to a microsecond; opens in any browser
  $out/report.html    what the run's I/O cost, why, and what to change
  $out/run.json       every file written: bytes, seconds, where the time went
  $stria inspect ${checkpoints[-1]}
  h5ls ${plots[-1]}  # Debian's hdf5-tools have it.
  python -c 'import yt; yt.load("${plots[-1]}").print_stats()'  # build/venv/bin/python after make setup
Go on from the last checkpoint on another number of ranks (as root, source scripts/mpiexec_env.sh first):
  mpiexec.openmpi -n 3 $stria flash sedov --restart latest --out $out
END
