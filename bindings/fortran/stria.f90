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
! put takes an array of any numeric type, kind and rank, or a section of one, as it lies: commit
! moves everything at once, and the array must stay and not change before. Give it the attributes
! target and asynchronous unless it is allocatable in a module. What can't stay is copied by the
! call: an expression, a component of an array of a derived type (particles%mass), one value. Only
! of a function whose result is allocatable, and of matmul(), no one can tell: use put_copy. Sizes
! and places are in the order of Fortran and count from 1: in the file, and for C, Python and
! h5dump, the dimensions are in the opposite order, as docs/fortran.md shows.
!
! A file, a dataset, a commit, options and a map of elements are handles. A copy by `=` is another
! name of the same thing, and ends with it: after close or free by one of the names, each call by
! another one is an error, and to close or free once more does nothing. Columns are values.
!
! Every call has an optional `ierr`: stria_ok, or the code of an error, which stria_error_message()
! explains. Without it an error is printed and ends the program. Collective calls (create, open,
! append, flush, commit, commit_async, discard, read, place_rows, append_own_rows, get_attribute and
! what else reads small content, verify) are made by all ranks in the same order, and have the same
! outcome on all.
!
! Numbers are converted to the dataset's type while they are packed, and back; one that it can't
! hold becomes the nearest that it can. Different threads may use different files; one file is used
! by one thread at a time. Memory of an accelerator must be reachable by the CPU.
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
  ! The last of a dataset's sizes may be this: it has no rows yet, and append_rows gives it some.
  integer, parameter, public :: stria_unlimited = -1
  integer, parameter :: i8 = c_int64_t

  ! What a trace records; each level adds to the one before.
  integer, parameter, public :: stria_trace_off = 0, stria_trace_counters = 1, stria_trace_app = 2, &
    stria_trace_library = 3, stria_trace_full = 4

  public :: stria_error_message, stria_version, stria_code_name, stria_remove_abandoned, stria_drain_staged
  public :: stria_is_store_path, stria_path_exists, stria_list_directory, stria_remove_file
  public :: stria_trace_start, stria_trace_start_from_environment, stria_trace_finish, stria_trace_set_level, &
    stria_trace_level, stria_trace_flush, stria_trace_begin, stria_trace_end

  ! stria_trace_start(comm, level, directory [, ierr]) begins a trace of all ranks, and
  ! stria_trace_start_from_environment(comm [, ierr]) the one that STRIA_TRACE asks for; comm is an
  ! integer or of mpi_f08.
  interface stria_trace_start
    procedure :: trace_start_comm
#ifndef STRIA_NO_MPI
    procedure :: trace_start_f08
#endif
  end interface
  interface stria_trace_start_from_environment
    procedure :: trace_from_environment_comm
#ifndef STRIA_NO_MPI
    procedure :: trace_from_environment_f08
