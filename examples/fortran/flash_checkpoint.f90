! A FLASH checkpoint, whole: name-value lists, names, what says where the blocks lie, and all
! variables. Reads one on any number of ranks and writes it once more, byte for byte.
!   mpiexec -n 4 ./flash_checkpoint_fortran sedov_hdf5_chk_0000 copy_hdf5_chk_0000
module flash_lists
  use stria
  implicit none
  ! Records as FLASH has them in memory and in its files.
  type :: run_info
    integer(4) :: version
    character(len=400) :: setup_call
    character(len=80) :: creation_time, flash_version, build_date, build_dir, build_machine
    character(len=400) :: cflags, fflags
    character(len=80) :: setup_time, build_time
  end type
  type :: integer_entry
    character(len=80) :: name
    integer(4) :: value
  end type
  type :: real_entry
    character(len=80) :: name
    real(8) :: value
  end type
  type :: string_entry
    character(len=80) :: value, name
  end type
  type :: logical_entry
    integer(4) :: value
    character(len=80) :: name
  end type
  type(stria_file) :: old, new
  type(stria_columns) :: columns
  type(stria_dataset) :: from(100), to(100)
  integer :: datasets = 0
  logical :: reads = .true.

contains

  ! The number of a list's entries; 0 where the file has no such list.
  integer(8) function entries(list)
    character(*), intent(in) :: list
    type(stria_dataset) :: table
    character(:), allocatable :: paths(:)
    integer(8) :: dims(1)
    call old%datasets(paths)
    entries = 0
    if (.not. any(paths == list)) return
    call old%dataset(list, table)
    dims = table%shape()
    entries = dims(1)
  end function

  ! Copies a table through records of the type that the columns describe.
  subroutine copy_table(list, records)
    character(*), intent(in) :: list
    type(*), dimension(..), intent(inout) :: records
    call old%read_table(list, columns, records)
    call new%create_table(list, columns, records)
    call columns%free()
  end subroutine

  ! Begins the next dataset of the new file, as the old one has it.
  subroutine begin(name, options)
    character(*), intent(in) :: name
    type(stria_options), intent(in), optional :: options
    datasets = datasets + 1
    call old%dataset(name, from(datasets))
    call new%create_dataset(name, from(datasets)%type(), from(datasets)%shape(), to(datasets), options)
  end subroutine

  ! Moves blocks of a dataset from the old file to an array, and then from there to the new file.
  subroutine move_blocks(number, first, array)
    integer, intent(in) :: number
    integer(8), intent(in) :: first
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer(8), allocatable :: start(:)
    start = [spread(1_8, 1, from(number)%rank() - 1), first]
    if (reads) then
      call from(number)%get(start, array)
    else
      call to(number)%put(start, array)
    end if
  end subroutine

  subroutine copy_integers(list)
    character(*), intent(in) :: list
    type(integer_entry), allocatable :: copy(:)
    allocate (copy(entries(list)))
    if (size(copy) == 0) return
    call columns%add("name", copy(1), copy(1)%name)
    call columns%add("value", copy(1), copy(1)%value)
    call copy_table(list, copy)
  end subroutine

  subroutine copy_reals(list)
    character(*), intent(in) :: list
    type(real_entry), allocatable :: copy(:)
    allocate (copy(entries(list)))
    if (size(copy) == 0) return
    call columns%add("name", copy(1), copy(1)%name)
    call columns%add("value", copy(1), copy(1)%value)
    call copy_table(list, copy)
  end subroutine

  subroutine copy_strings(list)
    character(*), intent(in) :: list
    type(string_entry), allocatable :: copy(:)
    allocate (copy(entries(list)))
    if (size(copy) == 0) return
    call columns%add("value", copy(1), copy(1)%value)
    call columns%add("name", copy(1), copy(1)%name)
    call copy_table(list, copy)
  end subroutine

  subroutine copy_logicals(list)
    character(*), intent(in) :: list
    type(logical_entry), allocatable :: copy(:)
    allocate (copy(entries(list)))
    if (size(copy) == 0) return
    call columns%add("value", copy(1), copy(1)%value)
    call columns%add("name", copy(1), copy(1)%name)
    call copy_table(list, copy)
  end subroutine

  subroutine copy_info()
    type(run_info) :: run
    call columns%add("file format version", run, run%version)
    call columns%add("setup call", run, run%setup_call)
    call columns%add("file creation time", run, run%creation_time)
    call columns%add("flash version", run, run%flash_version)
    call columns%add("build date", run, run%build_date)
    call columns%add("build dir", run, run%build_dir)
    call columns%add("build machine", run, run%build_machine)
    call columns%add("cflags", run, run%cflags)
    call columns%add("fflags", run, run%fflags)
    call columns%add("setup time stamp", run, run%setup_time)
    call columns%add("build time stamp", run, run%build_time)
    call copy_table("sim info", run)
  end subroutine
