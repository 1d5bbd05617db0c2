! Commits in the background: a snapshot after every step is written while the next step computes.
!   mpiexec -n 4 ./async_fortran snapshot    writes snapshot_0.h5, snapshot_1.h5, snapshot_2.h5
program async
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: cells = 1000  ! the cells of one rank
  real(8), asynchronous :: field(cells)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  type(stria_commit) :: previous
  character(len=200) :: base = "snapshot", path
  integer :: rank, ranks, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) call get_command_argument(1, base)
  field = rank
  do step = 0, 2
    field = field + 0.5d0  ! the computation: the snapshot before may still be on its way
    call previous%wait()  ! ends the program if that has failed; nothing to wait for at first
    write (path, "(2a, i0, a)") trim(base), "_", step, ".h5"
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("field", stria_real64, [ranks*cells], dataset)
    call dataset%put([rank*cells + 1], field)
    call file%set_attribute("/", "step", step)
    call file%commit_async(previous)  ! returns once all is packed: field may change then
    call file%close()
  end do
  call previous%wait()
  call MPI_Finalize()
end program