#endif
  end interface

  ! Names and values, as stria_options_set() in stria.h takes them: hints, and "sync", "verify",
  ! "value_range" and others.
  type, public :: stria_options
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    ! set(name, value [, ierr]): both are strings.
    procedure :: set => options_set
    ! hint_problems(problems [, ierr]): a sentence on each hint that is unknown or can't be used, an
    ! allocatable list, for programs that warn before they begin.
    procedure :: hint_problems => options_hint_problems
    ! free(): the options are empty again.
    procedure :: free => options_free
  end type

  ! A map of single elements for put_elements and get_elements of any number of datasets.
  type, public :: stria_elements
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int64_t) :: number = 0
  contains
    procedure, private :: define_i4, define_i8
    ! define(places [, ierr]): places(i) is where value i belongs, as the number of the element in
    ! the dataset, counted from 1 in Fortran's order; 0 leaves value i out. In any order; a place
    ! that comes twice is an error. The time is linear in their number.
    generic :: define => define_i4, define_i8
    ! free(): the map is empty again. What was put with it stays put.
    procedure :: free => elements_free
  end type

  ! The columns of a table: which components of a derived type they are.
  type, public :: stria_columns
    private
    ! Each name ends with a zero; three numbers for each column.
    character(kind=c_char), allocatable :: names(:)
    integer(c_int64_t), allocatable :: numbers(:)
  contains
    procedure, private :: add_value, add_letters, add_vector_i1, add_vector_i2, add_vector_i4, add_vector_i8
    procedure, private :: add_vector_r4, add_vector_r8
    ! add(name, record, component [, ierr]): another column. component is one of record, which is
    ! any variable of the type: an integer, a real, a logical, a string, a list of single
    ! characters, or a vector of integers or reals. A vector is an array of the record for other
    ! programs. A logical is an integer of its size, as the compiler has it: 0 is false.
    generic :: add => add_value, add_letters, add_vector_i1, add_vector_i2, add_vector_i4, add_vector_i8, &
      add_vector_r4, add_vector_r8
    ! free(): there are no columns again.
    procedure :: free => columns_free
  end type

  ! A dataset of an open file. It lives as long as the file.
  type, public :: stria_dataset
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: put_i4, put_i8, put_copy_i4, put_copy_i8, get_i4, get_i8, read_i4, read_i8
    ! put(start, array [, ierr]): array goes to where its first element is `start`, one number per
    ! dimension. It must stay and not change until commit or flush; what the compiler passes as a
    ! copy is copied by the call, and so is one value.
    generic :: put => put_i4, put_i8
    ! put_copy(start, array [, ierr]): likewise, with a copy of the array, which may change or go
    ! when the call has returned; the copy takes as much memory until commit or flush.
    generic :: put_copy => put_copy_i4, put_copy_i8
    ! get(start, array [, ierr]): likewise; array is filled by commit or flush, and must stay until
    ! then. A component of an array of a derived type is refused: see get_component.
    generic :: get => get_i4, get_i8
    ! read(start, array [, ierr]): likewise at once, with whatever was got before. Any variable is
    ! filled when the call has returned.
    generic :: read => read_i4, read_i8
    procedure, private :: put_strided_i4, put_strided_i8, put_strided_copy_i4, put_strided_copy_i8, get_strided_i4, &
      get_strided_i8
    ! put_strided(start, stride, array [, ierr]): as put, and the array's elements are `stride`
    ! apart in the dataset, one number per dimension.
    generic :: put_strided => put_strided_i4, put_strided_i8
    ! put_strided_copy(start, stride, array [, ierr]): as put_copy, likewise.
    generic :: put_strided_copy => put_strided_copy_i4, put_strided_copy_i8
    ! get_strided(start, stride, array [, ierr]): as get, likewise.
    generic :: get_strided => get_strided_i4, get_strided_i8
    procedure, private :: read_strided_i4, read_strided_i8
    ! read_strided(start, stride, array [, ierr]): as read, likewise.
    generic :: read_strided => read_strided_i4, read_strided_i8
    procedure, private :: put_component_i4, put_component_i8, get_component_i4, get_component_i8
    ! put_component(start, records, component [, ierr]): as put, of an array of a derived type one
    ! component, as it lies: `component` is that of any one of the records. Where it is an array,
    ! its dimensions come first.
    generic :: put_component => put_component_i4, put_component_i8
    ! get_component(start, records, component [, ierr]): as get, likewise.
    generic :: get_component => get_component_i4, get_component_i8
    ! put_elements(elements, values [, ierr]): as put, value i to place i of the map. values is
    ! contiguous, of any rank, and as long as the map.
    procedure :: put_elements
    ! put_elements_copy(elements, values [, ierr]): as put_copy, likewise.
    procedure :: put_elements_copy
    ! get_elements(elements, values [, ierr]): as get, likewise.
    procedure :: get_elements
    procedure, private :: put_records_i4, put_records_i8, put_records_copy_i4, put_records_copy_i8, get_records_i4, &
      get_records_i8
    ! put_records(start, columns, records [, ierr]): as put, of a dataset of create_records, with
    ! its columns in its order: one record, or a list of them along the first dimension.
    generic :: put_records => put_records_i4, put_records_i8
    ! put_records_copy(start, columns, records [, ierr]): as put_copy, likewise.
    generic :: put_records_copy => put_records_copy_i4, put_records_copy_i8
    ! get_records(start, columns, records [, ierr]): as get, likewise.
    generic :: get_records => get_records_i4, get_records_i8
    ! type(): the constant of its numbers, such as stria_real64.
    procedure :: type => dataset_type
    ! type_name(): "float64", "string[4]", "record[84]" and so on.
    procedure :: type_name => dataset_type_name
    ! path(): where it is in the file.
    procedure :: path => dataset_path
    ! meaning(): what its numbers are to other programs: "number", "bool", "half" or "complex".
    procedure :: meaning => dataset_meaning
    ! filters(): what its chunks pass, such as "shuffle deflate(1)"; "" where there is nothing.
    procedure :: filters => dataset_filters
    ! enumeration(members [, ierr]): the names of its integers' values, an allocatable list of
    ! "NAME=INTEGER"; none where they are no enumeration.
    procedure :: enumeration => dataset_enumeration
    ! dimension(i): the name of its dimension i; "" where it has none.
    procedure :: dimension => dataset_dimension
    ! chunk(): the lengths of its chunks, an integer(c_int64_t) for each dimension; 0 where it has
    ! none.
    procedure :: chunk => dataset_chunk
    ! fill_value(value, given [, ierr]): what elements read as that nobody has put, a number of the
    ! dataset's kind; unless given, it is zero, and value stays as it is.
    procedure :: fill_value => dataset_fill_value
    ! can_grow(): whether the last dimension has no limit, so that append_rows may give it rows.
    procedure :: can_grow => dataset_can_grow
    ! bytes(): of all its elements.
    procedure :: bytes => dataset_bytes
    ! stored_bytes(bytes [, ierr]): those that it takes in an opened file; -1 when only libhdf5 can
    ! tell.
    procedure :: stored_bytes => dataset_stored_bytes
    ! is_contiguous(): whether the raw data lie in one piece.
    procedure :: is_contiguous => dataset_is_contiguous
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

  ! What the last commit or flush did; bytes are sums over all ranks.
  type, public :: stria_report
    integer(c_int64_t) :: useful_bytes = 0, file_bytes = 0
    real(c_double) :: seconds = 0  ! since the file was created or opened, on this rank
    character(:), allocatable :: method, reason  ! those of the last transfer
  end type

  ! What verify found: rows of the last dimension, from first_row to last_row. dataset "" is the
  ! file's own metadata; last_row < first_row: the dataset is missing.
  type, public :: stria_damage
    character(:), allocatable :: dataset
    integer(c_int64_t) :: first_row, last_row
  end type

  abstract interface
    ! Reports progress: bytes that this rank has moved, and that it has to move.
    subroutine stria_progress_report(done_bytes, total_bytes)
      import
      integer(c_int64_t), intent(in) :: done_bytes, total_bytes
    end subroutine
  end interface
  public :: stria_progress_report

  ! An open file. A file that goes out of scope stays open: end it with close.
  type, public :: stria_file
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: create_alone, create_comm, open_alone, open_comm, append_alone, append_comm
    ! create([comm,] path [, options] [, ierr]): comm is an integer or of mpi_f08. Without it the
    ! file belongs to this process.
    generic :: create => create_alone, create_comm
    ! open([comm,] path [, options] [, ierr]): likewise, to read an HDF5 or netCDF file.
    generic :: open => open_alone, open_comm
    ! append([comm,] path [, options] [, ierr]): likewise, to add datasets, rows and attributes to
    ! an HDF5 file. What it has stays readable throughout; the commit makes the new visible at once.
    generic :: append => append_alone, append_comm
