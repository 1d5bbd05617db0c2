! Sections of arrays go into the file as they lie, and come back; every type and kind,
! attributes, errors.
program sections_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use stria
  implicit none
  integer, parameter :: blocks = 6, n = 8, guard = 4, wide = n + 2*guard, variables = 3
  character(*), parameter :: path = "fortran_sections_test.h5"
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call write_checkpoint()
  call read_checkpoint()
  call rows_in_order()
  call every_kind()
  call pairs_and_logicals()
  call no_temporary()
  call in_background()
  call errors()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  pure real(real64) function cell(v, i, j, k, b)
    integer, intent(in) :: v, i, j, k, b
    cell = 1000*v + i + 10*j + 0.5d0*k + 100*b
  end function

  ! The array of FLASH: variables interleaved, guard cells around each block.
  subroutine write_checkpoint()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_options) :: options
    real(real64), allocatable, asynchronous :: unk(:, :, :, :, :)
    integer :: first, mine, v, i, j, k, b
    character(len=6) :: names(2) = ["dens  ", "a name"]
    first = blocks*rank/ranks
    mine = blocks*(rank + 1)/ranks - first
    allocate (unk(variables, wide, wide, wide, mine), source=-1d0)
    do concurrent(v=1:variables, i=1:n, j=1:n, k=1:n, b=1:mine)
      unk(v, guard + i, guard + j, guard + k, b) = cell(v, i, j, k, first + b)
    end do
    call options%set("sync", "false")
    call file%create(MPI_COMM_WORLD, path, options)
    call options%free()
    do v = 1, variables
      call file%create_dataset("v"//achar(iachar("0") + v), stria_real64, [n, n, n, blocks], dataset)
      call dataset%put([1, 1, 1, first + 1], unk(v, 5:12, 5:12, 5:12, 1:mine))
    end do
    call file%set_attribute("/", "time", 0.25d0)
    call file%set_attribute("v1", "box", [n, n, n])
    call file%set_attribute("v1", "unit", "g/cm^3")
    call file%set_attribute("v1", "names", names)
    call file%commit()
    call file%close()
  end subroutine

  subroutine read_checkpoint()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real32), allocatable, asynchronous :: part(:, :, :)
    real(real64) :: time
    integer(int64) :: box(3)
    character(len=10) :: unit, names(2)
    integer :: v, i, j, b
    call file%open(MPI_COMM_WORLD%MPI_VAL, path)
    do v = 1, variables
      allocate (part(0:n + 1, n, 2*blocks), source=-1e0)
      call file%dataset("v"//achar(iachar("0") + v), dataset)
      call check(dataset%rank() == 4, "rank")
      call check(all(dataset%shape() == [n, n, n, blocks]), "shape")
      ! The plane k = 3 of block b, backwards in j, into every second plane: in parts, as the ranks
      ! of the array differ.
      do b = 1, blocks
        call dataset%get([1, 1, 3, b], part(1:n, n:1:-1, 2*b))
      end do
      call file%flush()
      do b = 1, blocks
        do j = 1, n
          do i = 1, n
            call check(part(i, n + 1 - j, 2*b) == real(cell(v, i, j, 3, b), real32), "value")
          end do
        end do
      end do
      call check(all(part(0, :, :) == -1) .and. all(part(:, :, 1::2) == -1), "what was not asked for")
      deallocate (part)
    end do
    call file%get_attribute("/", "time", time)
    call file%get_attribute("v1", "box", box)
    call file%get_attribute("v1", "unit", unit)
    call file%get_attribute("v1", "names", names)
    call check(time == 0.25d0 .and. all(box == n) .and. unit == "g/cm^3" .and. names(2) == "a name", "attributes")
    call file%commit()
    call file%close()
  end subroutine

  subroutine every_kind()
    type(stria_file) :: file
    type(stria_dataset) :: a, b, c, d, e, f, empty
    integer(int8), asynchronous :: i1(3) = [1_int8, 2_int8, 3_int8]
    integer(int16), asynchronous :: i2(3) = [1_int16, 2_int16, 3_int16]
    integer(int32), asynchronous :: i4(2, 2) = reshape([1, 2, 3, 4], [2, 2])
    integer(int64), asynchronous :: i8 = 12345678901_int64, none(0), back
    real(real32), asynchronous :: r4(3) = [1e0, 2.5e0, 3e0], r4back(3)
    integer :: mine
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("i1", stria_int8, [3*ranks], a)
    call file%create_dataset("i2", stria_int16, [3*ranks], b)
    call file%create_dataset("i4", stria_int32, [2, 2*ranks], c)
    call file%create_dataset("i8", stria_int64, [int(ranks, int64)], d)
    call file%create_dataset("r4", stria_real32, [3*ranks], e)
    call file%create_dataset("scalars", stria_real64, [ranks], f)
    call file%create_dataset("empty", stria_int64, [0], empty)
    mine = 3*rank + 1
    call a%put([mine], i1)
    call b%put([mine], i2)
    call c%put([1, 2*rank + 1], i4)
    call d%put([int(rank + 1, int64)], i8)
    call e%put([mine], r4)
    call f%put([rank + 1], r4(2))
    call empty%put([1], none)
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("i8", d)
    call file%dataset("r4", e)
    call d%get([ranks - rank], back)
    call e%get([mine], r4back)
    call file%commit()
    call file%close()
    call check(back == i8 .and. all(r4back == r4), "kinds")
  end subroutine

  ! What is changed between put and commit is in the file: nothing was copied. (A program
  ! must not do that.)
  subroutine no_temporary()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64), allocatable, target, asynchronous :: big(:, :, :)
    real(real64), asynchronous :: read(4, 50)
    integer :: before
    allocate (big(10, 100, 2000), source=0d0)  ! 16 MB
    call file%create(path="alone_"//achar(iachar("0") + rank)//path)
    call file%create_dataset("x", stria_real64, [4, 50, 2000], dataset)
    before = peak_kilobytes()
    call dataset%put([1, 1, 1], big(2:9:2, 1:100:2, :))
    call check(peak_kilobytes() - before < 1000, "memory of a temporary array")
    big(4, 3, 7) = 42
    call file%commit()
    call file%close()
    call file%open("alone_"//achar(iachar("0") + rank)//path)
    call file%dataset("x", dataset)
    call dataset%get([1, 1, 7], read)
    call file%commit()
    call file%close()
    call remove_file("alone_"//achar(iachar("0") + rank)//path)
    call check(read(2, 2) == 42 .and. count(read /= 0) == 1, "a section is taken as it lies")
  end subroutine

  integer function peak_kilobytes()
    character(len=200) :: line
    integer :: unit, state
    peak_kilobytes = 0
    open (newunit=unit, file="/proc/self/status", action="read")
    do
      read (unit, "(a)", iostat=state) line
      if (state /= 0) exit
      if (line(1:6) == "VmHWM:") read (line(7:index(line, "kB") - 1), *) peak_kilobytes
    end do
    close (unit)
  end function

  ! Each rank has another number of rows, some none; all share them evenly when they are read.
  subroutine rows_in_order()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    real(real64), allocatable, asynchronous :: rows(:, :)
    integer :: mine, first, total, count, i
    integer(int64) :: size_of_all(2), first_i8, count_i8
    mine = mod(rank, 3)
    call file%create(MPI_COMM_WORLD, path)
    call file%place_rows(mine, first, total)
    allocate (rows(2, mine))
    rows(1, :) = [(first + i, i=0, mine - 1)]
    rows(2, :) = -rows(1, :)
    call file%create_dataset("rows", stria_real64, [2, total], dataset)
    call dataset%put([1, first], rows)
    call file%commit()
    call file%close()
    deallocate (rows)
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("rows", dataset)
    size_of_all = dataset%shape()
    call check(size_of_all(2) == total, "all rows")
    call file%share_rows(total, first, count)
    call file%share_rows(size_of_all(2), first_i8, count_i8)
    call check(first == first_i8 .and. count == count_i8, "shares")
    allocate (rows(2, count))
    call dataset%read([1, first], rows)
    call check(all(rows(1, :) == [(first + i, i=0, count - 1)]) .and. all(rows(2, :) == -rows(1, :)), "rows")
    call file%close()
  end subroutine

  ! Complex numbers are pairs along a dimension that Fortran's arrays haven't; logicals of any kind
  ! are 0 and 1.
  subroutine pairs_and_logicals()
    type(stria_file) :: file
    type(stria_dataset) :: z, flags
    type(stria_options) :: options
    complex(real64), asynchronous :: waves(4, 3), back(4, 3)
    complex(real32), asynchronous :: column(2)
    logical, asynchronous :: here(6), there(6)
    logical(int8), asynchronous :: short(6)
    integer(int8), asynchronous :: numbers(6)
    integer :: i, j
    waves = reshape([((cmplx(i + 10*rank, -j, real64), i=1, 4), j=1, 3)], [4, 3])
    here = [.true., .false., .false., .true., .true., .false.]
    call file%create(MPI_COMM_WORLD, path)
    call options%set("meaning", "complex")
    call file%create_dataset("z", stria_real64, [2, 4, 3*ranks], z, options)
    call options%set("meaning", "bool")
    call file%create_dataset("flags", stria_uint8, [6, ranks], flags, options)
    call options%free()
    call z%put([1, 3*rank + 1], waves)
    call flags%put([1, rank + 1], here)
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("z", z)
    call file%dataset("flags", flags)
    call z%read([1, 3*rank + 1], back)
    call check(all(back == waves), "complex numbers")
    call z%get_strided([2, 3*rank + 2], [2, 1], column)
    call flags%get([1, rank + 1], there)
    call flags%get([1, rank + 1], short)
    call flags%get([1, rank + 1], numbers)
    call file%flush()
    call check(all(column == cmplx(waves([2, 4], 2), kind=real32)), "a part of them, of another kind")
    call check(all(there .eqv. here) .and. all(short .eqv. here), "logicals")
    call check(all(numbers == merge(1, 0, here)), "as numbers")
    call file%close()
  end subroutine

  ! The file has what the array had at the call, and its name without another one.
  subroutine in_background()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_commit) :: commit
    real(real64), asynchronous :: row(1000), back(1000)
    integer :: code
    row = rank + 1
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("x", stria_real64, [1000, ranks], dataset)
    call dataset%put([1, rank + 1], row)
    call file%commit_async(commit)
    call file%close()
    row = -1
    call commit%wait()
    call check(commit%done(), "an end")
    call commit%wait(ierr=code)
    call check(code == stria_ok, "a commit that was waited for before")
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("x", dataset)
    call dataset%read([1, mod(rank + 1, ranks) + 1], back)
    call check(all(back == mod(rank + 1, ranks) + 1), "the data of the call")
    call file%close()
  end subroutine

  subroutine errors()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    logical :: yes(2) = .true.
    real(real64), asynchronous :: row(3) = 1
    real(real64), asynchronous :: many(2, 2) = 1
    complex(real64), asynchronous :: pairs(3) = 1
    character(len=30) :: words(7) = [character(len=30) :: "dataset 'x'", "dataset 'x'", "a place of 1 numbers", &
                                     "an array of logicals", "strings for a dataset", "an array of complex numbers", "a place of 2"]
    character(len=2) :: texts(3) = "ab"
    integer :: code, kind
    call file%open(MPI_COMM_WORLD, "no_such_file.h5", ierr=code)
    call check(code == stria_not_found .and. index(stria_error_message(), "no_such_file.h5") > 0, "not found")
    do kind = 1, 7
      call file%create(MPI_COMM_WORLD, "fortran_errors.h5")
      call file%create_dataset("x", stria_real64, [3, 5], dataset)
      if (rank == ranks - 1) then
        code = stria_ok
        if (kind == 1) call dataset%put([2, 1], row, ierr=code)  ! ends outside
        if (kind == 2) call dataset%put([0, 1], row, ierr=code)
        if (kind == 3) call dataset%put([1], row, ierr=code)
        if (kind == 4) call dataset%put([1, 1], yes, ierr=code)
        if (kind == 5) call dataset%put([1, 1], texts, ierr=code)
        if (kind == 6) call dataset%put([1, 1], pairs, ierr=code)
        if (kind == 7) call dataset%put([1, 1], reshape(many, [1, 2, 2]), ierr=code)
        call check(code == stria_invalid_argument, "refused")
      end if
      call file%commit(ierr=code)
      call check(code == stria_invalid_argument, "all ranks hear of it")
      call check(index(stria_error_message(), trim(words(kind))) > 0, "and of what was wrong: " // stria_error_message())
      call file%close()
    end do
  end subroutine
end program
