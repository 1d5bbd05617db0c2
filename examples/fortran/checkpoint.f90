! A checkpoint of blocks with guard cells in FLASH's array unk, taken as it lies: variables
! interleaved in memory, one dataset per variable in the file. The file is that of checkpoint.c,
! byte for byte.
!   mpiexec -n 4 ./checkpoint_fortran checkpoint.h5
program checkpoint
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: blocks = 20, n = 8, guard = 4, wide = n + 2*guard, variables = 2  ! blocks of one rank
  character(len=4), parameter :: names(variables) = ["dens", "pres"]
  real(8), allocatable, asynchronous :: unk(:, :, :, :, :)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  character(len=200) :: path = "checkpoint.h5"
  integer :: rank, ranks, first, b, v

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  allocate (unk(variables, wide, wide, wide, blocks))
  do b = 1, blocks
    do v = 1, variables
      unk(v, :, :, :, b) = (rank*blocks + b - 1) + 0.1d0*(v - 1)
    end do
  end do

  first = rank*blocks + 1  ! where this rank's blocks go
  call file%create(MPI_COMM_WORLD, path)
  do v = 1, variables
    call file%create_dataset(names(v), stria_real64, [n, n, n, ranks*blocks], dataset)
    call dataset%put([1, 1, 1, first], unk(v, guard + 1:guard + n, guard + 1:guard + n, guard + 1:guard + n, :))
  end do
  call file%set_attribute("/", "time", 0.25d0)
  call file%commit()  ! all variables travel as one write; only now does the file have its name
  call file%close()
  call MPI_Finalize()
end program
