! The MPI-IO of `use mpi`.
program fortran_mpi
  use mpi
  implicit none
  character(len=*), parameter :: name = 'fortran_mpi'
  include 'fortran_body.inc'
end program fortran_mpi
