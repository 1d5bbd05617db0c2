#!/usr/bin/env bash
# The Pencil Code with the patch of docs/adopting writes the files that it writes without, and how
# long both take.
# usage: STRIA_PENCIL_SOURCE=DIR pencil_test.sh BUILD_DIR [CELLS]
#   CELLS  of the grid along each of its dimensions; 32
set -euo pipefail
build=$(realpath "$1")
cells=${2:-32}
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_source STRIA_PENCIL_SOURCE "the Pencil Code"

sample=samples/helical-MHDturb_HDF5
copy_source "$work/pencil" src bin config lib utils $sample
patch -d "$work/pencil" -p1 <"$root/docs/adopting/pencil.patch"
mv "$work/pencil/$sample" "$work/run"
cd "$work/run"
sed -i "s/ncpus=1/ncpus=2/; s/nxgrid=32/nxgrid=$cells/" src/cparam.local
# All output at every step, and steps so short that no particle leaves its processor.
sed -i 's/nt=10/nt=4/; s/dt=4e-2/dt=1e-4/; s/dsnap=.1/dsnap=1e-4/; s/dvid=0.1/dvid=1e-4/; s/d2davg=0.1/d2davg=1e-4/' run.in
timed=(__io_MOD_output_snap __io_MOD_output_snap_finalize)
gcc -O1 -DFIRST="${timed[0]}" -DSECOND="${timed[1]}" -c "$root/tests/adopting/timed_calls.c" -o timed_calls.o
cat >test.conf <<CONF
%include compilers/GNU-GCC_MPI
%section Makefile
  FC = mpif90.openmpi
  CC = mpicc.openmpi
  FFLAGS += -O1 $(pkg-config --cflags hdf5-openmpi) -I$build/bindings/fortran/modules
  LDFLAGS += $work/run/timed_calls.o ${timed[*]/#/-Wl,--wrap=} $(pkg-config --libs-only-L hdf5-openmpi) -lhdf5_fortran -lhdf5
  LDFLAGS += -L$build/lib -lstria_fortran -Wl,-rpath,$build/lib -Wl,-rpath-link,$build/lib
%endsection Makefile
CONF
export PENCIL_HOME=$work/pencil
export PATH=$PATH:$PENCIL_HOME/bin:$PENCIL_HOME/utils
pc_setupsrc >"$work/setup.log" 2>&1
pc_build -j "$(nproc)" -f "$PWD/test" >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log" && exit 1; }

export HDF5_USE_FILE_LOCKING=FALSE # The Pencil Code says so.
run() { # on|off: a run from the beginning
  rm -rf data "data_$1"
  mkdir -p data/allprocs/signals data/averages data/slices
  PENCIL_STRIA=$1 ranks 2 src/start.x >>"$work/$1.log" 2>&1 || { tail -n 30 "$work/$1.log" && exit 1; }
  PENCIL_STRIA=$1 ranks 2 src/run.x >>"$work/$1.log" 2>&1 || { tail -n 30 "$work/$1.log" && exit 1; }
  mv data "data_$1"
}
for _ in 1 2; do
  run off
  run on
done
count=0
while IFS= read -r file; do
  compare "the Pencil Code" "data_off/$file" "data_on/$file"
  count=$((count + 1))
done < <(cd data_off && find . -name '*.h5')
[[ $count -ge 40 ]] || { echo "only $count files were written" >&2 && exit 1; }
h5ls data_on/allprocs/VAR1.h5/.stria >/dev/null || { echo "VAR1.h5 isn't Stria's" >&2 && exit 1; }
echo "The Pencil Code: $count files are the same; $(du -ch data_on/allprocs/*.h5 | tail -n 1 | cut -f 1) of snapshots"
echo "The Pencil Code, all snapshots of a run: $(ratio "$work/off.log" "$work/on.log")"
