! The MPI-IO of mpif.h.
program fortran_mpif
  implicit none
  include 'mpif.h'
  character(len=*), parameter :: name = 'fortran_mpif'
  include 'fortran_body.inc'
end program fortran_mpif
