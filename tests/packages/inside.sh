#!/usr/bin/env bash
# Installs the packages, and uses them, in the copy of the system that packages_test.sh makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The system's own programs, not those of a user.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive

echo "== install"
dpkg --install ./*.deb
dpkg --audit
ldconfig

for mpi in openmpi mpich; do
  echo "== $mpi"
  cmake -S examples -B "$mpi" -G Ninja -DSTRIA_MPI="$mpi" >/dev/null
  cmake --build "$mpi"
  for language in c cpp fortran; do
    ldd "$mpi/checkpoint_$language" | grep "libstria.*_$mpi.so"
    "mpiexec.$mpi" -n 2 "$mpi/checkpoint_$language" "$mpi.$language.h5"
    cmp "openmpi.c.h5" "$mpi.$language.h5"
    for name in amr_blocks attributes distributed_array compressed; do
      "mpiexec.$mpi" -n 2 "$mpi/${name}_$language" "$mpi.$language.$name.h5"
      cmp "openmpi.c.$name.h5" "$mpi.$language.$name.h5"
    done
    "mpiexec.$mpi" -n 3 "$mpi/restart_$language" openmpi.c.h5 | grep "40 blocks of time 0.25, as written"
  done
  # shellcheck disable=SC2046 # flags are several
  "mpicc.$mpi" examples/c/checkpoint.c -o by_pkg_config $(pkg-config --cflags --libs "stria_c_$mpi")
  "mpiexec.$mpi" -n 2 ./by_pkg_config by_pkg_config.h5
  cmp openmpi.c.h5 by_pkg_config.h5
done

echo "== the compiler of MPI decides where nobody else does"
cmake -S examples -B chosen -G Ninja -DMPI_CXX_COMPILER="$(command -v mpicxx.mpich)" -DMPI_C_COMPILER="$(command -v mpicc.mpich)" >/dev/null
cmake --build chosen --target checkpoint_cpp
ldd chosen/checkpoint_cpp | grep libstria_mpich.so

echo "== without MPI"
# shellcheck disable=SC2046 # flags are several
cc examples/c/one_process.c -o one_process $(pkg-config --cflags --libs stria_c_serial)
./one_process table.h5
if ldd one_process | grep libmpi; then exit 1; fi

echo "== Python"
python3 examples/python/one_process.py python.h5 | grep "period 2 s: height 3 m"
mpiexec.openmpi -n 2 python3 examples/python/checkpoint.py python.openmpi.h5
cmp openmpi.c.h5 python.openmpi.h5

echo "== the command"
stria verify openmpi.c.h5
stria inspect openmpi.c.h5 | grep dens
mpiexec.mpich -n 2 stria verify openmpi.c.h5
mpiexec.openmpi -n 2 stria verify openmpi.c.h5
ls /usr/share/man/man1/stria.1.gz /usr/share/man/man3/stria_put.3.gz
mpiexec.openmpi -n 2 env LD_PRELOAD="$(find /usr/lib -name libstria_mpiio_openmpi.so)" STRIA_VERBOSE=1 \
  stria bench block3d --through mpiio --rounds 1 --dir . 2>&1 | grep '^stria'

echo "== the command where MPI's libraries are not"
STRIA_TRACE=full STRIA_TRACE_DIR=. mpiexec.openmpi -n 2 openmpi/checkpoint_c traced.h5
mapfile -t libraries < <(find /usr/lib \( -name 'libmpi.so*' -o -name 'libmpich.so*' \))
((${#libraries[@]} > 1))
for library in "${libraries[@]}"; do mv "$library" "$library.hidden"; done
stria inspect openmpi.c.h5 | grep dens
stria verify openmpi.c.h5
stria trace stats ./*.stria-trace | grep -c File::commit
dpkg --remove stria-openmpi stria-mpich
code=0
stria flash io >said 2>&1 || code=$?
grep "'stria flash' needs MPI: install" said
[[ $code == 2 ]]
for library in "${libraries[@]}"; do mv "$library.hidden" "$library"; done

echo "== remove"
dpkg --remove libstria-openmpi-dev libstria-mpich-dev libstria-dev python3-stria stria
dpkg --purge libstria0 libstria-openmpi0 libstria-mpich0
if find /usr -not -path '/usr/local/*' \( -name 'stria*' -o -name 'libstria*' -o -name _stria \) | grep .; then exit 1; fi
