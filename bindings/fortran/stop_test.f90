! An error of a call without `ierr` ends every rank. One argument: "open", a file that isn't there,
! on all ranks; or "put", what does not fit, on the last one, while the others wait for it.
program stop_test
  use mpi_f08
  use stria
  implicit none
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  real :: values(3) = 1.0
  character(4) :: error
  integer :: rank, ranks

  call get_command_argument(1, error)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (error == "open") then
    call file%open(MPI_COMM_WORLD, "none.h5")
  else
    call file%create(MPI_COMM_WORLD, "put.h5")
    call file%create_dataset("x", stria_real32, [3], dataset)
    if (rank == ranks - 1) call dataset%put([2], values)
    call MPI_Barrier(MPI_COMM_WORLD)
  end if
  print *, "rank", rank, "goes on"
  call MPI_Finalize()
end program
