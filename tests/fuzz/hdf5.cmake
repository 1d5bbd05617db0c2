# Included where STRIA_BUILD_FUZZ is on (needs Clang's libFuzzer).
add_executable(hdf5_open_fuzz ${CMAKE_CURRENT_LIST_DIR}/hdf5_open_fuzz.cpp
  ${CMAKE_SOURCE_DIR}/src/container/hdf5/test_support.cpp)
target_include_directories(hdf5_open_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(hdf5_open_fuzz PRIVATE -fsanitize=fuzzer)
target_link_options(hdf5_open_fuzz PRIVATE -fsanitize=fuzzer)
target_link_libraries(hdf5_open_fuzz PRIVATE stria_options stria PkgConfig::HDF5)
