#!/usr/bin/env bash
# The I/O tests of other projects, for scripts/check_drop_in.sh and check_hdf5.sh: MPICH's and
# ROMIO's, HDF5's parallel ones, PnetCDF's, netCDF's on HDF5, and IOR.
# usage: scripts/io_suites.sh fetch [mpich|hdf5|pnetcdf|netcdf|ior...]
#        scripts/io_suites.sh build openmpi|mpich [romio|mpich|hdf5|pnetcdf|netcdf|ior...]
#
# Without names all but netCDF's, which are for Open MPI only, as Debian's library is.
# fetch takes Debian's source packages, pinned below, into build/suites; or the unpacked releases
# that STRIA_MPICH_SOURCE, STRIA_HDF5_SOURCE, STRIA_PNETCDF_SOURCE and STRIA_NETCDF_SOURCE name.
# IOR, which is no package of Debian 12, comes from STRIA_IOR_SOURCE or is left out. build puts the
# programs into build/suites/MPI/NAME; it builds again after rm -r build/suites/MPI.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suites=$PWD/build/suites
sources=$suites/source
declare -A packages=([mpich]=4.0.2-3 [hdf5]=1.10.8+repack1-1 [pnetcdf]=1.12.3-1 [netcdf]=1:4.9.0-3)

# Separate lists of source packages, so that the system's configuration stays as it is.
debian_sources() {
  apt-get -qq -o Dir::Etc::sourcelist="$suites/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$suites/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"
}

