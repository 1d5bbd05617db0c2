#include "container/hdf5/read/chunks/stored_chunks.hpp"

#include "base/check.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/libhdf5/library_calls.hpp"

namespace stria::container::h5 {

namespace {

Status show(hid_t dataset, const ChunkGrid& grid, int64_t number, const std::function<Status(const ChunkAsStored&)>& visit) {
  const std::vector<int64_t> index = grid.first_index(number);
  const std::vector<hsize_t> offset(index.begin(), index.end());
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset, offset.data(), &bytes) < 0 || bytes == 0) {
    H5Eclear2(H5E_DEFAULT);
    return Status();  // it isn't there
  }
  if (static_cast<int64_t>(bytes) > FilterPipeline::stored_bytes_max(grid.chunk_bytes())) {
    return Status(ErrorCode::kCorrupted, "a chunk is larger than it can be");
  }
  ChunkAsStored chunk{.number = number, .skipped = 0, .bytes = std::vector<std::byte>(bytes)};
  if (!read_stored_chunk(dataset, offset, chunk.bytes, chunk.skipped)) {
    return last_error(ErrorCode::kCorrupted, "a chunk can't be read");
  }
  return visit(chunk).with_context("a chunk");
}

}  // namespace

Status for_each_stored_chunk(hid_t dataset, const ChunkGrid& grid, const Part& part,
                             const std::function<Status(const ChunkAsStored&)>& visit) {
  STRIA_ASSERT(!part.is_empty(), part.start.size());
  std::vector<int64_t> first, count, across;
  for (size_t dim = 0; dim < part.start.size(); ++dim) {
    const int64_t length = grid.chunk_dims()[dim];
    first.push_back(part.start[dim] / length);
    count.push_back((part.start[dim] + part.count[dim] - 1) / length - first[dim] + 1);
    across.push_back(grid.chunks_along(dim));
  }
  return for_each_run(across, {first, count}, [&](int64_t number, int64_t chunks) -> Status {
    for (int64_t i = 0; i < chunks; ++i) {
      STRIA_RETURN_IF_ERROR(show(dataset, grid, number + i, visit));
    }
    return Status();
  });
}

}  // namespace stria::container::h5
