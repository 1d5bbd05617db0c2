#!/usr/bin/env bash
# Makes the module by flang as docs/fortran.md says, and programs with it, which run on one process:
# the tests of gfortran's module, and an example. No MPI has a module of flang's, so that these get
# one of a single rank here. Exits with 77 where no flang 22 or newer is installed.
# usage: flang_test.sh C_COMPILER FOLDER_OF_LIBRARIES
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
cc=$1 libraries=$2
flang=
for version in 24 23 22; do
  if command -v "flang-$version" >/dev/null; then flang=flang-$version && break; fi
done
if [[ -z $flang ]]; then echo "flang_test: there is no flang 22 or newer (Debian: flang-22)" && exit 77; fi
headers=$("$flang" --version | sed -n 's/^InstalledDir: *//p')/../include/flang

work=$(mktemp -d --tmpdir stria_flang_test.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The module has those of the communicator's calls that the tests use.
cat >mpi_f08.f90 <<'END'
module mpi_f08
  implicit none
  type MPI_Comm
    integer :: MPI_VAL = 0
  end type
  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(0)
contains
  subroutine MPI_Init()
  end subroutine
  subroutine MPI_Finalize()
  end subroutine
  subroutine MPI_Barrier(comm)
    type(MPI_Comm), intent(in) :: comm
    if (comm%MPI_VAL /= 0) error stop 1
  end subroutine
  subroutine MPI_Comm_rank(comm, rank)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: rank
    rank = comm%MPI_VAL
  end subroutine
  subroutine MPI_Comm_size(comm, ranks)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: ranks
    ranks = comm%MPI_VAL + 1
  end subroutine
end module
END
"$flang" -cpp -DSTRIA_NO_MPI -c "$here/stria.f90"
"$cc" -I "$headers" -I "$root/include" -c "$here"/*.c
"$flang" -c mpi_f08.f90

# run SOURCE: without a communicator each file is of this process alone.
run() {
  local name
  name=$(basename "$1" .f90)
  sed -E 's/\b(create|open|append)\(MPI_COMM_WORLD(%MPI_VAL)?, /\1(/' "$1" >"$name.f90"
  "$flang" -cpp -I "$here" -o "$name" "$name.f90" ./*.o -L "$libraries" -Wl,-rpath,"$libraries" -lstria_c_serial
  "./$name"
  echo "$name: passed"
}
for test in sections scattered tables strings; do
  run "$here/${test}_test.f90"
done
run "$root/examples/fortran/one_process.f90"
