! put.cpp in Fortran.
program put
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: guard = 4, variables = 24
  real(real64), allocatable, asynchronous :: unk(:, :, :, :, :)
  character(len=1000) :: arguments(4)
  type(stria_options) :: options
  integer :: rounds, number, rank, ranks, i, round
  real(real64) :: seconds

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() /= 4) error stop "usage: put calls|checkpoint ROUNDS COUNT|BLOCKS PATH"
  do i = 1, 4
    call get_command_argument(i, arguments(i))
  end do
  read (arguments(2), *) rounds
  read (arguments(3), *) number
  call options%set("sync", "false")
  if (arguments(1) == "checkpoint") then
    call fill(24, number)
  else
    call fill(16, 1)
  end if
  do round = 1, rounds
    if (arguments(1) == "checkpoint") then
      seconds = checkpoint(number)
    else
      seconds = calls(number)
    end if
    if (rank == 0) print "(f0.9)", seconds
  end do
  call options%free()
  call MPI_Finalize()

contains

  ! The numbers of put.cpp, in the order of memory.
  subroutine fill(wide, blocks)
    integer, intent(in) :: wide, blocks
    integer :: v, i, j, k, b, at
    allocate (unk(variables, wide, wide, wide, blocks))
    at = 0
    do b = 1, blocks
      do k = 1, wide
        do j = 1, wide
          do i = 1, wide
            do v = 1, variables
              unk(v, i, j, k, b) = mod(at, 1000) + rank
              at = at + 1
            end do
          end do
        end do
      end do
    end do
  end subroutine

  real(real64) function calls(count)
    integer, intent(in) :: count
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64) :: begin
    integer :: i
    call file%create(MPI_COMM_WORLD, arguments(4), options)
    call file%create_dataset("dens", stria_real64, [8, 8, 8, count], dataset)
    begin = MPI_Wtime()
    do i = 1, count
      call dataset%put([1, 1, 1, i], unk(1, 5:12, 5:12, 5:12, 1:1))
    end do
    calls = MPI_Wtime() - begin
    call file%discard()
    call file%close()
  end function

  real(real64) function checkpoint(blocks)
    integer, intent(in) :: blocks
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64) :: begin
    character(len=4) :: name
    integer :: v
    call MPI_Barrier(MPI_COMM_WORLD)
    begin = MPI_Wtime()
    call file%create(MPI_COMM_WORLD, arguments(4), options)
    do v = 1, variables
      write (name, "(a, i0)") "v", v
      call file%create_dataset(name, stria_real64, [16, 16, 16, ranks*blocks], dataset)
      call dataset%put([1, 1, 1, rank*blocks + 1], unk(v, guard + 1:guard + 16, guard + 1:guard + 16, guard + 1:guard + 16, :))
    end do
    call file%commit()
    checkpoint = MPI_Wtime() - begin
    call file%close()
  end function
end program
