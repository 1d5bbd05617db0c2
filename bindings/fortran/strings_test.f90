! Strings of which every rank has its own: put, got and read as numbers are.
program strings_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use stria
  implicit none
  character(*), parameter :: path = "fortran_strings_test.h5"
  integer, parameter :: mine = 3, length = 12
  type star
    real(8) :: mass
    character(length) :: name
  end type
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call write_file()
  call read_file()
  call what_does_not_fit()
  call what_is_put_twice()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  character(length) function name_of(owner, i)
    integer, intent(in) :: owner, i
    write (name_of, "(a, i0, a, i0)") "star ", owner, ".", i
  end function

  subroutine write_file()
    type(stria_file) :: file
    type(stria_dataset) :: names, grid, components, compressed
    type(stria_options) :: options
    character(length), asynchronous :: own(mine), every_second(2*mine), table(2, mine)
    type(star), asynchronous :: stars(mine)
    integer :: i
    do i = 1, mine
      own(i) = name_of(rank, i)
      every_second(2*i - 1) = own(i)
      every_second(2*i) = "not this one"
      table(:, i) = [own(i), "second line "]
      stars(i) = star(1d0*i, own(i))
    end do
    call options%set("compress", "true")
    call file%create(MPI_COMM_WORLD, path)
    call file%create_string_dataset("names", length, [ranks*mine], names)
    call file%create_string_dataset("grid", length, [2_int64, int(ranks*mine, int64)], grid)
    call file%create_string_dataset("components", length, [ranks*mine], components)
    call file%create_string_dataset("compressed", length, [ranks*mine], compressed, options)
    call check(names%type_name() == "string[12]", "the type's name")
    call names%put([rank*mine + 1], every_second(1::2))
    call grid%put([1, rank*mine + 1], table)
    call components%put_component([rank*mine + 1], stars, stars(1)%name)
    call compressed%put_copy([rank*mine + 1], own)
    call file%commit()
    call file%close()
  end subroutine

  subroutine read_file()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    character(length), asynchronous :: one(1), all(ranks*mine), column(2, 1)
    character(:), allocatable :: whole(:)
    integer :: owner, i, k
    character(10), parameter :: paths(3) = [character(10) :: "names", "components", "compressed"]
    call file%open(MPI_COMM_WORLD, path)
    do k = 1, size(paths)
      call file%dataset(trim(paths(k)), dataset)
      all = "?"
      call dataset%get([1], all)
      call file%flush()
      call file%read_strings(trim(paths(k)), whole)
      do owner = 0, ranks - 1
        do i = 1, mine
          call check(all(owner*mine + i) == name_of(owner, i), "got of " // paths(k))
          call check(whole(owner*mine + i) == name_of(owner, i), "read as a list of " // paths(k))
        end do
      end do
    end do
    call dataset%read([ranks*mine], one)
    call check(one(1) == name_of(ranks - 1, mine), "the last one")
    call file%dataset("grid", dataset)
    call dataset%read([1, rank*mine + 2], column)
    call check(column(1, 1) == name_of(rank, 2) .and. column(2, 1) == "second line", "a column")
    call file%close()
  end subroutine

  ! Two puts of the same elements are told in Fortran's order, counted from 1.
  subroutine what_is_put_twice()
    type(stria_file) :: file
    type(stria_dataset) :: grid
    character(length), asynchronous :: rows(2, 3)
    integer :: code
    rows = "twice"
    call file%create(MPI_COMM_WORLD, "fortran_strings_test_none.h5")
    call file%create_string_dataset("grid", length, [2, 4*ranks], grid)
    call grid%put([1, 4*rank + 1], rows)
    call grid%put([2, 4*rank + 3], rows(2:, :2))
    call file%commit(code)
    call check(code == stria_invalid_argument, "elements that are put twice")
    call check(index(stria_error_message(), "have the elements (2:2, 3:3) in common") > 0, stria_error_message())
    call file%close()
  end subroutine

  subroutine what_does_not_fit()
    type(stria_file) :: file
    type(stria_dataset) :: names, numbers
    character(5), asynchronous :: short(1) = "short"
    character(length), asynchronous :: name(1)
    integer, asynchronous :: number(1) = 1
    integer :: code
    name = "right"
    call file%create(MPI_COMM_WORLD, "fortran_strings_test_none.h5")
    call file%create_string_dataset("names", length, [2], names)
    call file%create_dataset("numbers", stria_int32, [2], numbers)
    call names%put([1], short, code)
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "strings of 5 characters") > 0, "short")
    call names%put([1], number, code)
    call check(code == stria_invalid_argument, "numbers for strings")
    call numbers%put([1], name, code)
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "for a dataset of numbers") > 0, "strings")
    call names%put([3], name, code)
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "passes the end at 2") > 0, "the end")
    call file%create_string_dataset("nothing", 0, [2], names, ierr=code)
    call check(code == stria_invalid_argument, "strings of no length")
    call file%discard(code)
    call file%close()
  end subroutine
end program
