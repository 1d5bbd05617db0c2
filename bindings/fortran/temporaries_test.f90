! What a compiler copies for a call: components of arrays of a derived type, also behind pointers,
! and every expression. What is put has the values of the call; what is got comes where it was asked
! for, or is refused.
module particles_of_test
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: n = 20000  ! more than what any put copies

  type :: vector
    real(real32) :: u = 0
    real(real32) :: v(0:2) = 0
  end type
  type :: particle
    character(5) :: name = "p"
    integer(int64) :: id = 0
    real(real64) :: mass = 0
    complex(real64) :: wave = 0
    type(vector) :: flow
  end type
  type, extends(particle) :: charged
    integer(int32) :: charge = 0
  end type
  real(real64), parameter :: constants(3) = [1.5d0, 2.5d0, 3.5d0]

contains

  function ramp(first) result(values)
    integer, intent(in) :: first
    real(real64) :: values(n)
    integer :: i
    do i = 1, n
      values(i) = first + i
    end do
  end function

  function allocated_ramp(first) result(values)
    integer, intent(in) :: first
    real(real64), allocatable :: values(:)
    values = ramp(first)
  end function

  ! What is freed now is likely to be taken, and written.
  subroutine spoil()
    real(real64), allocatable :: junk(:), more(:)
    allocate (junk(n), source=-7d0)
    allocate (more(2*n), source=-8d0)
    if (sum(junk) + sum(more) >= 0) error stop "junk"
  end subroutine
end module

