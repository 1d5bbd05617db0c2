#include "container/chunks/chunk_grid.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "base/checked.hpp"

namespace stria::container {

Status check_chunking(const DatasetSpec& spec) {
  const std::vector<int64_t>& chunk = spec.chunking->dims;
  const auto refused = [](const std::string& why) { return Status(ErrorCode::kInvalidArgument, "its chunks: " + why); };
  if (chunk.size() != spec.dims.size() || chunk.empty()) {
    return refused("they have " + std::to_string(chunk.size()) + " dimensions, the dataset " +
                   std::to_string(spec.dims.size()));
  }
  int64_t bytes = spec.element.bytes;
  for (size_t dim = 0; dim < chunk.size(); ++dim) {
    if (chunk[dim] < 1) {
      return refused("dimension " + std::to_string(dim) + " is " + std::to_string(chunk[dim]));
    }
    if (!checked_multiply(bytes, chunk[dim], &bytes) || bytes > kChunkBytesMax) {
      return refused("a chunk has more than " + std::to_string(kChunkBytesMax) + " bytes");
    }
  }
  return Status();
}

ChunkGrid::ChunkGrid(const DatasetSpec& spec)
    : dims_(spec.dims), chunk_(spec.chunking->dims), inner_bytes_(spec.element.bytes) {
  STRIA_ASSERT(!dims_.empty() && dims_.size() == chunk_.size(), spec.path, dims_.size(), chunk_.size());
  chunk_bytes_ = spec.element.bytes;
  raw_bytes_ = spec.element.bytes;
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    across_.push_back((dims_[dim] + chunk_[dim] - 1) / chunk_[dim]);
    chunk_count_ *= across_[dim];
    chunk_bytes_ *= chunk_[dim];
    raw_bytes_ *= dims_[dim];
  }
  joined_ = dims_.size() - 1;
  while (joined_ > 0 && chunk_[joined_] == dims_[joined_]) {
    inner_bytes_ *= dims_[joined_--];
  }
}

std::vector<int64_t> ChunkGrid::first_index(int64_t chunk) const {
  STRIA_ASSERT(0 <= chunk && chunk < chunk_count_, chunk, chunk_count_);
  std::vector<int64_t> first(dims_.size());
  for (size_t dim = dims_.size(); dim-- > 0; chunk /= across_[dim]) {
    first[dim] = chunk % across_[dim] * chunk_[dim];
  }
  return first;
}

ByteRange ChunkGrid::rows(int64_t chunk) const {
  STRIA_ASSERT(0 <= chunk && chunk < chunk_count_, chunk, chunk_count_);
  const int64_t first = chunk / (chunk_count_ / across_[0]) * chunk_[0];
  return {first, std::min(first + chunk_[0], dims_[0])};
}

ChunkGrid::Run ChunkGrid::run_at(int64_t byte) const {
  STRIA_ASSERT(0 <= byte && byte < raw_bytes_, byte, raw_bytes_);
  Run run{.begin = byte, .bytes = 0, .chunk = 0, .offset = 0};
  int64_t index = byte / inner_bytes_;
  const int64_t within = byte % inner_bytes_;
  const int64_t along = index % dims_[joined_];
  run.bytes = std::min(chunk_[joined_] - along % chunk_[joined_], dims_[joined_] - along) * inner_bytes_ - within;
  int64_t chunks_below = 1;
  int64_t elements_below = 1;
  for (size_t dim = joined_ + 1; dim-- > 0; index /= dims_[dim]) {
    const int64_t at = index % dims_[dim];
    run.chunk += at / chunk_[dim] * chunks_below;
    run.offset += at % chunk_[dim] * elements_below;
    chunks_below *= across_[dim];
    elements_below *= chunk_[dim];
  }
  run.offset = run.offset * inner_bytes_ + within;
  return run;
}

}  // namespace stria::container
