! The MPI-IO of `use mpi_f08`: opening, views, every pointer, every way of waiting, hints,
! errors, sizes. Each rank's integers lie interleaved with the others'; what is read back must be
! what was written.
program fortran_mpi_f08
  use mpi_f08
  implicit none
  integer, parameter :: n = 240
  type(MPI_File) :: file
  type(MPI_Info) :: info, used
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Datatype) :: filetype, got_etype, got_filetype
  type(MPI_Group) :: group
  type(MPI_Errhandler) :: handler
  integer :: rank, ranks, ierr, i, count, amode, failures
  integer(MPI_OFFSET_KIND) :: displacement, size, position
  integer, asynchronous :: values(n), back(n)
  logical :: atomic
  character(len=512) :: directory, path
  character(len=MPI_MAX_DATAREP_STRING) :: representation

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  failures = 0
  call get_command_argument(2, directory)
  path = trim(directory)//'/fortran_mpi_f08.data'
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
  call MPI_Barrier(MPI_COMM_WORLD)

  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
  call expect(ierr /= MPI_SUCCESS, 'an absent file opens')
  call MPI_Info_create(info)
  call MPI_Info_set(info, 'cb_buffer_size', '1048576')
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR + MPI_MODE_CREATE, info, file, ierr)
  call expect(ierr == MPI_SUCCESS, 'open')
  call MPI_File_get_amode(file, amode)
  call expect(amode == MPI_MODE_RDWR + MPI_MODE_CREATE, 'amode')
  call MPI_File_get_info(file, used)
  call MPI_Info_free(used)
  call MPI_File_get_group(file, group)
  call MPI_Group_size(group, count)
  call expect(count == ranks, 'group')
  call MPI_Group_free(group)
  call MPI_File_get_errhandler(file, handler)
  call MPI_File_set_errhandler(file, handler)

  call MPI_Type_vector(n/3, 3, 3*ranks, MPI_INTEGER, filetype)
  call MPI_Type_commit(filetype)
  displacement = 12*rank
  call MPI_File_set_view(file, displacement, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL)
  call MPI_Type_free(filetype)
  call MPI_File_get_view(file, position, got_etype, got_filetype, representation)
  call expect(position == displacement .and. got_etype == MPI_INTEGER .and. representation == 'native', 'get_view')

  do i = 1, n
    values(i) = 1000*rank + i
  end do
  call MPI_File_write_all(file, values, n, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call expect(count == n, 'write_all counts')
  call MPI_File_sync(file)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_get_size(file, size)
  call expect(size == 4_MPI_OFFSET_KIND*n*ranks, 'size')

  back = 0
  call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, status)
  call expect(all(back == values), 'read_at')
  back = 0
  call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, MPI_STATUS_IGNORE)
  call expect(all(back == values), 'read_at_all')
  back = 0
  call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call expect(all(back == values), 'iread_at')
  back = 0
  call MPI_File_iread_at_all(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call expect(all(back == values), 'iread_at_all')
  back = 0
  call MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER)
  call MPI_File_read_at_all_end(file, back, status)
  call expect(all(back == values), 'read_at_all_begin')
  call MPI_File_seek(file, 3_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_get_position(file, position)
  call expect(position == 3, 'seek')
  call MPI_File_read(file, back, 3, MPI_INTEGER, status)
  call expect(all(back(1:3) == values(4:6)), 'read')
  call MPI_File_get_byte_offset(file, 3_MPI_OFFSET_KIND, position)
  call expect(position == displacement + 12*ranks, 'byte offset')
  call MPI_File_iwrite(file, values(7:9), 3, MPI_INTEGER, request)
  call MPI_Wait(request, status)

  displacement = 0
  call MPI_File_set_view(file, displacement, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  call MPI_File_write_ordered(file, values, n, MPI_INTEGER, status)
  call MPI_File_get_position_shared(file, position)
  call expect(position == n*ranks, 'shared position')
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  back = 0
  call MPI_File_read_ordered(file, back, n, MPI_INTEGER, status)
  call expect(all(back == values), 'read_ordered')
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, atomic)
  call expect(atomic, 'atomicity')
  call MPI_File_preallocate(file, 4_MPI_OFFSET_KIND*n*ranks)
  call MPI_File_set_size(file, 8_MPI_OFFSET_KIND)
  call MPI_File_get_size(file, size)
  call expect(size == 8, 'set_size')
  call MPI_File_close(file)
  call MPI_Info_free(info)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (failures > 0) error stop 1

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (.not. condition) then
      print '(a,i0,2a)', 'FAILED rank ', rank, ': ', what
      failures = failures + 1
    end if
  end subroutine expect
end program fortran_mpi_f08
