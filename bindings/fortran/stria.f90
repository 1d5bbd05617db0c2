! Stria for Fortran: one standard HDF5 file, written and read by all ranks of a communicator.
!
!   use stria
!   type(stria_file) :: file
!   type(stria_dataset) :: dens
!   call file%create(MPI_COMM_WORLD, "run_chk_0001.h5")
!   call file%create_dataset("dens", stria_real64, [8, 8, 8, blocks], dens)
!   call dens%put([1, 1, 1, first_block], unk(1, 5:12, 5:12, 5:12, 1:mine))
!   call file%commit()
!   call file%close()
!
! put takes an array of any numeric type, kind and rank, or a section of one, as it lies. Nothing is
! copied until commit, which moves everything at once. The array must not change before; give it the
! attributes target and asynchronous unless it is allocatable in a module. Sizes and places are in
! the order of Fortran and count from 1: in the file, and for C, Python and h5dump, the dimensions
! are in the opposite order, as docs/fortran.md shows.
!
! Every call has an optional `ierr`: stria_ok, or the code of an error, which stria_error_message()
! explains. Without it an error is printed and ends the program. Collective calls (create, open,
! flush, commit, commit_async, discard, read, place_rows, get_attribute) are made by all ranks in
! the same order, and have the same outcome on all.
module stria
  use, intrinsic :: iso_c_binding
#ifndef STRIA_NO_MPI
  use mpi_f08, only: MPI_Comm
#endif
  implicit none
  private

  integer, parameter, public :: stria_ok = 0, stria_invalid_argument = 1, stria_not_found = 2, stria_already_exists = 3, &
    stria_permission_denied = 4, stria_read_only = 5, stria_no_space = 6, stria_io = 7, stria_format = 8, &
    stria_corrupted = 9, stria_unsupported = 10, stria_resource_exhausted = 11, stria_aborted = 12, stria_internal = 13
  ! Types of the numbers of a dataset; what is put and got is converted.
  integer, parameter, public :: stria_int8 = 1, stria_uint8 = 2, stria_int16 = 3, stria_uint16 = 4, stria_int32 = 5, &
    stria_uint32 = 6, stria_int64 = 7, stria_uint64 = 8, stria_real32 = 9, stria_real64 = 10
  integer, parameter :: i8 = c_int64_t

  public :: stria_error_message

  ! Names and values, as stria_options_set() in stria.h takes them: hints, and "sync", "verify",
  ! "value_range" and others.
  type, public :: stria_options
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    ! set(name, value [, ierr]): both are strings.
    procedure :: set => options_set
    ! free(): the options are empty again.
    procedure :: free => options_free
  end type

  ! A dataset of an open file. It lives as long as the file.
  type, public :: stria_dataset
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: put_i4, put_i8, get_i4, get_i8, read_i4, read_i8
    ! put(start, array [, ierr]): array goes to where its first element is `start`, one number
    ! per dimension.
    generic :: put => put_i4, put_i8
    ! get(start, array [, ierr]): likewise; array is filled by commit or flush.
    generic :: get => get_i4, get_i8
    ! read(start, array [, ierr]): likewise at once, with whatever was got before.
    generic :: read => read_i4, read_i8
    ! rank(): the number of dimensions.
    procedure :: rank => dataset_rank
    ! shape(): the sizes, an integer(c_int64_t) for each dimension.
    procedure :: shape => dataset_shape
  end type

  ! A commit that goes on while the program computes, of commit_async.
  type, public :: stria_commit
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    ! done(): true when wait would not block.
    procedure :: done => commit_done
    ! wait([ierr]): until the commit has ended; the error is that of the commit, on every rank.
    procedure :: wait => commit_wait
    ! free(): forgets the commit, which goes on.
    procedure :: free => commit_free
  end type

  ! An open file. A file that goes out of scope stays open: end it with close.
  type, public :: stria_file
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: create_alone, create_comm, open_alone, open_comm
    ! create([comm,] path [, options] [, ierr]): comm is an integer or of mpi_f08. Without it the
    ! file belongs to this process.
    generic :: create => create_alone, create_comm
    ! open([comm,] path [, options] [, ierr]): likewise, to read an HDF5 or netCDF file.
    generic :: open => open_alone, open_comm
