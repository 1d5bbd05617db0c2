# stria_pytest(NAME FILE a_test.py [RUN_MPICH] [SANITIZED] [AT_ONCE 4] [TIMEOUT 300] [LABELS …]
# [ENVIRONMENT A=1 …])
#   One pytest file that runs the stria command from outside, through build/venv's Python
#   (scripts/python_environment.sh). RUN_MPICH: also worth running with the other MPI, which has no
#   Sedov application. SANITIZED: also in sanitizers' builds. AT_ONCE: how many of its tests run at
#   once (tests/support/side_by_side.py), where they mostly wait.
function(stria_pytest name)
  cmake_parse_arguments(P "RUN_MPICH;SANITIZED" "FILE;TIMEOUT;AT_ONCE" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT STRIA_BUILD_TESTS OR NOT STRIA_BUILD_APPS OR (STRIA_SANITIZE AND NOT P_SANITIZED) OR STRIA_SANITIZE MATCHES "thread")
    return()
  endif()
  stria_timeout(P_TIMEOUT 300)
  set(label app)
  if(P_RUN_MPICH)
    list(APPEND label mpi)
  endif()
  set(environment ${STRIA_TEST_ENV})
  if(STRIA_SANITIZE)
    set(environment ${STRIA_MPI_TEST_ENV})
  endif()
  stria_processors(processors programs)
  # Programs of bin/ are found when the tests run: the command is made after them. COST: the long
  # ones go first, so that the last doesn't run alone.
  add_test(NAME ${name}
    COMMAND ${CMAKE_SOURCE_DIR}/build/venv/bin/python -B -m pytest -q -p no:cacheprovider -rs --tb=short ${CMAKE_CURRENT_SOURCE_DIR}/${P_FILE})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${P_TIMEOUT} LABELS "${label};${P_LABELS}" PROCESSORS ${processors} COST 60
    ENVIRONMENT "${environment};STRIA_PROGRAM=${CMAKE_BINARY_DIR}/bin/stria;STRIA_MPIEXEC=${MPIEXEC_EXECUTABLE};STRIA_LABORATORY=${STRIA_BUILD_LAB};STRIA_HDF5=${HDF5_VERSION};${P_ENVIRONMENT}")
  # MPICH's ranks don't sleep while they wait: two runs would take each other's cores.
  if(P_AT_ONCE AND NOT STRIA_SANITIZE AND STRIA_MPI STREQUAL "openmpi")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT STRIA_TESTS_AT_ONCE=${P_AT_ONCE})
  endif()
endfunction()