fetch() {
  local name variable given names=("$@")
  if ((${#names[@]} == 0)); then names=(mpich hdf5 pnetcdf ior); fi
  mkdir -p "$suites/apt/lists/partial" "$sources"
  for name in "${names[@]}"; do
    variable=STRIA_${name^^}_SOURCE
    given=${!variable:-}
    if [[ -n $given ]]; then
      ln -sfn "$(realpath "$given")" "$sources/$name"
    elif [[ $name != ior && ! -e $sources/$name ]]; then
      fetch_package "$name" "${packages[$name]}"
    fi
  done
}

# fetch_package NAME VERSION
fetch_package() {
  local place=$suites/packages/$1
  rm -rf "$place"
  mkdir -p "$place"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
    >"$suites/apt/sources.list"
  debian_sources update
  (cd "$place" && debian_sources --download-only source "$1=$2" && dpkg-source --no-check --extract ./*.dsc unpacked)
  ln -sfn "$place/unpacked" "$sources/$1"
}

# What Open MPI's header hides of MPI-1, its library still has.
write_open_mpi_header() {
  cat >"$1" <<'HEADER'
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB ((MPI_Datatype)&ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)&ompi_mpi_ub)
HEADER
}

# compile_each COMPILER... -- SOURCE...: a program beside the others for each source; one that
# doesn't compile is listed.
compile_each() {
  local command=() source name
  while [[ $1 != -- ]]; do command+=("$1") && shift; done
  shift
  for source in "$@"; do
    name=$(basename "${source%.*}")
    "${command[@]}" -o "$out/$name" "$source" "${extra[@]}" -lm >"$out/$name.log" 2>&1 || echo "$name" >>"$out/not_built"
  done
}

build_romio() {
  local test=$sources/mpich/src/mpi/romio/test name source
  extra=()
  for name in misc large_file; do sed 's/@LL@/lld/g' "$test/$name.c.in" >"$out/$name.c"; done
  # The arrays of coll_perf need 14 GB otherwise.
  sed 's/128 \* [0-9]*;/128;/' "$test/coll_perf.c" >"$out/coll_perf.c"
  compile_each "${cc[@]}" -- "$test"/!(coll_perf).c "$out"/*.c
  for source in "$test"/*.f.in; do # newer releases have none
    name=$(basename "$source" .f.in)
    sed 's/@F77MPIOINC@//; s/@F77IARGC@/iargc()/; s/@F77GETARG@/call getarg(i, str)/
      s/@FORTRAN_MPI_OFFSET@/integer*8/; s/@[A-Z0-9_]*@//g' "$source" >"$out/$name.f"
  done
  compile_each "${fc[@]}" -- "$out"/*.f
}

build_mpich() {
  local test=$sources/mpich/test/mpi name
  cat >"$out/mpitestconf.h" <<'HEADER'
#define HAVE_STRING_H 1
#define HAVE_UNISTD_H 1
#define HAVE_STDARG_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_MPI_WIN_CREATE 1
#define THREAD_PACKAGE_NAME 2
HEADER
  : >"$out/mtest_mpix.h" # newer releases include it; MPICH's own build fills it
  mkdir -p "$out/io"     # two programs include ../../include/mpitestconf.h
  extra=("$test"/util/mtest{,_common,_thread}.c)
  compile_each "${cc[@]}" -I"$out" -I"$test/include" -- "$test"/io/*.c "$test"/errors/io/*.c
  sed "s,@PERL@,$(command -v perl)," "$test/maint/testmerge.in" >"$out/testmerge"
  for name in ioaint iodisp iooffset; do
    sed 's/@F77_MPI_ADDRESS@/integer(kind=MPI_ADDRESS_KIND)/; s/@F77_MPI_OFFSET@/integer(kind=MPI_OFFSET_KIND)/' \
      "$test/f77/io/$name.h.in" >"$out/$name.h"
  done
  for name in f77 f08; do
    (cd "$out" && perl testmerge -defn="$test/maint/common.defn" "$test/$name"/io/ioharness.{defn,tlt})
  done
  extra=("$test/util/mtest_f77.f")
  compile_each "${fc[@]}" -I"$out" -- "$test"/f77/io/!(c2f2ciof).f "$out"/*.f
  extra=()
  compile_each "${fc[@]}" -J"$out" "$test/util/mtest_f08.f90" -- "$test"/f08/io/!(c2f2ciof90).f90 "$out"/*.f90
}

build_hdf5() {
  local source=$sources/hdf5 test=$sources/hdf5/testpar part=()
  echo 'static const char *config_srcdir = ".";' >"$out/H5srcdir_str.h"
  cc+=(-DH5_HAVE_PARALLEL=1 -I"/usr/include/hdf5/$mpi" -I"$source/src" -I"$source/test" -I"$test" -I"$out")
  "${cc[@]}" -c -o "$out/h5test.o" "$source/test/h5test.c"
  "${cc[@]}" -c -o "$out/testframe.o" "$source/test/testframe.c"
  extra=("$out/h5test.o" "$out/testframe.o" "/usr/lib/x86_64-linux-gnu/hdf5/$mpi/libhdf5.so" -ldl -lz)
  compile_each "${cc[@]}" -- "$test"/t_{mpi,bigio,cache,pflush1,pflush2,pread,pshutdown,prestart,init_term,shapesame}.c \
    "$test/t_filters_parallel.c"
  part=("$test"/t_{dset,file,file_image,mdset,ph5basic,coll_chunk,span_tree,chunk_alloc,filter_read,prop,coll_md_read}.c)
  extra=("${part[@]}" "${extra[@]}")
  compile_each "${cc[@]}" -- "$test/testphdf5.c"
}

# A static library of its own, because Debian has PnetCDF for Open MPI only.
build_pnetcdf() {
  local source=$sources/pnetcdf
  [[ -e $source/configure ]] || (cd "$source" && autoreconf -i)
  cd "$out"
  "$source/configure" MPICC="mpicc.$mpi" MPICXX="mpicxx.$mpi" MPIF77="mpifort.$mpi" MPIF90="mpifort.$mpi" CFLAGS="-O1 -w" \
    FFLAGS="-O0 -w -fallow-argument-mismatch" FCFLAGS="-O0 -w -fallow-argument-mismatch" --disable-shared --disable-cxx
  make -j "$(nproc)"
  make tests
}

# The programs of its tests on HDF5, with what its own configuration says of Debian's build.
build_netcdf() {
  local source=$sources/netcdf libraries=()
  printf '#define %s\n' 'HAVE_UNISTD_H 1' 'HAVE_STRDUP 1' 'HAVE_SYS_STAT_H 1' 'HAVE_FCNTL_H 1' 'HAVE_STDINT_H 1' 'USE_NETCDF4 1' \
    'USE_HDF5 1' 'USE_PARALLEL 1' 'USE_PARALLEL4 1' 'HDF5_PARALLEL 1' 'HDF5_SUPPORTS_PAR_FILTERS 1' 'TOPSRCDIR "."' \
    'TOPBINDIR "."' 'TEMP_LARGE "."' 'DEFAULT_CHUNK_SIZE 16777216' 'CHUNK_CACHE_SIZE 16777216' >"$out/config.h"
  mapfile -t libraries < <(pkg-config --libs netcdf-mpi hdf5-openmpi | tr ' ' '\n' | grep .)
  extra=("${libraries[@]}" -lhdf5_openmpi_hl)
  # shellcheck disable=SC2046
  compile_each "${cc[@]}" -DHAVE_CONFIG_H -include stdint.h -I"$out" -I"$source/include" -I"$source/nc_test4" \
    $(pkg-config --cflags netcdf-mpi hdf5-openmpi) -- "$source"/nc_test4/tst_!(large|large2|large3|nc4perf|varsperf).c
}

build_ior() {
  local source=$sources/ior/src name files=()
  for name in FCNTL STRINGS SYS_IOCTL SYS_PARAM SYS_STATFS SYS_STATVFS SYS_TIME SYS_MOUNT UNISTD; do
    echo "#define HAVE_${name}_H 1"
  done >"$out/config.h"
  printf '#define %s\n' 'META_NAME "ior"' 'META_VERSION "4"' 'PACKAGE_VERSION "4"' 'HAVE_SYSCONF 1' 'HAVE_STATFS 1' \
    'USE_MPIIO_AIORI 1' 'USE_POSIX_AIORI 1' 'HAVE_MPI_COUNT 1' >>"$out/config.h"
  if [[ $mpi == mpich ]]; then echo '#define HAVE_MPI_FILE_READ_C 1' >>"$out/config.h"; fi
  for name in ior mdtest utilities parse_options ior-output option md-workbench aiori aiori-DUMMY aiori-MPIIO aiori-POSIX; do
    files+=("$source/$name.c")
  done
  "${cc[@]}" -D_GNU_SOURCE -DHAVE_CONFIG_H -I"$out" -I"$source" -o "$out/ior" "$source/ior-main.c" "${files[@]}" -lm
}

build() {
  local name names=("${@:2}")
  mpi=$1
  if ((${#names[@]} == 0)); then names=(romio mpich hdf5 pnetcdf ior); fi
  for name in "${names[@]}"; do
    out=$suites/$mpi/$name
    if [[ -e $out/built || ($name == ior && ! -e $sources/ior) ]]; then continue; fi
    rm -rf "$out"
    mkdir -p "$out"
    cc=("mpicc.$mpi" -O1 -w)
    fc=("mpifort.$mpi" -O1 -w -fallow-argument-mismatch)
    if [[ $mpi == openmpi ]]; then
      write_open_mpi_header "$out/bounds.h"
      cc+=(-DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -include "$out/bounds.h")
    fi
    ("build_$name")
    touch "$out/built"
  done
}

"$@"