#ifndef STRIA_NO_MPI
    procedure, private :: create_f08, open_f08
    generic :: create => create_f08
    generic :: open => open_f08
#endif
    procedure, private :: create_dataset_i4, create_dataset_i8
    ! create_dataset(path, type, dims, dataset [, options] [, ierr]): type is one of the constants,
    ! dims has a size for each dimension; dataset is for put.
    generic :: create_dataset => create_dataset_i4, create_dataset_i8
    ! dataset(path, dataset [, ierr]): finds a dataset of an opened file, for get and read.
    procedure :: dataset => find_dataset
    ! set_attribute(object, name, value [, ierr]): a number, a string, or a list of either; "/" is
    ! the file itself.
    procedure, private :: set_i4, set_i8, set_r4, set_r8, set_text, set_texts
    generic :: set_attribute => set_i4, set_i8, set_r4, set_r8, set_text, set_texts
    ! get_attribute(object, name, value [, ierr]): converted; a string is cut off or
    ! filled with blanks.
    procedure, private :: get_i4_value, get_i8_value, get_r4_value, get_r8_value, get_text, get_texts
    generic :: get_attribute => get_i4_value, get_i8_value, get_r4_value, get_r8_value, get_text, get_texts
    ! place_rows(count, first, total [, ierr]): where this rank's part begins when the parts of all
    ! ranks follow each other, in order of ranks, along the last dimension; and the size of all.
    ! share_rows(total, first, count [, ierr]): this rank's part when all share it evenly.
    procedure, private :: place_rows_i4, place_rows_i8, share_rows_i4, share_rows_i8
    generic :: place_rows => place_rows_i4, place_rows_i8
    generic :: share_rows => share_rows_i4, share_rows_i8
    ! flush([ierr]): moves everything put or got so far. The file stays unfinished.
    procedure :: flush => file_flush
    ! commit([ierr]): likewise, and a new file is completed and takes its name.
    procedure :: commit => file_commit
    ! commit_async(commit [, ierr]): as commit, but returns once this rank's data are packed into
    ! memory. The arrays may change then, and the file may be closed.
    procedure :: commit_async => file_commit_async
    ! discard([ierr]): gives up a new file. Nothing of it is left.
    procedure :: discard => file_discard
    ! close(): ends the handle. A new file that was not committed is given up; no rank waits.
    procedure :: close => file_close
  end type

  interface
    function c_options_new(options) bind(c, name="stria_options_new") result(code)
      import
      type(c_ptr), intent(out) :: options
      integer(c_int) :: code
    end function
    function c_options_set(options, name, value) bind(c, name="stria_options_set") result(code)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: code
    end function
    subroutine c_options_free(options) bind(c, name="stria_options_free")
      import
      type(c_ptr), value :: options
    end subroutine
    function c_create(path, options, file) bind(c, name="stria_create") result(code)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: file
      integer(c_int) :: code
    end function
    function c_open(path, options, file) bind(c, name="stria_open") result(code)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: file
      integer(c_int) :: code
    end function
    function c_create_f(comm, path, options, file) bind(c, name="stria_create_f") result(code)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: file
      integer(c_int) :: code
    end function
    function c_open_f(comm, path, options, file) bind(c, name="stria_open_f") result(code)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: file
      integer(c_int) :: code
    end function
    function c_flush(file) bind(c, name="stria_flush") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int) :: code
    end function
    function c_commit(file) bind(c, name="stria_commit") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int) :: code
    end function
    function c_commit_async(file, commit) bind(c, name="stria_commit_async") result(code)
      import
      type(c_ptr), value :: file
      type(c_ptr), intent(out) :: commit
      integer(c_int) :: code
    end function
    function c_commit_done(commit) bind(c, name="stria_commit_done") result(done)
      import
      type(c_ptr), value :: commit
      integer(c_int) :: done
    end function
    function c_commit_wait(commit) bind(c, name="stria_commit_wait") result(code)
      import
      type(c_ptr), value :: commit
      integer(c_int) :: code
    end function
    subroutine c_commit_free(commit) bind(c, name="stria_commit_free")
      import
      type(c_ptr), intent(inout) :: commit
    end subroutine
    function c_discard(file) bind(c, name="stria_discard") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int) :: code
    end function
    subroutine c_close(file) bind(c, name="stria_close")
      import
      type(c_ptr), intent(inout) :: file
    end subroutine
    function c_create_dataset(file, path, element, dims, rank, options, dataset) bind(c, name="stria_f_create_dataset") &
      result(code)
      import
      type(c_ptr), value :: file, options
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: element, rank
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(out) :: dataset
      integer(c_int) :: code
    end function
    function c_find_dataset(file, path, dataset) bind(c, name="stria_find_dataset") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: dataset
      integer(c_int) :: code
    end function
    function c_dataset_rank(dataset) bind(c, name="stria_dataset_rank") result(rank)
      import
      type(c_ptr), value :: dataset
      integer(c_int) :: rank
    end function
    function c_dims(dataset, dims, count) bind(c, name="stria_f_dims") result(code)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(out) :: dims(*)
      integer(c_int), value :: count
      integer(c_int) :: code
    end function
    function c_put(dataset, start, count, array) bind(c, name="stria_f_put") result(code)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: count
      type(*), dimension(..), intent(in) :: array
      integer(c_int) :: code
    end function
    function c_get(dataset, start, count, array) bind(c, name="stria_f_get") result(code)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: count
      type(*), dimension(..), intent(inout) :: array
      integer(c_int) :: code
    end function
    function c_read(dataset, start, count, array) bind(c, name="stria_f_read") result(code)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: count
      type(*), dimension(..), intent(inout) :: array
      integer(c_int) :: code
    end function
    function c_place_rows(file, count, rows) bind(c, name="stria_place_rows") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(inout) :: rows(3)
      integer(c_int) :: code
    end function
    function c_share_rows(file, total, rows) bind(c, name="stria_share_rows") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: total
      integer(c_int64_t), intent(inout) :: rows(3)
      integer(c_int) :: code
    end function
    function c_set_attribute(file, object, name, value) bind(c, name="stria_f_set_attribute") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: object(*), name(*)
      type(*), dimension(..), intent(in) :: value
      integer(c_int) :: code
    end function
    function c_get_attribute(file, object, name, value) bind(c, name="stria_f_get_attribute") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: object(*), name(*)
      type(*), dimension(..), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_message() bind(c, name="stria_error_message") result(message)
      import
      type(c_ptr) :: message
    end function
    function c_message_length() bind(c, name="stria_f_message_length") result(length)
      import
      integer(c_int64_t) :: length
    end function
    subroutine c_copy_text(from, to, length) bind(c, name="stria_f_copy_text")
      import
      type(c_ptr), value :: from
      character(kind=c_char), intent(inout) :: to(*)
      integer(c_int64_t), value :: length
    end subroutine
    subroutine c_stop(call) bind(c, name="stria_f_stop")
      import
      character(kind=c_char), intent(in) :: call(*)
    end subroutine
  end interface

