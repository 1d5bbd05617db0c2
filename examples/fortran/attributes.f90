! Attributes: what the numbers of a file mean. Numbers, strings, booleans, complex numbers,
! references and lists are set on the file and on a dataset, then listed and read back.
!   mpiexec -n 4 ./attributes_fortran attributes.h5
program attributes
  use mpi_f08
  use stria
  implicit none
  type(stria_file) :: file
  type(stria_dataset) :: air
  character(len=200) :: path = "attributes.h5"
  character(len=:), allocatable :: names(:), types(:), shown(:)
  character(len=8) :: unit
  real(8), asynchronous :: values(4)
  real(8) :: times(3)
  complex(8) :: mode
  logical :: closed
  integer :: rank, ranks, step, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  values = 300 + rank
  call file%create(MPI_COMM_WORLD, path)
  call file%create_dataset("air", stria_real32, [4*ranks], air)
  call air%put([4*rank + 1], values)
  ! All ranks set the same. "/" is the file itself.
  call file%set_attribute("/", "title", "a room")
  call file%set_references("/", "shown", ["air"])
  call file%set_attribute("air", "unit", "K")
  call file%set_attribute("air", "axes", ["x     ", "height"])
  call file%set_attribute("air", "step", 7)
  call file%set_attribute("air", "cells", [4_8, 1_8])
  call file%set_attribute("air", "error", 0.5)
  call file%set_attribute("air", "times", [0d0, 0.25d0, 0.5d0])
  call file%set_attribute("air", "closed", .true.)
  call file%set_attribute("air", "walls", [.true., .false.])
  call file%set_attribute("air", "mode", (1d0, -2d0))
  call file%set_attribute("air", "modes", [(1d0, 0d0), (0d0, 0.5d0)])
  call file%commit()
  call file%close()

  call file%open(MPI_COMM_WORLD, path)
  call file%attributes("air", names)
  call file%attribute_types("air", types)
  call file%get_attribute("air", "unit", unit)
  call file%get_attribute("air", "step", step)  ! converted, if need be
  call file%get_attribute("air", "times", times)
  call file%get_attribute("air", "closed", closed)
  call file%get_attribute("air", "mode", mode)
  call file%get_references("/", "shown", shown)
  call file%close()
  if (rank == 0) then
    print "(3a)", (trim(names(i)), ": ", trim(types(i)), i=1, size(names))
    print "(4a, i0, a, f4.2, 3a, f3.1, sp, f4.1, a)", trim(shown(1)), " in ", trim(unit), ", step ", step, ", time ", &
      times(3), ", ", trim(merge("closed", "open  ", closed)), ", mode ", real(mode), aimag(mode), "i"
  end if
  call MPI_Finalize()
end program
