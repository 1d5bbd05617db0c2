# Compiler settings that every target shares, by linking stria_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# What the names of libraries for MPI end with.
set(STRIA_MPI_SUFFIX)
if(STRIA_SIDE_BY_SIDE)
  set(STRIA_MPI_SUFFIX _${STRIA_MPI})
endif()
# stria_preloaded(TARGET): its file is installed as it is built; packages want it with its name
# inside and without a path for the MPI, which the program has loaded.
function(stria_preloaded target)
  if(STRIA_SIDE_BY_SIDE)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${target}${STRIA_MPI_SUFFIX} SKIP_BUILD_RPATH ON)
  endif()
endfunction()

# stria_link_mpi(TARGET LANGUAGE): links the MPI of that language here; in a project that finds the
# installed target, too, if the project has the language.
function(stria_link_mpi target language)
  target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:MPI::MPI_${language}>
    $<INSTALL_INTERFACE:$<TARGET_NAME_IF_EXISTS:MPI::MPI_${language}>>)
endfunction()

# Another compiler knows other warnings, which shall not keep users from building.
set(STRIA_WERROR_OPTION $<$<BOOL:${STRIA_WERROR}>:-Werror>)

add_library(stria_options INTERFACE)
target_compile_options(stria_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough ${STRIA_WERROR_OPTION})
# NDEBUG stays, because the assertions of other libraries' headers make GCC 12 warn without reason.
target_compile_definitions(stria_options INTERFACE $<$<BOOL:${STRIA_CHECKED}>:STRIA_CHECKED>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own std::string concatenation (GCC bug 105651).
  target_compile_options(stria_options INTERFACE -Wno-restrict)
endif()
# Debugging information and failed checks name places relative to the source, which any clone may
# have compiled.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
# Those of targets without stria_options, of other languages.
set(STRIA_SANITIZE_OPTIONS)
if(STRIA_SANITIZE)
  set(STRIA_SANITIZE_OPTIONS -fsanitize=${STRIA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(stria_options INTERFACE ${STRIA_SANITIZE_OPTIONS})
  target_link_options(stria_options INTERFACE -fsanitize=${STRIA_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 with sanitizers takes what an empty std::optional would hold for read.
    target_compile_options(stria_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(STRIA_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC warns that the thread sanitizer doesn't know std::atomic_thread_fence. Stria's fences
    # order memory between processes, which it doesn't watch. Within a process, a fence that it
    # misses could only make it report too much.
    target_compile_options(stria_options INTERFACE -Wno-tsan)
  endif()
endif()
# Coverage for libFuzzer in all code but tests, two fifths of whose time it took. Its main comes
# only with each fuzz target (stria_fuzz).
if(STRIA_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "STRIA_BUILD_FUZZ needs Clang")
  endif()
  target_compile_options(stria_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:STRIA_WITHOUT_COVERAGE>>>:-fsanitize=fuzzer-no-link>)
  target_link_options(stria_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ccache finds in any clone what was compiled in another. It doesn't know gfortran.
find_program(CCACHE ccache)
if(CCACHE)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/ccache.sh ${CMAKE_SOURCE_DIR} ${CCACHE})
    endif()
  endforeach()
endif()

# The option is for those who build once. Whoever edits a file would compile its neighbours with it,
# and a header that a file forgets to include isn't missed. Names without linkage must differ among
# the files of one target (tests/tidy/united_names.py).
option(STRIA_UNITY "Compile the files of a target together, sixteen at a time: for who only builds" OFF)
set(CMAKE_UNITY_BUILD ${STRIA_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if(STRIA_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes a file that is included for a header, in which they would be a mistake.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# Clang only: builds with GCC find headers that a file forgets to include.
option(STRIA_PRECOMPILE_HEADERS "Compile the standard library's headers once for each target (Clang)" OFF)
# stria_precompile(TARGET [headers…]): the files of the target share a compiled form of the headers
# that most include, and of those given.
function(stria_precompile target)
  if(STRIA_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <functional> <map>
      <memory> <mutex> <numeric> <optional> <set> <span> <string> <thread> <tuple> <unordered_map> <utility> <variant>
      <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()
# stria_precompile_as(FIRST TARGETS…): the targets share what FIRST has compiled. All must be
# compiled alike, but for what they search for headers.
function(stria_precompile_as first)
  if(STRIA_PRECOMPILE_HEADERS)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
      target_precompile_headers(${target} REUSE_FROM ${first})
    endforeach()
  endif()
endfunction()
