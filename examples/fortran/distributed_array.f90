! A distributed array: a global grid of two dimensions, of which each rank has a box with a layer
! of ghost cells around it. The file has the grid whole, whatever the number of ranks; then it is
! read by other boxes.
!   mpiexec -n 4 ./distributed_array_fortran grid.h5
program distributed_array
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: nx = 42, ny = 60
  real(8), allocatable, asynchronous :: density(:, :), rows(:, :)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  character(len=200) :: path = "grid.h5"
  integer :: rank, ranks, wrong, wrong_anywhere, x, y, width, height, first, mine, i, j, across(2) = 0

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Dims_create(ranks, 2, across)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  x = nx*mod(rank, across(2))/across(2)
  y = ny*(rank/across(2))/across(1)
  width = nx*(mod(rank, across(2)) + 1)/across(2) - x
  height = ny*(rank/across(2) + 1)/across(1) - y
  allocate (density(0:width + 1, 0:height + 1))
  density = -1  ! the ghosts stay so
  do j = 1, height
    do i = 1, width
      density(i, j) = 1000*(y + j - 1) + x + i - 1
    end do
  end do

  call file%create(MPI_COMM_WORLD, path)
  call file%create_dataset("density", stria_real64, [nx, ny], dataset)
  call dataset%put([x + 1, y + 1], density(1:width, 1:height))
  call file%commit()
  call file%close()

  call file%open(MPI_COMM_WORLD, path)
  call file%share_rows(ny, first, mine)
  allocate (rows(nx, mine))
  call file%dataset("density", dataset)
  call dataset%get([1, first], rows)
  call file%commit()  ! reads
  call file%close()
  wrong = count([((rows(i, j) /= 1000*(first + j - 2) + i - 1, i=1, nx), j=1, mine)])
  call MPI_Reduce(wrong, wrong_anywhere, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print "(2(a, i0), 2a)", "boxes of ", across(1), " x ", across(2), " ranks, read by rows: ", &
    trim(merge("as written", "different ", wrong_anywhere == 0))
  call MPI_Finalize()
end program
