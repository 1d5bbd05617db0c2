# stria_test(NAME SOURCES a_test.cpp … [MPI | SERIAL] [PLAIN] [RANKS 1 2 3] [AT_ONCE 4] [LABELS …]
#            [LIBS …])
#   One GoogleTest program. Without RANKS it runs once, without MPI. With RANKS it is run under
#   mpiexec at each of these rank counts; MPI programs get tests/support/mpi_main.cpp as their main,
#   which initialises MPI and agrees on the outcome. AT_ONCE: in how many processes its tests run
#   (tests/support/shards.sh), where they mostly wait.
#   PLAIN: the test does more in a build without sanitizers, because it does more rounds there
#   (tests/support/rounds.hpp), or is about a library that no sanitizer sees into. Where
#   STRIA_UNIT_TESTS is PLAIN, those are built and no others, beside a build with sanitizers that
#   has them all.
if(STRIA_BUILD_TESTS)
  enable_testing()
  include(GoogleTest)
  add_custom_target(unit_tests)  # all programs of the label "unit"
  set(STRIA_ALL_UNIT_TESTS ${STRIA_UNIT_TESTS})
  if(STRIA_UNIT_TESTS STREQUAL "PLAIN")
    set(STRIA_ALL_UNIT_TESTS OFF)
  endif()
endif()

# stria_timeout(VARIABLE DEFAULT): the seconds that a test may take, DEFAULT unless VARIABLE says
# so; three times as many with sanitizers.
function(stria_timeout variable default)
  set(seconds ${${variable}})
  if(NOT seconds)
    set(seconds ${default})
  endif()
  if(STRIA_SANITIZE)
    math(EXPR seconds "${seconds} * 3")
  endif()
  set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

# The environment of every test: how ranks are started, and what the sanitizers must know about the
# MPI libraries, which leak, and synchronise unseen.
set(support ${CMAKE_SOURCE_DIR}/tests/support)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/mpiexec.env)
file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/mpiexec.env STRIA_TEST_ENV REGEX "^[A-Z]")
list(APPEND STRIA_TEST_ENV "UBSAN_OPTIONS=print_stacktrace=1"
  "LSAN_OPTIONS=suppressions=${support}/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${support}/tsan.supp:ignore_noninstrumented_modules=1:second_deadlock_stack=1:die_after_fork=0:atexit_sleep_ms=100")
# A library to preload that is instrumented itself comes before the shared runtime:
# verify_asan_link_order.
set(STRIA_ASAN_OPTIONS "ASAN_OPTIONS=abort_on_error=0:verify_asan_link_order=0:strict_string_checks=1:detect_stack_use_after_return=1")
set(STRIA_MPI_TEST_ENV ${STRIA_TEST_ENV} "${STRIA_ASAN_OPTIONS}:detect_leaks=0")
list(APPEND STRIA_TEST_ENV "${STRIA_ASAN_OPTIONS}:detect_leaks=1")

# stria_processors(VARIABLE RANKS|programs): the cores that a test of so many ranks wants for
# itself, or one that starts programs. That one mostly waits for them to start, so that another
# test may run beside it; but MPICH's ranks never sleep while they wait. More than 2 would be too
# many for some machines.
function(stria_processors variable ranks)
  set(${variable} 2 PARENT_SCOPE)
  if(ranks STREQUAL "1" OR (ranks STREQUAL "programs" AND STRIA_MPI STREQUAL "openmpi"))
    set(${variable} 1 PARENT_SCOPE)
  endif()
endfunction()

# The first test compiles the headers for all. Those with servers define macros that change them.
function(stria_precompile_test name)
  get_property(first GLOBAL PROPERTY STRIA_FIRST_TEST)
  if(NOT STRIA_PRECOMPILE_HEADERS OR stria_server IN_LIST ARGN)
    return()
  endif()
  target_compile_options(${name} PRIVATE -pthread)  # Some libraries want it; the headers must fit.
  if(first)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    stria_precompile(${name} <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY STRIA_FIRST_TEST ${name})
  endif()
endfunction()

