# The reader on arbitrary bytes, from a file of ours as the seed. Short runs only: past the checksums of such files lies libhdf5 itself,
# and what 1.10 does there with files made to harm is not ours (docs/formats/hdf5.md, "Damage").
if(STRIA_BUILD_FUZZ)
  add_executable(hdf5_open_fuzz hdf5_open_fuzz.cpp ${CMAKE_SOURCE_DIR}/src/container/hdf5/test_support.cpp)
  target_include_directories(hdf5_open_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(hdf5_open_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(hdf5_open_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_libraries(hdf5_open_fuzz PRIVATE stria_options stria)
  # New inputs go to the first directory, the seeds stay as they are.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/hdf5_found)
  add_test(NAME hdf5_open_fuzz COMMAND hdf5_open_fuzz -max_total_time=10 -max_len=4096 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=0
    ${CMAKE_CURRENT_BINARY_DIR}/hdf5_found ${CMAKE_CURRENT_SOURCE_DIR}/hdf5_corpus)
  set_tests_properties(hdf5_open_fuzz PROPERTIES TIMEOUT 120 LABELS fuzz
    ENVIRONMENT "${STRIA_TEST_ENV};ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1")
endif()
