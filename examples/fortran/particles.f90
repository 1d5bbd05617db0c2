! Particles: each rank has another number of them, in one array for each property; the file has one
! dataset for each, the particles of rank 0 first.
!   mpiexec -n 4 ./particles_fortran particles.h5
program particles
  use mpi_f08
  use stria
  implicit none
  real(8), allocatable, asynchronous :: x(:), y(:)
  real(4), allocatable, asynchronous :: mass(:)
  integer(8), allocatable, asynchronous :: id(:)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  character(len=200) :: path = "particles.h5"
  integer :: rank, mine, first, total, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  mine = 1000 + 10*rank
  x = [(0.5d0*i, i=0, mine - 1)]
  y = [(-1d0*rank, i=0, mine - 1)]
  mass = [(2., i=0, mine - 1)]
  id = [(100000_8*rank + i, i=0, mine - 1)]

  call file%create(MPI_COMM_WORLD, path)
  call file%place_rows(mine, first, total)  ! where this rank's go, and how many all have
  call file%create_dataset("x", stria_real64, [total], dataset)
  call dataset%put([first], x)
  call file%create_dataset("y", stria_real64, [total], dataset)
  call dataset%put([first], y)
  call file%create_dataset("mass", stria_real32, [total], dataset)
  call dataset%put([first], mass)
  call file%create_dataset("id", stria_int64, [total], dataset)
  call dataset%put([first], id)
  call file%set_attribute("/", "time", 0.25d0)
  call file%commit()
  call file%close()
  if (rank == 0) print "(i0, a)", total, " particles"
  call MPI_Finalize()
end program