contains

  ! The message of the last call that failed.
  function stria_error_message() result(message)
    character(:), allocatable :: message
    allocate (character(int(c_message_length())) :: message)
    call c_copy_text(c_message(), message, len(message, i8))
  end function

  subroutine finish(call, code, ierr)
    character(*), intent(in) :: call
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = code
    else if (code /= stria_ok) then
      call c_stop(call // c_null_char)
    end if
  end subroutine

  function handle_of(options) result(handle)
    type(stria_options), intent(in), optional :: options
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(options)) handle = options%handle
  end function

  function c_text(text) result(terminated)
    character(*), intent(in) :: text
    character(:), allocatable :: terminated
    terminated = trim(text) // c_null_char
  end function

  subroutine options_set(self, name, value, ierr)
    class(stria_options), intent(inout) :: self
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = stria_ok
    if (.not. c_associated(self%handle)) code = c_options_new(self%handle)
    if (code == stria_ok) code = c_options_set(self%handle, c_text(name), c_text(value))
    call finish("options%set", code, ierr)
  end subroutine

  subroutine options_free(self)
    class(stria_options), intent(inout) :: self
    call c_options_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine create_alone(self, path, options, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call finish("create", c_create(c_text(path), handle_of(options), self%handle), ierr)
  end subroutine

  subroutine create_comm(self, comm, path, options, ierr)
    class(stria_file), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call finish("create", c_create_f(int(comm, c_int), c_text(path), handle_of(options), self%handle), ierr)
  end subroutine

  subroutine open_alone(self, path, options, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call finish("open", c_open(c_text(path), handle_of(options), self%handle), ierr)
  end subroutine

  subroutine open_comm(self, comm, path, options, ierr)
    class(stria_file), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call finish("open", c_open_f(int(comm, c_int), c_text(path), handle_of(options), self%handle), ierr)
  end subroutine

#ifndef STRIA_NO_MPI
  subroutine create_f08(self, comm, path, options, ierr)
    class(stria_file), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call create_comm(self, comm%MPI_VAL, path, options, ierr)
  end subroutine

  subroutine open_f08(self, comm, path, options, ierr)
    class(stria_file), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call open_comm(self, comm%MPI_VAL, path, options, ierr)
  end subroutine
#endif

  subroutine create_dataset_i4(self, path, type, dims, dataset, options, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(in) :: type
    integer(c_int32_t), intent(in) :: dims(:)
    type(stria_dataset), intent(out) :: dataset
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call create_dataset_i8(self, path, type, int(dims, i8), dataset, options, ierr)
  end subroutine

  subroutine create_dataset_i8(self, path, type, dims, dataset, options, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(in) :: type
    integer(c_int64_t), intent(in) :: dims(:)
    type(stria_dataset), intent(out) :: dataset
    type(stria_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call finish("create_dataset", c_create_dataset(self%handle, c_text(path), int(type, c_int), dims, size(dims), &
      handle_of(options), dataset%handle), ierr)
  end subroutine

  subroutine find_dataset(self, path, dataset, ierr)
    class(stria_file), intent(in) :: self
    character(*), intent(in) :: path
    type(stria_dataset), intent(out) :: dataset
    integer, intent(out), optional :: ierr
    call finish("dataset", c_find_dataset(self%handle, c_text(path), dataset%handle), ierr)
  end subroutine

  function dataset_rank(self) result(dimensions)
    class(stria_dataset), intent(in) :: self
    integer :: dimensions
    dimensions = c_dataset_rank(self%handle)
  end function

  function dataset_shape(self) result(dims)
    class(stria_dataset), intent(in) :: self
    integer(c_int64_t), allocatable :: dims(:)
    integer(c_int) :: code
    allocate (dims(self%rank()))
    code = c_dims(self%handle, dims, size(dims))
    if (code /= stria_ok) dims = 0
  end function

  subroutine put_i4(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int32_t), intent(in) :: start(:)
    type(*), dimension(..), intent(in), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("put", c_put(self%handle, int(start, i8), size(start), array), ierr)
  end subroutine

  subroutine put_i8(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int64_t), intent(in) :: start(:)
    type(*), dimension(..), intent(in), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("put", c_put(self%handle, start, size(start), array), ierr)
  end subroutine

  subroutine get_i4(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int32_t), intent(in) :: start(:)
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("get", c_get(self%handle, int(start, i8), size(start), array), ierr)
  end subroutine

  subroutine get_i8(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int64_t), intent(in) :: start(:)
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("get", c_get(self%handle, start, size(start), array), ierr)
  end subroutine

  subroutine read_i4(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int32_t), intent(in) :: start(:)
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("read", c_read(self%handle, int(start, i8), size(start), array), ierr)
  end subroutine

  subroutine read_i8(self, start, array, ierr)
    class(stria_dataset), intent(in) :: self
    integer(c_int64_t), intent(in) :: start(:)
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer, intent(out), optional :: ierr
    call finish("read", c_read(self%handle, start, size(start), array), ierr)
  end subroutine

  subroutine place_rows_i8(self, count, first, total, ierr)
    class(stria_file), intent(inout) :: self
    integer(c_int64_t), intent(in) :: count
    integer(c_int64_t), intent(out) :: first, total
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: rows(3)
    rows = 0
    call finish("place_rows", c_place_rows(self%handle, count, rows), ierr)
    first = rows(1) + 1
    total = rows(3)
  end subroutine

  subroutine place_rows_i4(self, count, first, total, ierr)
    class(stria_file), intent(inout) :: self
    integer(c_int32_t), intent(in) :: count
    integer(c_int32_t), intent(out) :: first, total
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: first_i8, total_i8
    call place_rows_i8(self, int(count, i8), first_i8, total_i8, ierr)
    first = int(first_i8, c_int32_t)
    total = int(total_i8, c_int32_t)
  end subroutine

  subroutine share_rows_i8(self, total, first, count, ierr)
    class(stria_file), intent(in) :: self
    integer(c_int64_t), intent(in) :: total
    integer(c_int64_t), intent(out) :: first, count
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: rows(3)
    rows = 0
    call finish("share_rows", c_share_rows(self%handle, total, rows), ierr)
    first = rows(1) + 1
    count = rows(2)
  end subroutine

  subroutine share_rows_i4(self, total, first, count, ierr)
    class(stria_file), intent(in) :: self
    integer(c_int32_t), intent(in) :: total
    integer(c_int32_t), intent(out) :: first, count
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: first_i8, count_i8
    call share_rows_i8(self, int(total, i8), first_i8, count_i8, ierr)
    first = int(first_i8, c_int32_t)
    count = int(count_i8, c_int32_t)
  end subroutine

  ! A compiler may forget that a string is one when it goes through type(*) twice, so there is one
  ! specific procedure per type.
  subroutine set_i4(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    integer(c_int32_t), dimension(..), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine set_i8(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    integer(c_int64_t), dimension(..), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine set_r4(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    real(c_float), dimension(..), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine set_r8(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    real(c_double), dimension(..), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine set_text(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    character(*), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine set_texts(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    character(*), dimension(:), intent(in) :: value
    integer, intent(out), optional :: ierr
    call finish("set_attribute", c_set_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_i4_value(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    integer(c_int32_t), dimension(..), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_i8_value(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    integer(c_int64_t), dimension(..), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_r4_value(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    real(c_float), dimension(..), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_r8_value(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    real(c_double), dimension(..), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_text(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    character(*), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine get_texts(self, object, name, value, ierr)
    class(stria_file), intent(inout) :: self
    character(*), intent(in) :: object, name
    character(*), dimension(:), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call finish("get_attribute", c_get_attribute(self%handle, c_text(object), c_text(name), value), ierr)
  end subroutine

  subroutine file_flush(self, ierr)
    class(stria_file), intent(inout) :: self
    integer, intent(out), optional :: ierr
    call finish("flush", c_flush(self%handle), ierr)
  end subroutine

  subroutine file_commit(self, ierr)
    class(stria_file), intent(inout) :: self
    integer, intent(out), optional :: ierr
    call finish("commit", c_commit(self%handle), ierr)
  end subroutine

  subroutine file_commit_async(self, commit, ierr)
    class(stria_file), intent(inout) :: self
    type(stria_commit), intent(inout) :: commit
    integer, intent(out), optional :: ierr
    call commit%free()
    call finish("commit_async", c_commit_async(self%handle, commit%handle), ierr)
  end subroutine

  logical function commit_done(self)
    class(stria_commit), intent(in) :: self
    commit_done = c_commit_done(self%handle) /= 0
  end function

  subroutine commit_wait(self, ierr)
    class(stria_commit), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = stria_ok
    if (c_associated(self%handle)) code = c_commit_wait(self%handle)
    call finish("commit%wait", code, ierr)
    call self%free()
  end subroutine

  subroutine commit_free(self)
    class(stria_commit), intent(inout) :: self
    call c_commit_free(self%handle)
  end subroutine

  subroutine file_discard(self, ierr)
    class(stria_file), intent(inout) :: self
    integer, intent(out), optional :: ierr
    call finish("discard", c_discard(self%handle), ierr)
  end subroutine

  ! Ends the file on this rank. A new file that was not committed is abandoned. It waits for
  ! no other rank.
  subroutine file_close(self)
    class(stria_file), intent(inout) :: self
    call c_close(self%handle)
  end subroutine
end module
