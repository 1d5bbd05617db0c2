! A compressed dataset: chunks that are shuffled and deflated, which every HDF5 reads. Ranks put
! what they have; it needn't fit the chunks.
!   mpiexec -n 4 ./compressed_fortran compressed.h5
program compressed
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: mine = 64, columns = 256  ! rows of one rank
  real(4), asynchronous :: temperature(columns, mine)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  type(stria_options) :: options
  type(stria_report) :: report
  character(len=200) :: path = "compressed.h5"
  integer :: rank, ranks, row, column

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  do row = 1, mine
    do column = 1, columns
      temperature(column, row) = 300 + 0.25*((rank*mine + row + column - 2)/8)
    end do
  end do

  call options%set("compress", "true")
  call options%set("chunk", "50,100")  ! in the file's order; left out: about a megabyte of rows
  call file%create(MPI_COMM_WORLD, path)
  call file%create_dataset("temperature", stria_real32, [columns, ranks*mine], dataset, options)
  call options%free()
  call dataset%put([1, rank*mine + 1], temperature)
  call file%commit()
  report = file%report()
  if (rank == 0) print "(i0, a, i0)", report%useful_bytes, " bytes of numbers, a file of ", report%file_bytes
  call file%close()
  call MPI_Finalize()
end program