end module

program flash_checkpoint
  use mpi_f08
  use flash_lists
  implicit none
  integer, parameter :: guard = 4
  integer(4), allocatable, asynchronous :: writer(:), of_block(:, :), gid(:, :)
  real(8), allocatable, asynchronous :: place(:, :, :), bounds(:, :, :), unk(:, :, :, :, :)
  character(:), allocatable :: names(:)
  character(len=4), allocatable :: padded(:)
  character(len=500) :: old_path, new_path
  type(stria_options) :: verify, value_range
  integer(8) :: n(4), g(3), links(2), part, first, mine, before
  integer(8), allocatable :: cut(:)
  integer :: rank, v, i, a, b

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, old_path)
  call get_command_argument(2, new_path)
  call verify%set("verify", "true")
  call value_range%set("value_range", "true")
  call old%open(MPI_COMM_WORLD, old_path, verify)
  call new%create(MPI_COMM_WORLD, new_path)
  call copy_info()
  call copy_integers("integer scalars")
  call copy_integers("integer runtime parameters")
  call copy_reals("real scalars")
  call copy_reals("real runtime parameters")
  call copy_strings("string scalars")
  call copy_strings("string runtime parameters")
  call copy_logicals("logical scalars")
  call copy_logicals("logical runtime parameters")
  call old%read_strings("unknown names", names)
  padded = names
  call new%create_string_column("unknown names", padded)
  call begin("refine level")
  call begin("node type")
  call begin("gid")
  call begin("which child")
  call begin("processor number")
  call begin("coordinates")
  call begin("block size")
  call begin("bounding box")
  do v = 1, size(padded)
    call begin(padded(v), value_range)
  end do

  ! Each rank takes what some of the writers had, and puts it as they did: checksums of small rows
  ! are kept by puts.
  links = from(3)%shape()
  n = from(9)%shape()
  allocate (writer(n(4)))
  call from(5)%read([1], writer)
  cut = [1_8, pack([(int(i, 8), i=2, int(n(4)))], writer(2:) /= writer(:n(4) - 1)), n(4) + 1]
  call old%share_rows(size(cut, kind=8) - 1, first, mine)
  before = cut(first) - 1
  associate (blocks => cut(first + mine) - cut(first))
    allocate (of_block(blocks, 4), gid(links(1), blocks), place(3, blocks, 2), bounds(2, 3, blocks))
    ! FLASH's array: the variables of a cell side by side, guard cells around each block.
    g = merge(guard, 0, n(1:3) > 1)  ! none across a plane
    allocate (unk(size(padded), n(1) + 2*g(1), n(2) + 2*g(2), n(3) + 2*g(3), blocks))
  end associate
  do i = 1, 2
    reads = i == 1
    do part = first, first + mine - 1
      a = int(cut(part) - before)
      b = int(cut(part + 1) - before - 1)
      call move_blocks(1, cut(part), of_block(a:b, 1))
      call move_blocks(2, cut(part), of_block(a:b, 2))
      call move_blocks(3, cut(part), gid(:, a:b))
      call move_blocks(4, cut(part), of_block(a:b, 3))
      call move_blocks(5, cut(part), of_block(a:b, 4))
      call move_blocks(6, cut(part), place(:, a:b, 1))
      call move_blocks(7, cut(part), place(:, a:b, 2))
      call move_blocks(8, cut(part), bounds(:, :, a:b))
      do v = 1, size(padded)
        call move_blocks(8 + v, cut(part), &
          unk(v, g(1) + 1:g(1) + n(1), g(2) + 1:g(2) + n(2), g(3) + 1:g(3) + n(3), a:b))
      end do
    end do
    if (reads) call old%commit()  ! reads everything at once
  end do
  call new%commit()  ! and writes it
  call old%close()
  call new%close()
  call verify%free()
  call value_range%free()
  if (rank == 0) print "(2(i0, a))", n(4), " blocks, ", size(padded), " variables"
  call MPI_Finalize()
end program
