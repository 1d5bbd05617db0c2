! A Fortran program on HDF5 that writes the interior of an array with guard cells, and reads it
! back.
! usage: hdf5_sections FILE
program sections
  use hdf5
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: nx = 6, ny = 5, guard = 2
  real(real64) :: cells(nx + 2 * guard, ny + 2 * guard), again(nx + 2 * guard, ny + 2 * guard)
  integer(hid_t) :: file, space, memory, dataset
  integer(hsize_t) :: lengths(2) = [nx, ny], whole(2) = [nx + 2 * guard, ny + 2 * guard]
  integer(hsize_t) :: start(2) = [guard, guard]
  character(len=1000) :: path
  integer :: i, j, error

  call get_command_argument(1, path)
  do j = 1, ny + 2 * guard
    do i = 1, nx + 2 * guard
      cells(i, j) = 100 * i + j
    end do
  end do
  call h5open_f(error)
  call h5fcreate_f(trim(path), h5f_acc_trunc_f, file, error)
  call h5screate_simple_f(2, lengths, space, error)
  call h5screate_simple_f(2, whole, memory, error)
  call h5sselect_hyperslab_f(memory, h5s_select_set_f, start, lengths, error)
  call h5dcreate_f(file, "cells", h5t_ieee_f32be, space, dataset, error)
  call h5dwrite_f(dataset, h5t_native_double, cells, whole, error, mem_space_id=memory)
  if (error /= 0) error stop "h5dwrite_f failed"
  again = -1
  call h5dread_f(dataset, h5t_native_double, again, whole, error, mem_space_id=memory)
  if (error /= 0) error stop "h5dread_f failed"
  do j = 1, ny + 2 * guard
    do i = 1, nx + 2 * guard
      if (i > guard .and. i <= nx + guard .and. j > guard .and. j <= ny + guard) then
        if (again(i, j) /= cells(i, j)) error stop "another value was read"
      else if (again(i, j) /= -1) then
        error stop "a guard cell was changed"
      end if
    end do
  end do
  call h5dclose_f(dataset, error)
  call h5sclose_f(memory, error)
  call h5sclose_f(space, error)
  call h5fclose_f(file, error)
  call h5close_f(error)
end program
