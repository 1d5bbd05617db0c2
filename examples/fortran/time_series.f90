! A time series: each step adds a row, from memory that the next step uses again.
!   mpiexec -n 4 ./time_series_fortran series.h5
program time_series
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: steps = 5, cells = 100  ! the cells are those of one rank
  real(8), asynchronous :: temperature(cells)
  real(8) :: times(steps)
  type(stria_file) :: file
  type(stria_dataset) :: series
  character(len=200) :: path = "series.h5"
  integer :: rank, ranks, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call file%create(MPI_COMM_WORLD, path)
  call file%create_dataset("temperature", stria_real32, [ranks*cells, steps], series)
  do step = 1, steps
    times(step) = 0.5d0*(step - 1)
    temperature = 300 + times(step) + rank
    call series%put([rank*cells + 1, step], temperature)
    call file%flush()  ! moves the row: the memory is free again
  end do
  call file%set_attribute("temperature", "times", times)
  call file%commit()
  call file%close()
  call MPI_Finalize()
end program