# stria_test_part(NAME SOURCES … [LIBS …])
#   What several tests share, compiled once. They name it among their LIBS.
function(stria_test_part name)
  if(NOT STRIA_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(P "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${P_SOURCES})
  stria_compile_as_test(${name})
  # The options are those of the programs, or the tests couldn't share precompiled headers.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIE)
  target_link_libraries(${name} PUBLIC ${P_LIBS} PRIVATE stria_options stria GTest::gtest)
endfunction()

# Tests compile longer than they run.
function(stria_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:Clang>:-O0>)
  set_target_properties(${target} PROPERTIES STRIA_WITHOUT_COVERAGE ON)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  stria_precompile_test(${target} ${ARGN})
endfunction()

function(stria_test name)
  if(NOT STRIA_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "MPI;SERIAL;PLAIN" "TIMEOUT;AT_ONCE" "SOURCES;RANKS;LABELS;LIBS" ${ARGN})
  if(NOT T_RANKS AND NOT STRIA_ALL_UNIT_TESTS AND NOT (T_PLAIN AND STRIA_UNIT_TESTS))
    return()
  endif()
  stria_timeout(T_TIMEOUT 300)
  add_executable(${name} ${T_SOURCES})
  stria_compile_as_test(${name} ${T_LIBS})
  if(T_RANKS OR T_MPI)
    if(NOT TARGET test_mpi_main)
      stria_test_part(test_mpi_main SOURCES ${CMAKE_SOURCE_DIR}/tests/support/mpi_main.cpp LIBS MPI::MPI_CXX)
    endif()
    target_link_libraries(${name} PRIVATE stria_options test_mpi_main ${T_LIBS} stria GTest::gtest MPI::MPI_CXX)
  elseif(T_SERIAL)
    target_link_libraries(${name} PRIVATE stria_options ${T_LIBS} stria_serial GTest::gtest GTest::gtest_main)
  else()
    target_link_libraries(${name} PRIVATE stria_options ${T_LIBS} stria GTest::gtest GTest::gtest_main)
  endif()
  if(T_RANKS)
    foreach(ranks IN LISTS T_RANKS)
      add_test(NAME ${name}.np${ranks} COMMAND ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:${name}>)
      stria_processors(processors ${ranks})
      set_tests_properties(${name}.np${ranks} PROPERTIES ENVIRONMENT "${STRIA_MPI_TEST_ENV}" TIMEOUT ${T_TIMEOUT}
        LABELS "mpi;${T_LABELS}" PROCESSORS ${processors})
    endforeach()
  else()
    add_dependencies(unit_tests ${name})
    if(T_AT_ONCE AND NOT STRIA_SANITIZE)
      add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/support/shards.sh ${T_AT_ONCE} $<TARGET_FILE:${name}>)
    else()
      add_test(NAME ${name} COMMAND ${name})
    endif()
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${STRIA_TEST_ENV}" TIMEOUT ${T_TIMEOUT} LABELS "unit;${T_LABELS}")
  endif()
endfunction()

# stria_fuzz(NAME SOURCES a_fuzz.cpp … [LIBS …])
#   One LLVMFuzzerTestOneInput. With STRIA_BUILD_FUZZ a libFuzzer program for scripts/fuzz.sh; in
#   every build a test that runs the inputs kept in tests/fuzz/corpus/NAME once. Inputs that ever
#   failed are added there.
function(stria_fuzz name)
  if(NOT STRIA_BUILD_TESTS OR NOT STRIA_ALL_UNIT_TESTS)
    return()
  endif()
  cmake_parse_arguments(F "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${F_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE stria_options stria ${F_LIBS})
  if(STRIA_BUILD_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    if(NOT TARGET test_fuzz_main)
      stria_test_part(test_fuzz_main SOURCES ${CMAKE_SOURCE_DIR}/tests/support/fuzz_main.cpp)
    endif()
    target_link_libraries(${name} PRIVATE test_fuzz_main)
  endif()
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name}.corpus COMMAND ${name} -runs=0 ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(${name}.corpus PROPERTIES ENVIRONMENT "${STRIA_TEST_ENV}" TIMEOUT 120 LABELS "unit;fuzz")
endfunction()
