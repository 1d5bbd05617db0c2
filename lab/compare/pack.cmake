# bench_pack: the pack kernels beside memcpy, the naive loop and MPI_Pack.
add_executable(bench_pack pack_bench.cpp)
target_include_directories(bench_pack PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(bench_pack PRIVATE stria_options stria MPI::MPI_CXX benchmark::benchmark)
