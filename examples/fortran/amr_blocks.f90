! Blocks of an adaptive mesh: each rank has another number of them, of two sizes, with ghost cells
! around each. The file has a row a block, without ghost cells, and says where each block lies.
!   mpiexec -n 4 ./amr_blocks_fortran blocks.h5
program amr_blocks
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: n = 8, ghosts = 2
  real(8), allocatable, asynchronous :: dens(:, :, :), corners(:, :)
  integer(4), allocatable, asynchronous :: levels(:)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  character(len=200) :: path = "blocks.h5"
  real(8) :: width, cell
  integer :: rank, level, along, mine, first, total, b, i, j

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  ! The domain is a row of unit squares, one a rank. Those of odd ranks are refined: four blocks.
  level = 1 + mod(rank, 2)
  along = merge(1, 2, level == 1)
  mine = along*along
  width = 1d0/along
  cell = width/n
  allocate (dens(1 - ghosts:n + ghosts, 1 - ghosts:n + ghosts, mine), corners(2, mine), levels(mine))
  levels = level
  dens = -1  ! the ghosts stay so
  do b = 1, mine
    corners(:, b) = [rank + width*mod(b - 1, along), width*((b - 1)/along)]
    do j = 1, n
      do i = 1, n
        dens(i, j, b) = corners(1, b) + (i - 0.5d0)*cell + 10*(corners(2, b) + (j - 0.5d0)*cell)
      end do
    end do
  end do

  call file%create(MPI_COMM_WORLD, path)
  call file%place_rows(mine, first, total)  ! where this rank's go, and how many all have
  call file%create_dataset("level", stria_int32, [total], dataset)
  call dataset%put([first], levels)
  call file%create_dataset("corner", stria_real64, [2, total], dataset)
  call dataset%put([1, first], corners)
  call file%create_dataset("dens", stria_real64, [n, n, total], dataset)
  call dataset%put([1, 1, first], dens(1:n, 1:n, :))
  call file%set_attribute("/", "time", 0.25d0)
  call file%commit()
  call file%close()
  if (rank == 0) print "(i0, a)", total, " blocks"
  call MPI_Finalize()
end program
