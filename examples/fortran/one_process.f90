! A table of numbers is written with what they mean, and read back, without MPI.
!   ./one_process_fortran table.h5
program one_process
  use stria
  implicit none
  type(stria_file) :: file
  type(stria_dataset) :: dataset
  character(len=200) :: path = "table.h5"
  character(len=4) :: unit
  real(4), asynchronous :: waves(4, 3) = reshape([0., 1., 0., -1., 0., 2., 0., -2., 0., 3., 0., -3.], [4, 3])
  real(8), asynchronous :: numbers(4, 3)
  real(8) :: periods(3)
  integer :: i

  if (command_argument_count() > 0) call get_command_argument(1, path)
  call file%create(path)
  call file%create_dataset("waves", stria_real32, [4, 3], dataset)
  call dataset%put([1, 1], waves)
  call file%set_attribute("waves", "unit", "m")
  call file%set_attribute("waves", "periods", [0.5d0, 1d0, 2d0])
  call file%commit()  ! only now does the file have its name
  call file%close()

  call file%open(path)
  call file%get_attribute("waves", "unit", unit)
  call file%get_attribute("waves", "periods", periods)
  call file%dataset("waves", dataset)
  call dataset%read([1, 1], numbers)
  do i = 1, 3
    print "('period ', f3.1, ' s: height ', f3.1, ' ', a)", periods(i), numbers(2, i), trim(unit)
  end do
  call file%close()
end program
