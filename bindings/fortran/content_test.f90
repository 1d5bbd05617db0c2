! Small content: attributes of every kind, lists of names, strings, links; and what a file tells of
! itself.
module progress_of_rank
  use, intrinsic :: iso_fortran_env
  implicit none
  integer(int64) :: told(2) = 0

contains

  subroutine note(done_bytes, total_bytes)
    integer(int64), intent(in) :: done_bytes, total_bytes
    if (done_bytes < told(1) .or. done_bytes > total_bytes) error stop "progress goes back, or too far"
    told = [done_bytes, total_bytes]
  end subroutine
end module

program content_test
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use progress_of_rank
  use stria
  implicit none
  character(*), parameter :: path = "fortran_content_test.h5"
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call trace_the_writing()
  call read_file()
  call look_at_storage()
  call look_after()
  call places_that_do_not_fit()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call remove_file(path)
  call MPI_Finalize()

contains

  include "test_support.inc"

  ! A region of this program is in the trace.
  subroutine trace_the_writing()
    character(:), allocatable :: trace, bytes
    integer :: code, unit, size_bytes
    call stria_trace_start_from_environment(MPI_COMM_WORLD)  ! it asks for nothing
    call stria_trace_start(MPI_COMM_WORLD, stria_trace_app, ".")
    call stria_trace_start(MPI_COMM_WORLD%MPI_VAL, stria_trace_app, ".", ierr=code)
    call check(code == stria_invalid_argument .and. stria_trace_level() == stria_trace_app, "one run")
    call stria_trace_begin("content_of_fortran")
    call write_file()
    call stria_trace_end()
    call stria_trace_end(ierr=code)
    call check(code == stria_invalid_argument, "no region")
    call stria_trace_set_level(stria_trace_off)
    call stria_trace_flush()
    call stria_trace_finish(trace)
    if (rank == 0) then
      inquire (file=trace, size=size_bytes)
      allocate (character(size_bytes) :: bytes)
      open (newunit=unit, file=trace, access="stream", status="old")
      read (unit) bytes
      close (unit)
      call check(index(bytes, "content_of_fortran") > 0, "the region")
      call stria_remove_file(trace)
    end if
  end subroutine

  ! What is stored how, and names of files.
  subroutine look_at_storage()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_options) :: options
    type(stria_damage), allocatable :: damages(:)
    character(:), allocatable :: list(:), remarks(:)
    integer(int64) :: stored
    integer(int32) :: unset
    integer :: code
    real(real64) :: every_third(334)
    logical :: exists
    call file%open(MPI_COMM_WORLD, path)
    call check(file%path() == path .and. file%format() == "hdf5" .and. file%cleared_bytes() == 0, "the file")
    call file%dataset("run/x", dataset)
    call check(dataset%path() == "run/x" .and. dataset%meaning() == "number", "the dataset")
    call dataset%stored_bytes(stored)
    call check(dataset%filters() == "" .and. dataset%is_contiguous() .and. dataset%bytes() == 8000 * ranks, "plain")
    call check(stored == dataset%bytes(), "stored")
    call check(dataset%dimension(1) == "" .and. all(dataset%chunk() == 0) .and. .not. dataset%can_grow(), "fixed")
    call file%dataset("run/series", dataset)
    call check(dataset%dimension(1) == "x" .and. dataset%dimension(2) == "time" .and. dataset%dimension(3) == "", "dimensions")
    call check(all(dataset%chunk() == [7, 2]) .and. dataset%can_grow(), "chunks")
    call dataset%enumeration(list)
    call check(size(list) == 2 .and. list(1) == "UNSET=-9" .and. list(2) == "ON=1", "enumeration")
    call dataset%fill_value(unset, exists)
    call check(exists .and. unset == -9, "fill value")
    call dataset%fill_value(every_third(1), exists, code)
    call check(code == stria_invalid_argument, "of another kind")
    call file%dataset("run/x", dataset)
    call dataset%read_strided([1, rank + 1], [3, 1], every_third)
    call check(all(every_third == rank), "every third")
    call file%verify(damages, remarks, except=["run/x", "names"])
    call check(size(damages) == 0, "the rest")
    call file%close()
    call options%set("cb_nodes", "none")
    call options%hint_problems(list)
    call options%free()
    call check(size(list) == 1 .and. index(list(1), "cb_nodes") > 0, "problems")
    call stria_path_exists(path, exists)
    call stria_list_directory(".", list)
    call check(exists .and. any(list == path) .and. .not. stria_is_store_path(path), "names")
  end subroutine

  subroutine write_file()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    type(stria_options) :: options
    type(stria_report) :: report
    real(real64), asynchronous :: row(1000)
    row = rank
    call file%create(MPI_COMM_WORLD, path)
    call file%create_dataset("run/x", stria_real64, [1000, ranks], dataset)
    call dataset%put([1, rank + 1], row)
    call options%set("dimensions", "time,x")
    call options%set("chunk", "2,7")
    call options%set("fill_value", "-9")
    call options%set("enumeration", "UNSET=-9,ON=1")
    call file%create_dataset("run/series", stria_int32, [7, stria_unlimited], dataset, options)
    call options%free()
    call file%create_strings("names", ["dens", "pres", "a b "])
    call file%create_string_column("column", ["dens", "pres"])
    call file%set_attribute("run/x", "z", (1d0, -2d0))
    call file%set_attribute("run/x", "list", [(0.5, 1.0), (2.0, 3.0)])
    call file%set_attribute("/", "array", reshape([1, 2, 3, 4, 5, 6], [2, 3]))
    call file%set_attribute("run/x", "on", .true.)
    call file%set_attribute("run/x", "flags", [.true., .false., .true.])
    call file%set_attribute("run/x", "bytes", [logical(int8) :: .true., .false.])
    call file%set_attribute("run/x", "unit", "g/cm^3")
    call file%set_attribute("run/x", "axes", ["x   ", "phi "])
    call file%set_references("/", "all", ["run/x", "names"])
    call file%create_link("y", "run/x")
    call file%create_link("far", "x", file="other.h5")
    call file%progress(note)
    call file%flush()
    call file%progress()
    call check(told(1) == 8000 .and. told(2) == 8000, "progress to the end")
    call file%commit()
    report = file%report()
    call check(report%file_bytes > 0 .or. rank > 0, "bytes")
    call check(report%seconds > 0 .and. len(report%reason) > 0, "a report")
    call check(file%phase("write") >= 0 .and. file%phase("nothing") == -1, "phases")
    call file%close()
  end subroutine

  ! What is wrong with a place is told in the order of Fortran, and counted from 1.
  subroutine places_that_do_not_fit()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    integer(int32), asynchronous :: part(4, 3) = 1
    integer :: code
    call file%create("places_" // achar(iachar("a") + rank) // ".h5")
    call file%create_dataset("dens", stria_int32, [5, 7], dataset)
    call dataset%put([2, 6], part, ierr=code)
    call check(code == stria_invalid_argument, "past the end")
    call check(index(stria_error_message(), "dimension 2 an array of 3 from 6 on passes the end at 7") > 0, "where")
    call dataset%put([0, 1], part, ierr=code)
    call check(index(stria_error_message(), "dimension 1 the place is 0") > 0, "before the beginning")
    call dataset%put_strided([1, 1], [2, 2], part, ierr=code)
    call check(index(stria_error_message(), "dimension 1 an array of 4 from 1 on with this stride") > 0, "a stride")
    call dataset%put([1, 8], part(:, 1:0), ierr=code)
    call check(code == stria_ok, "nothing has a place everywhere")
    call file%close()
  end subroutine

  ! Nothing is cut off, and nothing is missing, without a word.
  subroutine attributes_that_do_not_fit(file)
    type(stria_file), intent(inout) :: file
    character(3) :: short
    character(:), allocatable :: text, texts(:)
    integer(int32) :: many(7)
    logical(int8) :: bytes(2)
    logical :: three(3)
    integer :: code
    call file%get_attribute("run/x", "unit", short, ierr=code)
    call check(code == stria_invalid_argument .and. short == "g/c", "a string that is cut off")
    call check(index(stria_error_message(), "has 6 characters, the variable takes 3") > 0, "its length is told")
    call file%get_attribute("/", "array", many, ierr=code)
    call check(code == stria_invalid_argument .and. all(many(:6) == [1, 2, 3, 4, 5, 6]), "fewer values than asked for")
    call check(index(stria_error_message(), "has 6 values, the variable takes 7") > 0, "their number is told")
    call file%get_attribute("run/x", "bytes", three, ierr=code)
    call check(code == stria_invalid_argument, "fewer logicals")
    call file%get_attribute("run/x", "bytes", bytes)
    call check(logical(bytes(1) .and. .not. bytes(2)), "logicals of a byte")
    call file%get_text_attribute("run/x", "unit", text)
    call check(text == "g/cm^3" .and. len(text) == 6, "a string, as long as it is")
    call file%get_text_attribute("run/x", "axes", texts)
    call check(size(texts) == 2 .and. texts(1) == "x" .and. texts(2) == "phi" .and. len(texts) >= 3, "a list of strings")
    call file%get_text_attribute("run/x", "axes", text, ierr=code)
    call check(code == stria_invalid_argument .and. text == "", "a list is no string")
    call file%get_text_attribute("run/x", "none", text, ierr=code)
    call check(code == stria_not_found .and. text == "", "no such attribute")
  end subroutine

  subroutine read_file()
    type(stria_file) :: file
    type(stria_dataset) :: dataset
    character(:), allocatable :: list(:)
    complex(real64) :: z
    complex(real32) :: pairs(2)
    integer(int32) :: array(3, 3) = 0
    logical :: on, flags(3)
    logical(int8) :: short(3)
    call file%open(MPI_COMM_WORLD, path)
    call file%datasets(list)
    call check(size(list) == 5 .and. any(list == "run/x") .and. any(list == "y") .and. any(list == "names"), "datasets")
    call file%dataset("run/x", dataset)
    call check(dataset%type() == stria_real64 .and. dataset%type_name() == "float64", "types")
    call file%read_strings("names", list)
    call check(size(list) == 3 .and. all(list == ["dens", "pres", "a b "]), "strings")
    call file%read_strings("column", list)
    call file%dataset("column", dataset)
    call check(size(list) == 2 .and. all(list == ["dens", "pres"]) .and. all(dataset%shape() == [1, 2]), "a column")
    call file%attributes("run/x", list)
    call check(size(list) == 7 .and. any(list == "flags"), "names of attributes")
    call file%attribute_types("run/x", list)
    call check(any(list == "bool (3)") .and. any(list == "bool ()"), "types of attributes")
    call file%get_attribute("run/x", "z", z)
    call file%get_attribute("run/x", "list", pairs)
    call check(z == (1d0, -2d0) .and. all(pairs == [(0.5, 1.0), (2.0, 3.0)]), "complex numbers")
    call file%get_attribute("/", "array", array(::2, :))
    call check(all(reshape(array(::2, :), [6]) == [1, 2, 3, 4, 5, 6]) .and. all(array(2, :) == 0), "an array")
    call file%attribute_types("/", list)
    call check(any(list == "int32 (3, 2)"), "its shape, in C's order")
    call file%get_attribute("run/x", "on", on)
    call file%get_attribute("run/x", "flags", flags)
    short = flags
    call check(on .and. all(flags .eqv. [.true., .false., .true.]) .and. count(short) == 2, "logicals")
    call attributes_that_do_not_fit(file)
    call file%get_references("/", "all", list)
    call check(size(list) == 2 .and. all(list == ["/run/x", "/names"]), "references")
    call file%close()
  end subroutine

  subroutine look_after()
    type(stria_file) :: file
    type(stria_damage), allocatable :: damages(:)
    character(:), allocatable :: list(:), remarks(:)
    type(stria_options) :: options
    integer :: code, unit
    call options%set("cb_nodes", "1")
    call options%set("cb_buffer_size", "many")
    call file%open(MPI_COMM_WORLD, path, options)
    call options%free()
    call file%hints(list)
    call check(any(list == "cb_nodes=1"), "hints")
    call file%hint_warnings(list)
    call check(size(list) == 1 .and. index(list(1), "cb_buffer_size") > 0, "warnings")
    call check(file%has_checksums(), "checksums")
    call file%verify(damages, remarks)
    call check(size(damages) == 0 .and. size(remarks) == 0, "a whole file")
    call file%close()
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) then  ! a byte of the first row
      open (newunit=unit, file=path, access="stream", status="old")
      write (unit, pos=65536 + 101) 7_int8
      close (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    call file%open(MPI_COMM_WORLD, path)
    call file%verify(damages, remarks, ierr=code)
    call check(code == stria_ok .and. size(damages) == 1, "damage")
    call check(damages(1)%dataset == "run/x" .and. damages(1)%first_row == 1 .and. damages(1)%last_row == 1, "its place")
    call file%verify(damages, remarks, except=["run/x"])
    call check(size(damages) == 0, "damage that is left out")
    call file%close()
    if (rank == 0) then
      call stria_remove_abandoned(".", "no such name", list)
      call check(size(list) == 0, "nothing abandoned")
      call stria_drain_staged("no such place", list)
      call check(size(list) == 0, "nothing staged")
      call stria_drain_staged(path, list, ierr=code)
      call check(code /= stria_ok .and. size(list) == 0, "a place that is no directory")
    end if
    call check(stria_code_name(stria_no_space) == "no_space" .and. index(stria_version(), ".") > 0, "names")
  end subroutine
end program
