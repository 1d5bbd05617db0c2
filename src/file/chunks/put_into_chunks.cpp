#include "file/chunks/put_into_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/chunks/chunk_grid.hpp"
#include "datatype/cursor.hpp"

namespace stria::file {

namespace {

/// A stretch of a put's packed stream that is one of the file.
struct Run {
  int64_t offset = 0;  // in the file
  int64_t stream_begin = 0;
  int64_t bytes = 0;
};

class Runs {
 public:
  Runs(const DatasetEntry& dataset, std::span<const container::StoredChunk> index)
      : dataset_(dataset), grid_(dataset.spec), index_(index) {}

  /// Returns all of a put, by increasing offset.
  Result<std::vector<Run>> of(const Transfer& put, std::vector<ByteRange>& touched);

 private:
  Result<int64_t> offset_of(int64_t chunk) const;

  const DatasetEntry& dataset_;
  container::ChunkGrid grid_;
  std::span<const container::StoredChunk> index_;
};

Result<int64_t> Runs::offset_of(int64_t chunk) const {
  const container::StoredChunk* const place = container::find_chunk(index_, chunk);
  const auto error = [&](ErrorCode code, const char* what) {
    const ByteRange rows = grid_.rows(chunk);
    return Status(code, fmt::format("dataset '{}', rows {} to {}: {}", dataset_.spec.path, rows.begin, rows.end - 1, what));
  };
  if (place == nullptr) {
    return error(ErrorCode::kUnsupported, "the file has no chunk yet where elements are to be overwritten");
  }
  return place->bytes == grid_.chunk_bytes() && place->offset <= dataset_.extent().end - place->bytes
             ? Result<int64_t>(place->offset)
             : error(ErrorCode::kCorrupted, "a chunk has another size than the dataset says, or lies behind the file");
}

Result<std::vector<Run>> Runs::of(const Transfer& put, std::vector<ByteRange>& touched) {
  std::vector<Run> runs;
  int64_t known = -1;
  int64_t chunk_offset = 0;
  for (Cursor at(put.region, put.displacement); !at.done();) {
    const container::ChunkGrid::Run run = grid_.run_at(at.piece().begin);
    const int64_t bytes = std::min(run.bytes, at.piece().size());
    if (run.chunk != known) {
      STRIA_ASSIGN_OR_RETURN(chunk_offset, offset_of(run.chunk));
      known = run.chunk;
      touched.push_back({known, known + 1});
    }
    runs.push_back({chunk_offset + run.offset, at.stream_position(), bytes});
    at.advance(bytes);
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  const auto overlaps = [](const Run& a, const Run& b) { return a.offset + a.bytes > b.offset; };
  if (std::adjacent_find(runs.begin(), runs.end(), overlaps) != runs.end()) {
    return Status(ErrorCode::kCorrupted, fmt::format("dataset '{}': chunks lie on each other", dataset_.spec.path));
  }
  return runs;
}

}  // namespace

Status put_into_chunks(const DatasetEntry& dataset, std::span<const container::StoredChunk> index, Transfer& put,
                       std::vector<ByteRange>& touched) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<Run> runs, Runs(dataset, index).of(put, touched));
  const int64_t stored_bytes = element_bytes(dataset.stored_element());
  const int64_t memory_bytes = element_bytes(put.memory.element);
  std::vector<int64_t> lengths, offsets;
  std::vector<ByteRange> order;
  for (const Run& run : runs) {
    lengths.push_back(run.bytes);
    offsets.push_back(run.offset);
    const int64_t begin = run.stream_begin / stored_bytes * memory_bytes;
    order.push_back({begin, begin + run.bytes / stored_bytes * memory_bytes});
  }
  STRIA_RETURN_IF_ERROR(hold_memory(put, order));
  STRIA_ASSIGN_OR_RETURN(put.region, Datatype::hindexed(lengths, offsets, Datatype::bytes(1)));
  put.displacement = 0;
  put.whole_rows = false;
  return Status();
}

}  // namespace stria::file
