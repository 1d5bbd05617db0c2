! Handles know when what they name has ended, through which copy of the handle it may have been.
! Columns are values.
program handles_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use stria
  implicit none
  character(*), parameter :: path = "fortran_handles_test.h5"
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call closed_file()
  call never_opened()
  call freed_commit()
  call freed_options_and_maps()
  call copied_columns()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  subroutine refused(code, words)
    integer, intent(in) :: code
    character(*), intent(in) :: words
    call check(code == stria_invalid_argument .and. index(stria_error_message(), words) > 0, words)
  end subroutine

  subroutine closed_file()
    type(stria_file) :: file, copy, others(3)
    type(stria_dataset) :: dataset, same, found
    real(real64), asynchronous :: row(4), back(4)
    integer :: i
    row = rank
    call file%create(MPI_COMM_WORLD, path)
    copy = file
    call copy%create_dataset("x", stria_real64, [4, ranks], dataset)
    same = dataset
    call same%put([1, rank + 1], row)
    call file%commit()
    call file%close()
    call check_closed(copy, dataset)
    call check_closed(file, same)
    ! Others may take its place in memory.
    do i = 1, 3
      call others(i)%open(MPI_COMM_WORLD, path)
    end do
    call check_closed(copy, dataset)
    call copy%close()
    call copy%close()
    call file%close()
    do i = 1, 3
      call others(i)%dataset("x", found)
      call found%read([1, rank + 1], back)
      call check(all(back == row), "another file")
      call others(i)%close()
    end do
  end subroutine

  ! Whatever can be asked for.
  subroutine check_closed(file, dataset)
    type(stria_file), intent(inout) :: file
    type(stria_dataset), intent(inout) :: dataset
    type(stria_dataset) :: other
    type(stria_elements) :: map
    type(stria_columns) :: columns
    type(stria_commit) :: commit
    type :: pair
      integer(int64) :: number = 0
      real(real64) :: value = 0
    end type
    type(pair), asynchronous :: pairs(4)
    real(real64), asynchronous :: row(4)
    integer(int64) :: first, total, bytes
    integer :: code
    logical :: given
    character(:), allocatable :: list(:)
    row = 0
    call map%define([1, 2, 3, 4])
    call columns%add("number", pairs(1), pairs(1)%number)
    call dataset%put([1, 1], row, ierr=code)
    call refused(code, "closed")
    call dataset%put([1, 1], 2*row, ierr=code)
    call refused(code, "closed")
    call dataset%put_copy([1, 1], row, ierr=code)
    call refused(code, "closed")
    call dataset%get([1, 1], row, ierr=code)
    call refused(code, "closed")
    call dataset%read([1, 1], row, ierr=code)
    call refused(code, "closed")
    call dataset%put_strided([1, 1], [1, 1], row, ierr=code)
    call refused(code, "closed")
    call dataset%put_component([1, 1], pairs, pairs(1)%value, ierr=code)
    call refused(code, "closed")
    call dataset%put_elements(map, row, ierr=code)
    call refused(code, "closed")
    call dataset%put_records([1, 1], columns, pairs, ierr=code)
    call refused(code, "closed")
    call dataset%stored_bytes(bytes, ierr=code)
    call refused(code, "closed")
    call dataset%enumeration(list, ierr=code)
    call refused(code, "closed")
    call dataset%fill_value(row(1), given, ierr=code)
    call refused(code, "closed")
    call check(dataset%rank() == 0 .and. size(dataset%shape()) == 0 .and. size(dataset%chunk()) == 0, "no dimensions")
    call check(dataset%path() == "" .and. dataset%type_name() == "" .and. dataset%filters() == "", "no names")
    call map%free()
    call file%dataset("x", other, ierr=code)
    call refused(code, "closed")
    call file%create_dataset("y", stria_real64, [4], other, ierr=code)
    call refused(code, "closed")
    call file%append_own_rows("x", row, ierr=code)
    call refused(code, "closed")
    call file%create_table("t", columns, pairs, ierr=code)
    call refused(code, "closed")
    call file%set_attribute("/", "a", 1, ierr=code)
    call refused(code, "closed")
    call file%get_attribute("/", "a", row(1), ierr=code)
    call refused(code, "closed")
    call file%place_rows(4_int64, first, total, ierr=code)
    call refused(code, "closed")
    call file%datasets(list, ierr=code)
    call refused(code, "closed")
    call file%hints(list, ierr=code)
    call refused(code, "closed")
    call file%flush(ierr=code)
    call refused(code, "closed")
    call file%commit_async(commit, ierr=code)
    call refused(code, "closed")
    call file%discard(ierr=code)
    call refused(code, "closed")
    call file%commit(ierr=code)
    call refused(code, "closed")
    call check(file%path() == "" .and. file%format() == "", "no path")
    call check(file%phase("write") == -1, "no phases")
  end subroutine

  subroutine never_opened()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_commit) :: commit
    real(real64), asynchronous :: row(4)
    integer :: code
    row = 0
    call dataset%put([1], row, ierr=code)
    call refused(code, "closed")
    call file%commit(ierr=code)
    call refused(code, "closed")
    call file%close()
    call commit%wait()
    call commit%free()
    call check(commit%done(), "nothing to wait for")
  end subroutine

  subroutine freed_commit()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_commit) :: commit, copy
    integer :: code
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("x", stria_real64, [ranks], dataset)
    call dataset%put([rank + 1], 1.5d0)
    call file%commit_async(commit)
    copy = commit
    call file%close()
    call copy%wait()
    call commit%wait(ierr=code)
    call refused(code, "this commit was freed")
    call check(commit%done(), "nothing to wait for")
    call commit%free()
    call copy%free()
  end subroutine

  subroutine freed_options_and_maps()
    type(stria_options) :: options, same
    type(stria_elements) :: map, copy
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    integer :: code
    call options%set("sync", "false")
    same = options
    call options%free()
    call same%set("sync", "true", ierr=code)
    call refused(code, "these options were freed")
    call file%create(path="one_"//achar(iachar("0") + rank)//path, options=same, ierr=code)
    call refused(code, "these options were freed")
    call same%free()
    call options%set("sync", "false")  ! they begin again
    call file%create(MPI_COMM_WORLD, path, options)
    call options%free()
    call file%create_dataset("x", stria_real64, [ranks], dataset)
    call map%define([rank + 1])
    copy = map
    call map%free()
    call copy%free()
    call dataset%put_elements(copy, 1d0, ierr=code)
    call check(code == stria_invalid_argument, "a map that was freed")
    call file%commit(ierr=code)
    call check(code == stria_invalid_argument, "and so the commit")
    call file%close()
  end subroutine

  subroutine copied_columns()
    type :: pair
      integer(int64) :: number = 7
      real(real64) :: value = 0.5d0
    end type
    type(stria_columns) :: columns, copy
    type(stria_file) :: file
    type(pair) :: pairs(3), found(3)
    call columns%add("number", pairs(1), pairs(1)%number)
    copy = columns
    call copy%add("value", pairs(1), pairs(1)%value)
    call columns%free()
    call columns%free()
    call columns%add("value", pairs(1), pairs(1)%value)
    call file%create(MPI_COMM_WORLD, path)
    call file%create_table("both", copy, pairs)
    call file%create_table("values", columns, pairs)
    call file%commit()
    call file%close()
    found%number = 0
    found%value = 0
    call file%open(MPI_COMM_WORLD, path)
    call file%read_table("values", columns, found)
    call check(all(found%value == 0.5d0) .and. all(found%number == 0), "one column")
    call file%read_table("both", copy, found)
    call check(all(found%value == 0.5d0) .and. all(found%number == 7), "two columns")
    call file%close()
  end subroutine
end program
