! Single elements in any order, elements with strides between them, rows that are added, elements
! that are overwritten, and what is refused.
program scattered_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use stria
  implicit none
  character(*), parameter :: path = "fortran_scattered_test.h5"
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call elements()
  call strides()
  call added_rows()
  call own_rows()
  call refused()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  ! Element number p of a and b, in Fortran's order, is p / 2; each rank has every ranks-th, the
  ! last first, and leaves out one.
  subroutine elements()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_elements) :: map
    real(real64), asynchronous :: halves(8), grid(4, 2*ranks)
    integer(int32), asynchronous :: some(3)
    integer :: places(8), i
    integer(int64) :: few(3)
    places = [((8 - i)*ranks + rank + 1, i=1, 8)]
    halves = places/2d0
    places(3) = 0
    call file%create(MPI_COMM_WORLD, path)
    call map%define(places)
    call file%create_dataset("a", stria_real64, [4, 2*ranks], dataset)
    call dataset%put_elements(map, halves)
    call file%create_dataset("b", stria_int32, [4, 2*ranks], dataset)
    call dataset%put_elements(map, halves)
    call map%free()
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("a", dataset)
    call dataset%read([1, 1], grid)
    call check(all(reshape(grid, [8*ranks]) == [(merge(0d0, i/2d0, (i - 1)/ranks == 5), i=1, 8*ranks)]), "elements of a")
    call file%dataset("b", dataset)
    few = [6, 1, 8]
    call map%define(few)
    call dataset%get_elements(map, some)
    call file%flush()
    call check(all(some == [(merge(0, int(few(i)/2), (few(i) - 1)/ranks == 5), i=1, 3)]), "some of b")
    call map%free()
    call file%close()
  end subroutine

  ! Every second column, and of them every third element.
  subroutine strides()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real32), asynchronous :: part(2, 3), back(2, 3)
    real(real64), asynchronous :: all_of_it(5, 6*ranks)
    integer :: i, j
    part = reshape([(rank*10 + i, i=1, 6)], [2, 3])
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("x", stria_real64, [5, 6*ranks], dataset)
    call dataset%put_strided([2, 6*rank + 1], [3, 2], part)
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("x", dataset)
    call dataset%get_strided([2_int64, 6_int64*rank + 1], [3_int64, 2_int64], back)
    call dataset%read([1, 1], all_of_it)
    call check(all(back == part), "strided")
    do j = 1, 3
      do i = 1, 2
        call check(all_of_it(3*i - 1, 6*rank + 2*j - 1) == part(i, j), "its places")
        all_of_it(3*i - 1, 6*rank + 2*j - 1) = 0
      end do
    end do
    call check(all(all_of_it(:, 6*rank + 1:6*rank + 6) == 0), "between them")
    call file%close()
  end subroutine

  subroutine added_rows()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64), asynchronous :: row(2), rows(2, 2*ranks), grid(3), back(3)
    integer :: step, first_row
    grid = rank
    do step = 1, 2
      row = [step, rank]
      if (step == 1) then
        call file%create(MPI_COMM_WORLD, path)
        call file%create_dataset("probe", stria_real64, [2, stria_unlimited], dataset)
        call file%create_dataset("grid", stria_real64, [3, ranks], dataset)
        call dataset%put([1, rank + 1], grid)
      else
        call file%append(MPI_COMM_WORLD, path)
        call file%update("grid", dataset)
        grid(2) = -1
        call dataset%put([2, rank + 1], grid(2:2))
      end if
      call file%append_rows("probe", ranks, dataset, first=first_row)
      call check(first_row == (step - 1)*ranks + 1, "where its rows begin")
      call dataset%put([1, first_row + rank], row)
      call file%commit()
      call file%close()
    end do
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("probe", dataset)
    call dataset%read([1, 1], rows)
    call check(all(rows(1, :ranks) == 1) .and. all(rows(1, ranks + 1:) == 2), "steps")
    call check(all(rows(2, :) == [(modulo(step, ranks), step=0, 2*ranks - 1)]), "ranks")
    call file%dataset("grid", dataset)
    call dataset%read([1, rank + 1], back)
    call check(all(back == grid), "overwritten")
    call file%close()
  end subroutine

  ! Each rank has another number of columns at each step, also none.
  subroutine own_rows()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64), allocatable, asynchronous :: mine(:, :), back(:, :)
    integer :: step, other, total, code
    total = 0
    do step = 0, 2
      allocate (mine(2, modulo(rank + step, 3)), source=100d0*step + rank)
      if (step == 0) then
        call file%create(MPI_COMM_WORLD, path)
        call file%create_dataset("p", stria_real64, [2, stria_unlimited], dataset)
      else
        call file%append(MPI_COMM_WORLD, path)
      end if
      call file%append_own_rows("p", mine)
      call file%commit()
      call file%close()
      deallocate (mine)
    end do
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("p", dataset)
    allocate (back(2, sum([((modulo(other + step, 3), other=0, ranks - 1), step=0, 2)])))
    call check(all(dataset%shape() == shape(back)), "all of them")
    call dataset%read([1, 1], back)
    do step = 0, 2
      do other = 0, ranks - 1
        call check(all(back(:, total + 1:total + modulo(other + step, 3)) == 100d0*step + other), "their order")
        total = total + modulo(other + step, 3)
      end do
    end do
    call file%close()
    call file%append(MPI_COMM_WORLD, path)
    call file%append_own_rows("p", 1d0, code)
    call check(code == stria_invalid_argument .and. index(stria_error_message(), "last dimension") > 0, "one value")
    call file%close()
  end subroutine

  ! What one rank does wrong, all hear of; that rank is told what it was.
  subroutine refused()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_elements) :: map, twice
    real(real64), asynchronous :: values(6) = 1
    complex(real64), asynchronous :: pairs(2) = 1
    character(:), allocatable :: said
    integer :: code, kind
    call twice%define([1, 2, 1], ierr=code)
    call check(code == stria_invalid_argument, "a place that comes twice")
    call map%define([3, 1, 2])
    do kind = 1, 5
      call file%create(MPI_COMM_WORLD, path)
      call file%create_dataset("x", stria_real64, [3, 5], dataset)
      if (rank == ranks - 1) then
        code = stria_ok
        said = ""
        if (kind == 1) call dataset%put_elements(map, values(1:2), ierr=code)
        if (kind == 1) said = "2 values for a map of 3 elements"
        if (kind == 2) call dataset%put_elements(map, values(1:5:2), ierr=code)
        if (kind == 2) said = "contiguous"
        if (kind == 3) call dataset%put([1, 1], pairs, ierr=code)
        if (kind == 3) said = "complex"
        if (kind == 4) call dataset%put_strided([1], [1], values, ierr=code)
        if (kind == 4) said = "a place of 1 numbers for a dataset of 2 dimensions"
        if (kind == 5) call dataset%put_elements(twice, values, ierr=code)
        call check(code == stria_invalid_argument .and. index(stria_error_message(), said) > 0, "refused: " // said)
      end if
      call file%commit(ierr=code)
      call check(code == stria_invalid_argument, "all ranks hear of it")
      call check(index(stria_error_message(), "contiguous") > 0 .eqv. kind == 2, "and are told what it was")
      call file%close()
    end do
    call map%free()
  end subroutine
end program