#ifndef STRIA_NO_MPI
    procedure, private :: create_f08, open_f08, append_f08
    generic :: create => create_f08
    generic :: open => open_f08
    generic :: append => append_f08
#endif
    procedure, private :: create_dataset_i4, create_dataset_i8
    ! create_dataset(path, type, dims, dataset [, options] [, ierr]): type is one of the constants,
    ! dims has a size for each dimension; dataset is for put.
    generic :: create_dataset => create_dataset_i4, create_dataset_i8
    procedure, private :: append_rows_i4, append_rows_i8
    ! append_rows(path, rows, dataset [, ierr] [, first]): gives a dataset that was made with
    ! stria_unlimited so many more rows, along its last dimension. `first`, of the kind of `rows`,
    ! is the place of the first of them among all rows, from 1: put there and behind it.
    generic :: append_rows => append_rows_i4, append_rows_i8
    ! append_own_rows(path, array [, ierr]): gives it as many more rows as all ranks have together,
    ! and puts this rank's, which are along the array's last dimension, behind those of lower ranks.
    ! The array must stay and not change until commit or flush, as for put. Collective.
    procedure :: append_own_rows
    ! update(path, dataset [, ierr]): takes up a dataset of a file that is added to, to overwrite
    ! elements in the file itself; that is not crash-safe.
    procedure :: update => file_update
    ! dataset(path, dataset [, ierr]): finds a dataset of an opened file, for get and read.
    procedure :: dataset => find_dataset
    ! datasets(paths [, ierr]): the paths of an opened file's datasets, an allocatable list of
    ! strings, filled with blanks to one length.
    procedure :: datasets => file_datasets
    ! create_strings(path, strings [, ierr]): makes a dataset of a list of strings.
    procedure :: create_strings => file_create_strings
    ! create_string_column(path, strings [, ierr]): likewise, of the shape [1, size(strings)].
    procedure :: create_string_column => file_create_string_column
    ! read_strings(path, strings [, ierr]): reads one, into an allocatable list.
    procedure :: read_strings => file_read_strings
    procedure, private :: create_string_dataset_i4, create_string_dataset_i8
    ! create_string_dataset(path, length, dims, dataset [, options] [, ierr]): makes a dataset of
    ! strings of so many characters, filled with blanks, of which every rank puts its own: put and
    ! read take arrays of character(length).
    generic :: create_string_dataset => create_string_dataset_i4, create_string_dataset_i8
    procedure, private :: create_records_i4, create_records_i8
    ! create_records(path, columns, dims, dataset [, options] [, ierr]): makes a dataset of records
    ! of a derived type, for put_records of all ranks.
    generic :: create_records => create_records_i4, create_records_i8
    ! create_table(path, columns, records [, ierr]): makes a small dataset of records, with its
    ! content. All ranks pass the same.
    procedure :: create_table => file_create_table
    ! read_table(path, columns, records [, ierr]): fills these components of an array that has as
    ! many records as the table, which the shape of its dataset tells.
    procedure :: read_table => file_read_table
    ! create_link(path, target [, file] [, ierr]): another name for an object, perhaps of another
    ! file.
    procedure :: create_link => file_create_link
    ! set_attribute(object, name, value [, ierr]): a number, real or complex, a logical, a string,
    ! or a list of one of these; "/" is the file itself.
    procedure, private :: set_i4, set_i8, set_r4, set_r8, set_c4, set_c8, set_l1, set_l2, set_l4, set_l8, set_text, set_texts
    generic :: set_attribute => set_i4, set_i8, set_r4, set_r8, set_c4, set_c8, set_text, set_texts
    generic :: set_attribute => set_l1, set_l2, set_l4, set_l8
    ! get_attribute(object, name, value [, ierr]): converted; a string is filled with blanks. An
    ! attribute that has another number of values, or a longer string, is an error; what fits is in
    ! the value then.
    procedure, private :: get_i4_value, get_i8_value, get_r4_value, get_r8_value, get_c4_value, get_c8_value
    procedure, private :: get_l1_value, get_l2_value, get_l4_value, get_l8_value, get_text, get_texts
    generic :: get_attribute => get_i4_value, get_i8_value, get_r4_value, get_r8_value, get_c4_value, get_c8_value
    generic :: get_attribute => get_l1_value, get_l2_value, get_l4_value, get_l8_value, get_text, get_texts
    ! get_text_attribute(object, name, text [, ierr]): a string, or a list of strings, allocated as
    ! long as it is; those of a list are filled with blanks to one length.
    procedure, private :: get_allocated_text, get_allocated_texts
    generic :: get_text_attribute => get_allocated_text, get_allocated_texts
    ! set_references(object, name, paths [, ierr]): an attribute of references to objects.
    procedure :: set_references => file_set_references
    ! get_references(object, name, paths [, ierr]): the paths, an allocatable list.
    procedure :: get_references => file_get_references
    ! attributes(object, names [, ierr]): the names of an object's attributes, an allocatable list.
    procedure :: attributes => file_attributes
    ! attribute_types(object, types [, ierr]): their types and shapes in the same order, such as
    ! "float64 ()" and "string[4] (3)".
    procedure :: attribute_types => file_attribute_types
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
    ! progress(report): calls the procedure report(done_bytes, total_bytes) while a later commit or
    ! flush moves data. It must not use the file. Without an argument the reports end.
    procedure :: progress => file_progress
    ! has_checksums(): whether the file carries Stria's checksums.
    procedure :: has_checksums => file_has_checksums
    ! verify(damages, remarks [, except] [, ierr]): reads everything and compares it with its
    ! checksums. The first two are allocatable lists; remarks are sentences on what can't be
    ! checked. except: a list of datasets to leave out, the same on all ranks.
    procedure :: verify => file_verify
    ! path(): the file's own.
    ! format(): "hdf5", or "cdf1", "cdf2", "cdf5" of an opened netCDF file.
    procedure :: path => file_path
    procedure :: format => file_format
    ! cleared_bytes(): what append has found behind the end of the file, left there by a commit that
    ! did not complete, and has cleared.
    procedure :: cleared_bytes => file_cleared_bytes
    ! copied_bytes(): the most memory that copies of puts have taken on this rank at a time.
    procedure :: copied_bytes => file_copied_bytes
    ! report(): what the last commit or flush did, a stria_report.
    procedure :: report => file_report
    ! phase(name): seconds of this rank in "open", "metadata", "pack", "unpack", "exchange",
    ! "write", "read", "sync" or "commit"; -1 for any other name.
    procedure :: phase => file_phase
    ! hints(list [, ierr]): "name=value" of the hints in effect, an allocatable list.
    procedure :: hints => file_hints
    ! hint_warnings(list [, ierr]): what was wrong with those that were given.
    procedure :: hint_warnings => file_hint_warnings
    ! discard([ierr]): gives up a new file. Nothing of it is left.
    procedure :: discard => file_discard
    ! close(): ends the handle. A new file that was not committed is given up; no rank waits.
    procedure :: close => file_close
  end type

  ! How something moves, and structs, as in descriptors.h.
  integer(c_int), parameter :: way_put = 1, way_put_copy = 2, way_get = 3, way_get_into_copy = 4, way_read = 5
  type, bind(c) :: c_place
    integer(c_int64_t) :: start(15) = 0, stride(15) = 1
    integer(c_int) :: count = 0, has_stride = 0
  end type
  type, bind(c) :: c_columns
    type(c_ptr) :: names = c_null_ptr, numbers = c_null_ptr
    integer(c_int64_t) :: count = 0
  end type
  ! Structs of stria.h.
  type, bind(c) :: c_report
    integer(c_int64_t) :: useful_bytes, file_bytes
    real(c_double) :: seconds
    type(c_ptr) :: method, reason
  end type
  type, bind(c) :: c_damage
    type(c_ptr) :: dataset
    integer(c_int64_t) :: first_row, last_row
  end type

  ! What is called in C; then the procedures of the types.
#include "c_files.inc"
#include "c_datasets.inc"
#include "c_content.inc"
#include "c_tables.inc"
#include "c_tracing.inc"

contains

#include "texts.inc"
#include "files.inc"
#include "datasets.inc"
#include "transfers.inc"
#include "attributes.inc"
#include "tables.inc"
#include "checks.inc"
#include "tracing.inc"
end module
