! Reads a checkpoint on any number of ranks: each takes its share of the blocks.
!   mpiexec -n 3 ./restart_fortran checkpoint.h5
program restart
  use mpi_f08
  use stria
  implicit none
  type(stria_file) :: file
  type(stria_dataset) :: dens
  type(stria_options) :: options
  character(len=200) :: path = "checkpoint.h5"
  real(8), allocatable, asynchronous :: blocks(:, :, :, :)
  integer(8) :: dims(4), first, mine
  real(8) :: time
  integer :: rank, wrong, wrong_anywhere, b

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call options%set("verify", "true")  ! compared with its checksums on the way
  call file%open(MPI_COMM_WORLD, path, options)
  call options%free()
  call file%dataset("dens", dens)
  dims = dens%shape()
  call file%share_rows(dims(4), first, mine)
  allocate (blocks(dims(1), dims(2), dims(3), mine))
  call dens%get([1_8, 1_8, 1_8, first], blocks)
  call file%commit()  ! reads everything that was asked for, at once
  call file%get_attribute("/", "time", time)
  call file%close()

  wrong = count([(blocks(1, 1, 1, b) /= first + b - 2, b=1, int(mine))])
  call MPI_Reduce(wrong, wrong_anywhere, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    print "(i0, a, f4.2, 2a)", dims(4), " blocks of time ", time, ", ", &
      trim(merge("as written", "different ", wrong_anywhere == 0))
  end if
  call MPI_Finalize()
end program
