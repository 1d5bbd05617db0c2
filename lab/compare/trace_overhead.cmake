# Measures what tracing costs, with either MPI.
if(TARGET stria_flash_io)
  add_executable(bench_trace_overhead trace_overhead.cpp)
  target_include_directories(bench_trace_overhead PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/lab/flash)
  target_link_libraries(bench_trace_overhead PRIVATE stria_options stria stria_flash_io fmt::fmt MPI::MPI_CXX)
endif()
