! Tables: records of derived types, with and without bind(c).
program tables_test
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int32_t, c_int64_t
  use mpi_f08
  use stria
  implicit none
  character(*), parameter :: path = "fortran_tables_test.h5"

  type, bind(c) :: particle
    real(c_double) :: mass
    integer(c_int32_t) :: kind
    character(kind=c_char) :: name(5)
    integer(c_int64_t) :: number
    real(c_float) :: charge
  end type
  type :: parameter_of_run  ! like one of FLASH's real scalars
    character(80) :: name
    real(real64) :: value
  end type
  type :: body  ! with vectors and logicals
    integer(int64) :: number
    real(real64) :: place(3)
    logical :: alive
    integer(int16) :: cell(2)
    logical(1) :: tagged
    real(real32) :: colour(1)
  end type
  type :: masses
    integer(int64) :: number
    real(real64) :: mass
  end type

  type(stria_columns) :: columns, of_parameters
  type(particle) :: written(7)
  type(parameter_of_run) :: scalars(2)
  integer :: rank, ranks, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, size(written)
    written(i) = particle(0.5d0 * i, -i, ["a", "b", "c", " ", " "], 2_int64**40 + i, 0.25 * i)
  end do
  scalars = [parameter_of_run("time", 1.5d0), parameter_of_run("dt", 1d-3)]
  call columns%add("mass", written(1), written(1)%mass)
  call columns%add("kind", written(1), written(1)%kind)
  call columns%add("name", written(1), written(1)%name)
  call columns%add("number", written(1), written(1)%number)
  call columns%add("charge", written(1), written(1)%charge)
  call of_parameters%add("name", scalars(1), scalars(1)%name)
  call of_parameters%add("value", scalars(1), scalars(1)%value)
  call write_file()
  call read_file()
  call put_those_of_all_ranks()
  call refuse_what_does_not_fit()
  call vectors_and_logicals()
  call columns%free()
  call of_parameters%free()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  subroutine write_file()
    type(stria_file) :: file
    call file%create(MPI_COMM_WORLD, path)
    call file%create_table("particles", columns, written)
    call file%create_table("backwards", columns, written(7:1:-2))  ! a section, as it lies
    call file%create_table("scalars", of_parameters, scalars)
    call file%create_table("one", of_parameters, scalars(2))
    call file%commit()
    call file%close()
  end subroutine

  ! A table, and records of all ranks, with members that are arrays; read whole and in part.
  subroutine vectors_and_logicals()
    type(stria_file) :: file
    type(stria_dataset) :: records
    type(stria_columns) :: of_bodies, backwards, cells
    type(body) :: bodies(4), again(4)
    integer :: n
    do n = 1, 4
      bodies(n) = body(n + 10 * rank, [0.5d0, 1d0, 1.5d0] * n, mod(n, 2) == 0, int([n, -n], int16), n == 3, [2. * n])
    end do
    call of_bodies%add("number", bodies(1), bodies(1)%number)
    call of_bodies%add("place", bodies(1), bodies(1)%place)
    call of_bodies%add("alive", bodies(1), bodies(1)%alive)
    call of_bodies%add("cell", bodies(1), bodies(1)%cell)
    call of_bodies%add("tagged", bodies(1), bodies(1)%tagged)
    call of_bodies%add("colour", bodies(1), bodies(1)%colour, ierr=n)
    call check(n == stria_ok, "a vector of one")
    call file%create(MPI_COMM_WORLD, path)
    call file%create_records("bodies", of_bodies, [4 * ranks], records)
    call backwards%add("colour", bodies(1), bodies(1)%colour)  ! columns go by name
    call backwards%add("tagged", bodies(1), bodies(1)%tagged)
    call backwards%add("cell", bodies(1), bodies(1)%cell)
    call backwards%add("alive", bodies(1), bodies(1)%alive)
    call backwards%add("place", bodies(1), bodies(1)%place)
    call backwards%add("number", bodies(1), bodies(1)%number)
    call records%put_records([4 * rank + 1], backwards, bodies)
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("bodies", records)
    call records%get_records([4 * rank + 1], of_bodies, again)
    call file%flush()
    do n = 1, 4
      call check(again(n)%number == bodies(n)%number .and. all(again(n)%place == bodies(n)%place), "vectors")
      call check((again(n)%alive .eqv. bodies(n)%alive) .and. (again(n)%tagged .eqv. bodies(n)%tagged), "logicals")
      call check(all(again(n)%cell == bodies(n)%cell) .and. again(n)%colour(1) == bodies(n)%colour(1), "short vectors")
    end do
    again%cell(1) = 0
    call cells%add("cell", again(1), again(1)%cell)
    call records%get_records([4 * rank + 1], cells, again)
    call file%flush()
    call check(all(again%cell(1) == bodies%cell(1)), "one vector alone")
    call cells%free()
    call backwards%free()
    call of_bodies%free()
    call file%close()
  end subroutine

  subroutine read_file()
    type(stria_file) :: file
    type(stria_dataset) :: table
    type(stria_columns) :: two, renamed
    type(particle), allocatable :: read(:)
    type(particle) :: wide(9)
    type(parameter_of_run) :: read_scalars(2), one
    type(masses) :: few(7)
    integer :: n
    integer(int64), allocatable :: sizes(:)
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("particles", table)
    sizes = table%shape()
    call check(size(sizes) == 1 .and. table%type_name() == "record[40]", "a dataset of records")
    allocate (read(sizes(1)))
    call file%read_table("particles", columns, read)
    do n = 1, 7
      call check(same(read(n), written(n)), "records")
    end do
    wide%kind = 77
    call file%read_table("backwards", columns, wide(1:8:2))
    do n = 1, 4
      call check(same(wide(2 * n - 1), written(9 - 2 * n)), "records of a section")
    end do
    call check(all(wide(2:8:2)%kind == 77) .and. wide(9)%kind == 77, "records between them")
    call file%read_table("scalars", of_parameters, read_scalars)
    call check(all(read_scalars%name == scalars%name) .and. all(read_scalars%value == scalars%value), "strings")
    call file%read_table("one", of_parameters, one)
    call check(one%name == "dt" .and. one%value == 1d-3, "one record")
    ! Some of the columns, into another type.
    call two%add("mass", few(1), few(1)%mass)
    call two%add("number", few(1), few(1)%number)
    call file%read_table("particles", two, few)
    call check(all(few%mass == written%mass) .and. all(few%number == written%number), "two columns")
    call renamed%add("weight", few(1), few(1)%mass)
    call file%read_table("particles", renamed, few, ierr=n)
    call check(n == stria_not_found .and. index(stria_error_message(), "has no column 'weight'") > 0, "no such column")
    call renamed%free()
    call renamed%add("number", few(1), few(1)%mass)
    call file%read_table("particles", renamed, few, ierr=n)
    call check(n == stria_invalid_argument .and. index(stria_error_message(), "another type") > 0, "another type")
    call renamed%free()
    call file%read_table("particles", columns, written(1:3), ierr=n)
    call check(n == stria_invalid_argument .and. index(stria_error_message(), "has 7 rows") > 0, "too few records")
    call file%read_table("nothing", two, few, ierr=n)
    call check(n == stria_not_found, "no such table")
    call two%free()
    call file%close()
  end subroutine

  ! Every rank has some, of a section of its array, and reads those of another rank.
  subroutine put_those_of_all_ranks()
    type(stria_file) :: file
    type(stria_dataset) :: together
    type(stria_columns) :: three
    type(particle), asynchronous :: own(10), found(5)
    integer :: n, code
    do n = 1, 10
      own(n) = particle(rank + 0.5d0 * n, n, ["a", "b", "c", " ", " "], 100 * rank + n, -1.0)
    end do
    call three%add("number", own(1), own(1)%number)
    call three%add("mass", own(1), own(1)%mass)
    call three%add("name", own(1), own(1)%name)
    call file%create(MPI_COMM_WORLD, path // ".all")
    call file%create_records("particles", three, [5 * ranks], together)
    call check(together%type_name() == "record[21]", "the columns one behind the other")
    call together%put_records([5 * rank + 1], three, own(9:1:-2))
    call file%commit()
    call file%close()

    call file%open(MPI_COMM_WORLD, path // ".all")
    call file%dataset("particles", together)
    found = particle(0, 77, ["-", "-", "-", "-", "-"], 0, 0.25)
    n = modulo(rank + 1, ranks)
    call together%get_records([5_int64 * n + 1], three, found)
    call file%flush()
    call check(all(found%number == 100 * n + [9, 7, 5, 3, 1]), "numbers of another rank")
    call check(all(found%mass == n + 0.5d0 * [9, 7, 5, 3, 1]), "masses of another rank")
    call check(all(found%name(2) == "b") .and. all(found%kind == 77) .and. all(found%charge == 0.25), "nothing else")
    call together%get_records([1], three, found(2), ierr=code)
    call file%flush()
    call check(code == stria_ok .and. found(2)%number == 9, "one record")
    call together%get_records([1, 1], three, found, ierr=code)
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "a place of 2 numbers") > 0, "a wrong place")
    call file%close()
    call three%free()
    if (rank == 0) call remove_file(path // ".all")
  end subroutine

  logical function same(a, b)
    type(particle), intent(in) :: a, b
    same = a%mass == b%mass .and. a%kind == b%kind .and. all(a%name == b%name) .and. a%number == b%number &
      .and. a%charge == b%charge
  end function

  subroutine refuse_what_does_not_fit()
    type(stria_file) :: file
    type(stria_columns) :: wrong
    type(masses) :: few(2)
    integer :: code
    complex :: flag
    few = masses(1, 2d0)
    flag = (1.0, 2.0)
    call wrong%add("flag", few(1), flag, ierr=code)
    call check(code == stria_invalid_argument, "a complex number")
    call check(index(stria_error_message(), "no integer, real, logical or string") > 0, "a message on complex numbers")
    call file%create(MPI_COMM_WORLD, path // ".wrong")
    call file%create_table("few", columns, few, ierr=code)  ! columns of a larger record
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "is not in the records") > 0, "another record")
    call file%commit(ierr=code)
    call check(code == stria_invalid_argument, "nothing is left of the file")
    call file%close()
  end subroutine
end program