program temporaries_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use particles_of_test
  use stria
  implicit none
  type :: expectation
    character(40) :: name
    real(real64), allocatable :: values(:)
  end type
  character(*), parameter :: path = "fortran_temporaries_test.h5"
  type(expectation) :: expected(100)
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  type(particle), allocatable, target, asynchronous :: p(:)
  real(real64), allocatable, target, asynchronous :: a(:)
  integer :: rank, ranks, count_of_expected = 0, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (p(n), a(n))
  do i = 1, n
    p(i)%mass = i + 0.5d0 + rank
    p(i)%id = -i
    p(i)%wave = cmplx(i, -i, real64)
    p(i)%flow%u = -1
    p(i)%flow%v = [1, 2, 3]*i
  end do
  a = ramp(rank)
  call put_every_kind()
  call get_every_kind()
  call get_components()
  call refuse_copies()
  call refuse_kinds()
  call take_int8()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  ! The next dataset; each rank has a column.
  subroutine begin(name, values)
    character(*), intent(in) :: name
    real(real64), intent(in) :: values(:)
    count_of_expected = count_of_expected + 1
    expected(count_of_expected)%name = name
    expected(count_of_expected)%values = values
    call file%create_dataset(name, stria_real64, [size(values), ranks], dataset)
  end subroutine

  subroutine put_every_kind()
    integer :: k
    call file%create(MPI_COMM_WORLD, path)
    call put_components(p)
    call put_expressions()
    call put_variables(a, a, p)
    call put_few_values(a(3))
    call put_of_other_calls()
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    do k = 1, count_of_expected
      call look_at(trim(expected(k)%name), expected(k)%values)
    end do
    call file%close()
  end subroutine

  subroutine look_at(name, values)
    character(*), intent(in) :: name
    real(real64), intent(in) :: values(:)
    real(real64), allocatable, asynchronous :: found(:)
    allocate (found(size(values)), source=-1d0)
    call file%dataset(name, dataset)
    call dataset%read([1, rank + 1], found)
    if (any(found /= values)) print *, name, count(found /= values), "of", size(values), "are others"
    call check(all(found == values), name)
  end subroutine

  subroutine put_components(q)
    type(particle), target, intent(in) :: q(:)
    real(real64), pointer :: mass(:)
    class(particle), allocatable :: some(:)
    type(charged), allocatable :: others(:)
    call begin("component", p%mass)
    call dataset%put([1, rank + 1], p%mass)
    call spoil()
    call begin("component of a dummy", p%mass)
    call dataset%put([1, rank + 1], q%mass)
    call spoil()
    call begin("backwards", p(n:1:-1)%mass)
    call dataset%put([1, rank + 1], p(n:1:-1)%mass)
    call spoil()
    call begin("integers", real(p%id, real64))
    call dataset%put([1, rank + 1], p%id)
    call spoil()
    call begin("component of a component", real(p%flow%u, real64))
    call dataset%put([1, rank + 1], p%flow%u)
    call spoil()
    call begin("element of a component", real(p%flow%v(1), real64))
    call dataset%put([1, rank + 1], p%flow%v(1))
    call spoil()
    call begin("real part", real(p%wave, real64))
    call dataset%put([1, rank + 1], p%wave%re)
    call spoil()
    mass => p%mass
    call begin("pointer to a component", p%mass)
    call dataset%put([1, rank + 1], mass)
    call spoil()
    call begin("part of a pointer", p(3:n:2)%mass)
    call dataset%put([1, rank + 1], mass(3::2))
    call spoil()
    call begin("none of a component", p(1:0)%mass)
    call dataset%put([1, rank + 1], p(1:0)%mass)
    call begin("in place", p(2:n:2)%mass)
    call dataset%put_component([1, rank + 1], p(2:n:2), p(1)%mass, ierr=i)
    call check(i == stria_invalid_argument, "a component of none of the records")
    call file%discard()
    call file%close()
    ! The file is begun again, because of the error.
    count_of_expected = 0
    call file%create(MPI_COMM_WORLD, path)
    call begin("component", p%mass)
    call dataset%put([1, rank + 1], p%mass)
    call spoil()
    call begin("in place", p(2:n:2)%mass)
    call dataset%put_component([1, rank + 1], p(2:n:2), p(4)%mass)
    call begin("in place, backwards", p(n:1:-1)%mass)
    call dataset%put_component([1, rank + 1], p(n:1:-1), p(4)%mass)
    allocate (some(n), others(n))
    some%mass = 3*a
    others%charge = [(2*i, i=1, size(p))]
    call begin("component of a polymorphic array", 3*a)
    call dataset%put([1, rank + 1], some%mass)
    call begin("component of an extended type", [(2d0*i, i=1, size(p))])
    call dataset%put([1, rank + 1], others%charge)
    deallocate (some, others)
    call spoil()
  end subroutine

  subroutine put_expressions()
    real(real64), allocatable :: grid(:, :), other(:, :)
    allocate (grid(100, 200), other(200, 100))
    grid = reshape(a, [100, 200])
    call begin("product", 2*a)
    call dataset%put([1, rank + 1], 2*a)
    call spoil()
    call begin("product of a component", 2*p%mass)
    call dataset%put([1, rank + 1], 2*p%mass)
    call spoil()
    call begin("in parentheses", a)
    call dataset%put([1, rank + 1], (a))
    call spoil()
    call begin("constructor", [-a, a])
    call dataset%put([1, rank + 1], [-a, a])
    call spoil()
    call begin("function", ramp(17))
    call dataset%put([1, rank + 1], ramp(17))
    call spoil()
    call begin("allocated by a function", ramp(18))
    call dataset%put_copy([1, rank + 1], allocated_ramp(18))
    call spoil()
    call begin("of another kind", real(real(a, real32), real64))
    call dataset%put([1, rank + 1], real(a, real32))
    call spoil()
    call begin("packed", pack(a, mod(a, 2d0) == 0))
    call dataset%put([1, rank + 1], pack(a, mod(a, 2d0) == 0))
    call spoil()
    call begin("merged", merge(a, -a, a > 100))
    call dataset%put([1, rank + 1], merge(a, -a, a > 100))
    call spoil()
    call file%create_dataset("reshaped", stria_real64, [n/2, 2*ranks], dataset)
    call dataset%put([1, 2*rank + 1], reshape(a, [n/2, 2]))
    call spoil()
    call file%create_dataset("transposed", stria_real64, [200, 100*ranks], dataset)
    call dataset%put([1, 100*rank + 1], transpose(2*grid))
    call spoil()
    call file%create_dataset("transposed variable", stria_real64, [200, 100*ranks], dataset)
    call dataset%put_copy([1, 100*rank + 1], transpose(grid))
    grid = 0
    call spoil()
    call file%flush()
    other = transpose(reshape(2*a, [100, 200]))
    call look_later("reshaped", [n/2, 2], a)
    call look_later("transposed", [200, 100], reshape(other, [n]))
    call look_later("transposed variable", [200, 100], reshape(other/2, [n]))
  end subroutine

  ! Those of two dimensions are looked at by a get of this file, which is unfinished: by a name
  ! for later.
  subroutine look_later(name, sizes, values)
    character(*), intent(in) :: name
    integer, intent(in) :: sizes(2)
    real(real64), intent(in) :: values(:)
    call begin(name//", as one", values)
    call dataset%put_copy([1, rank + 1], reshape(values, [size(values)]))
    call check(product(sizes) == size(values), name)
  end subroutine

  subroutine put_variables(whole, q, r)
    real(real64), intent(in), asynchronous :: whole(0:)
    real(real64), intent(in), asynchronous :: q(n)
    type(particle), intent(in) :: r(0:)
    real(real64), pointer :: pointed(:)
    call begin("dummy of assumed shape", a)
    call dataset%put([1, rank + 1], whole)
    call begin("dummy of explicit shape", a)
    call dataset%put([1, rank + 1], q)
    call begin("section", a(n:1:-3))
    call dataset%put([1, rank + 1], whole(n - 1:0:-3))
    call begin("pointer with bounds", a(2:n:2))
    pointed(0:) => a(2:n:2)
    call dataset%put([1, rank + 1], pointed)
    call begin("named constant", constants)
    call dataset%put([1, rank + 1], constants)
    call begin("component array", real(r(3)%flow%v, real64))
    call dataset%put([1, rank + 1], r(3)%flow%v)
    associate (half => 0.5d0*a)
      call begin("associated", half)
      call dataset%put_copy([1, rank + 1], half)
    end associate
    call spoil()
  end subroutine

  ! One value at a time, most of them gone after the call.
  subroutine put_few_values(x)
    real(real64), intent(in) :: x
    real(real64) :: scratch(2)
    call begin("values", [1d0, x + 1, p(7)%mass, 5d0, 3d0, 1d0, 2d0])
    call dataset%put([1, rank + 1], 1)
    call dataset%put([2, rank + 1], x + 1)
    call dataset%put([3, rank + 1], p(7)%mass)
    do i = 5, 5
      call dataset%put([4, rank + 1], i)
    end do
    i = 0
    call dataset%put([5, rank + 1], real(3, real32))
    scratch = [1, 2]
    call dataset%put_copy([6, rank + 1], scratch)
    scratch = -1
    if (sum(scratch) > 0) error stop "junk"
  end subroutine

  subroutine put_of_other_calls()
    type :: cell
      integer(int32) :: level = 3
      type(particle) :: inside
    end type
    type(cell), allocatable :: cells(:)
    type(stria_columns) :: columns, copied
    type(stria_elements) :: map
    real(real64), allocatable :: found(:)
    integer(int64) :: sizes(2)
    allocate (cells(n))
    cells%inside%id = [(i, i=1, size(p))]
    cells%inside%mass = a
    call columns%add("id", p(1), p(1)%id)
    copied = columns
    call columns%add("mass", p(1), p(1)%mass)
    call file%create_records("records", columns, [n, ranks], dataset)
    call dataset%put_records([1, rank + 1], columns, cells%inside)
    call file%create_records("ids", copied, [n, ranks], dataset)
    call columns%free()
    call dataset%put_records_copy([1, rank + 1], copied, p)
    cells%level = -1
    deallocate (cells)
    call spoil()
    call file%create_dataset("elements", stria_real64, [n, ranks], dataset)
    call map%define([(n*rank + i, i=size(p), 1, -1)])
    call dataset%put_elements(map, 2*a)
    call spoil()
    call file%create_dataset("elements of components", stria_real64, [n, ranks], dataset)
    call dataset%put_elements(map, p%mass)
    call spoil()
    call map%free()
    call file%create_dataset("strided", stria_real64, [2*n, ranks], dataset)
    call dataset%put_strided([2, rank + 1], [2, 1], p%mass)
    call spoil()
    call dataset%put_strided_copy([1, rank + 1], [2, 1], a)
    call file%create_dataset("rows", stria_real64, [stria_unlimited], dataset)
    call file%append_own_rows("rows", -p%mass)
    call spoil()
    call file%commit()
    call check(file%copied_bytes() >= 8*n, "the memory of copies")
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call look_at("elements", 2*a(n:1:-1))
    call look_at("elements of components", p(n:1:-1)%mass)
    call look_at("strided", [(a(i), p(i)%mass, i=1, size(p))])
    call file%dataset("rows", dataset)
    allocate (found(n))
    call dataset%read([n*rank + 1], found)
    call check(all(found == -p%mass), "appended rows")
    call file%dataset("records", dataset)
    sizes = dataset%shape()
    call check(all(sizes == [n, ranks]), "sizes")
    call look_at_records()
    call file%close()
    call file%append(MPI_COMM_WORLD, path)
  end subroutine

  subroutine look_at_records()
    type(stria_columns) :: columns
    type(particle), allocatable, asynchronous :: found(:), ids(:)
    allocate (found(n), ids(n))
    call columns%add("id", found(1), found(1)%id)
    call file%dataset("ids", dataset)
    call dataset%get_records([1, rank + 1], columns, ids)
    call columns%add("mass", found(1), found(1)%mass)
    call file%dataset("records", dataset)
    call dataset%get_records([1, rank + 1], columns, found)
    call file%flush()
    call check(all(found%mass == a) .and. all(found%id == [(i, i=1, size(p))]) .and. all(ids%id == p%id), "records")
  end subroutine

  ! Each variable is filled, whatever its bounds: it is no copy.
  subroutine get_every_kind()
    real(real64), allocatable, target, asynchronous :: whole(:), shifted(:), deferred(:)
    real(real64), asynchronous, save :: fixed(-3:n - 4)
    real(real64), asynchronous :: one(4)
    real(real64), pointer :: pointed(:)
    type(particle), asynchronous :: single
    allocate (whole(2*n), source=-1d0)
    allocate (shifted(0:n - 1), deferred(n))
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("product", dataset)
    call dataset%get([1, rank + 1], whole(2*n:1:-2))
    call dataset%get([1, rank + 1], shifted)
    call dataset%get([1, rank + 1], fixed)
    pointed(0:) => deferred
    call dataset%get([1, rank + 1], pointed)
    call dataset%get([7, rank + 1], single%mass)
    call dataset%get([1, rank + 1], single%flow%v)
    call get_into_dummies(one(1:2), one(3:4), 2)
    call file%flush()
    call check(all(whole(2*n:1:-2) == 2*a) .and. all(whole(1::2) == -1), "a section")
    call check(all(shifted == 2*a) .and. all(fixed == 2*a) .and. all(deferred == 2*a), "whole arrays")
    call check(single%mass == 2*a(7) .and. all(single%flow%v == real(2*a(:3), real32)), "components of one")
    call check(all(one == 2*a([1, 2, 1, 2])), "dummies")
    call file%close()
  end subroutine

  subroutine get_into_dummies(x, y, m)
    integer, intent(in) :: m
    real(real64), intent(inout), asynchronous :: x(0:), y(0:m - 1)
    call dataset%get([1, rank + 1], x)
    call dataset%get([1, rank + 1], y)
  end subroutine

  ! Gets components at once, or in place.
  subroutine get_components()
    type(particle), allocatable, target, asynchronous :: q(:)
    real(real64), pointer :: mass(:)
    allocate (q(n))
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("product", dataset)
    call dataset%read([1, rank + 1], q%mass)
    call check(all(q%mass == 2*a) .and. all(q%id == 0) .and. all(q%flow%u == 0), "read into components")
    q%mass = 0
    mass => q%mass
    call dataset%read([1, rank + 1], mass)
    call check(all(q%mass == 2*a), "read behind a pointer")
    call dataset%read([1, rank + 1], mass(n:1:-1))
    call check(all(q(n:1:-1)%mass == 2*a), "read backwards")
    call dataset%get_component([1, rank + 1], q(n:1:-1), q(5)%id)
    call dataset%get_component([1, rank + 1], q(1), q(1)%flow%v)
    q%mass = 4
    call file%flush()
    call check(all(q(n:1:-1)%id == int(2*a, int64)) .and. all(q%mass == 4) .and. all(q%name == "p"), "got in place")
    call check(all(q(1)%flow%v == real(2*a(:3), real32)) .and. all(q(2:)%flow%u == 0), "an array of one")
    call file%close()
  end subroutine

  ! Getting into a copy is an error, on all ranks.
  subroutine refuse_copies()
    type(particle), allocatable, target, asynchronous :: q(:)
    type(stria_columns) :: columns
    type(stria_elements) :: map
    real(real64), pointer :: mass(:)
    integer :: kind, code
    allocate (q(n))
    mass => q%mass
    call map%define([(i, i=1, size(p))])
    call columns%add("id", q(1), q(1)%id)
    do kind = 1, 5
      call file%open(MPI_COMM_WORLD, path)
      call file%dataset("product", dataset)
      if (rank == ranks - 1) then
        if (kind == 1) call dataset%get([1, rank + 1], q%mass, ierr=code)
        if (kind == 2) call dataset%get([1, rank + 1], mass, ierr=code)
        if (kind == 3) call dataset%get_strided([1, rank + 1], [2, 1], q(::2)%mass, ierr=code)
        if (kind == 4) call dataset%get_elements(map, q%mass, ierr=code)
        if (kind == 5) call dataset%get([1, rank + 1], mass(2:7), ierr=code)
        call check(code == stria_invalid_argument, "refused")
        call check(index(stria_error_message(), "read() it at once") > 0, "what to do")
      end if
      call file%flush(ierr=code)
      call check(code == stria_invalid_argument, "all ranks hear of it")
      call check(index(stria_error_message(), "a copy of this array") > 0, "and of what it was")
      call file%close()
    end do
    call map%free()
  end subroutine

  ! Text is no number, and a logical no real one.
  subroutine refuse_kinds()
    character(4) :: text = "abcd", list(2) = "ab"
    character(1) :: letter = "a", letters(3) = "a"
    character(*), parameter :: named = "abc"
    logical :: yes = .true.
    type(stria_columns) :: columns
    integer :: kind, code
    call columns%add("mass", p(1), p(1)%mass)
    do kind = 1, 12
      call file%create(MPI_COMM_WORLD, "fortran_kinds.h5")
      if (kind < 10) call file%create_dataset("x", stria_real64, [3], dataset)
      if (kind == 10) call file%create_dataset("x", stria_int8, [3], dataset)
      if (kind > 10) call file%create_records("x", columns, [3], dataset)
      code = stria_ok
      if (kind == 1) call dataset%put([1], "abc", ierr=code)
      if (kind == 2) call dataset%put([1], "a", ierr=code)
      if (kind == 3) call dataset%put([1], named, ierr=code)
      if (kind == 4) call dataset%put([1], text, ierr=code)
      if (kind == 5) call dataset%put([1], letter, ierr=code)
      if (kind == 6) call dataset%put([1], list, ierr=code)
      if (kind == 7) call dataset%put([1], letters, ierr=code)
      if (kind == 8) call dataset%put([1], yes, ierr=code)
      if (kind == 9) call dataset%put([1], p(1:3), ierr=code)
      if (kind == 10) call dataset%put_copy([1], "abc", ierr=code)
      if (kind == 11) call dataset%put([1], a(1:3), ierr=code)
      if (kind == 12) call dataset%put([1], [1_int8, 2_int8, 3_int8], ierr=code)
      call check(code == stria_invalid_argument, "refused")
      call file%commit(ierr=code)
      call check(code == stria_invalid_argument, "and so the commit")
      call file%close()
    end do
    text = "wxyz"
    call file%open(MPI_COMM_WORLD, path)
    call file%dataset("product", dataset)
    call dataset%read([1, 1], text, ierr=code)
    call check(code == stria_invalid_argument .and. text == "wxyz", "numbers read into text")
    call file%close()
  end subroutine

  ! An integer(int8) is a number, as a variable or in a list.
  subroutine take_int8()
    integer(int8) :: small = 97
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("x", stria_real64, [2, ranks], dataset)
    call dataset%put([1, rank + 1], small)
    call dataset%put([2, rank + 1], [98_int8])
    small = 0
    call file%commit()
    call file%close()
    call file%open(MPI_COMM_WORLD, path)
    call look_at("x", [97d0, 98d0])
    call file%close()
  end subroutine
end program
