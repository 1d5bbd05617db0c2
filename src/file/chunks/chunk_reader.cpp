#include "file/chunks/chunk_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "container/fill_value.hpp"
#include "container/formats.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostKeptBytes = 64 << 20;
constexpr int64_t kUsuallyKeptBytes = 4 << 20;  // in the cache

/// Returns how many chunks are kept: those that have parts of one row, and the next one.
size_t most_kept(const container::ChunkGrid& grid) {
  const int64_t of_a_row = grid.chunk_count() / std::max<int64_t>(grid.chunks_along(0), 1) + 1;
  const int64_t usual = std::max(of_a_row, kUsuallyKeptBytes / grid.chunk_bytes());
  return static_cast<size_t>(std::clamp<int64_t>(usual, 1, std::max<int64_t>(kMostKeptBytes / grid.chunk_bytes(), 1)));
}

}  // namespace

Status ChunkReader::corrupted(int dataset, ByteRange rows, const Status& why) {
  damaged_rows_ = rows;
  return why.with_message(fmt::format("'{}': dataset '{}', rows {} to {}: {}", source_.path, source_.catalog[dataset].spec.path,
                                      rows.begin, rows.end - 1, why.message()));
}

Result<ChunkReader::Cut> ChunkReader::read_cut(int dataset) {
  const container::DatasetSpec& spec = source_.catalog[dataset].spec;
  if (source_.reader == nullptr) {
    STRIA_ASSIGN_OR_RETURN(source_.reader, container::open_file(*source_.file));
  }
  STRIA_ASSIGN_OR_RETURN(auto index, source_.reader->chunks(spec.path));
  return Cut{container::ChunkGrid(spec), std::move(index)};
}

Result<const ChunkReader::Cut*> ChunkReader::cut(int dataset) {
  damaged_rows_ = {0, source_.catalog[dataset].row_count()};
  if (const auto why = unreadable_.find(dataset); why != unreadable_.end()) {
    return why->second;
  }
  auto found = cuts_.find(dataset);
  if (found == cuts_.end()) {
    auto made = read_cut(dataset);
    if (!made.ok()) {
      return unreadable_.emplace(dataset, made.status()).first->second;
    }
    found = cuts_.emplace(dataset, std::move(*made)).first;
  }
  Cut& known = found->second;
  const auto sums = sums_ ? sums_->find(source_.catalog[dataset].spec.path) : ChunkSums::const_iterator();
  if (known.sums == nullptr && sums_ && sums != sums_->end()) {
    if (sums->second.size() != known.index.size()) {
      return corrupted(dataset, damaged_rows_,
                       Status(ErrorCode::kCorrupted, "there are more or fewer chunks than were written"));
    }
    known.sums = &sums->second;
  }
  return &known;
}

// The chunk is decoded by this rank, or comes from one of its node that has decoded it.
Status ChunkReader::fetch(int dataset, const Cut& cut, int64_t chunk, std::span<std::byte> out) {
  if (shared_ == nullptr) {
    return decode(dataset, cut, chunk, out);
  }
  return shared_->take({dataset, chunk}, out, [this](const ChunkOfDataset& wanted, std::span<std::byte> target) -> Status {
    STRIA_ASSIGN_OR_RETURN(const Cut* const known, this->cut(wanted.dataset));
    return decode(wanted.dataset, *known, wanted.number, target);
  });
}

// What isn't in the file reads as the fill value.
Status ChunkReader::decode(int dataset, const Cut& cut, int64_t chunk, std::span<std::byte> out) {
  const container::StoredChunk* const place = container::find_chunk(cut.index, chunk);
  if (place == nullptr) {
    container::lay_fill_value(source_.catalog[dataset].spec.fill_value, out);
    return Status();
  }
  stored_.resize(static_cast<size_t>(place->bytes));
  const storage::ReadSegment segment{place->offset, stored_.data(), place->bytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, source_.file->read(std::span(&segment, 1)));
  Status status;
  if (read_bytes < place->bytes) {
    status = Status(ErrorCode::kCorrupted, "the file is cut short");
  } else if (cut.sums != nullptr &&
             std::max<uint64_t>(hash_bytes(stored_), 1) != (*cut.sums)[static_cast<size_t>(place - cut.index.data())]) {
    status = Status(ErrorCode::kCorrupted, "a chunk doesn't match its checksum");
  } else {
    status = pipeline_.decode(source_.catalog[dataset].spec, stored_, place->skipped, out).with_context("a chunk is damaged");
  }
  return status.ok() ? status : corrupted(dataset, cut.grid.rows(chunk), status);
}

Result<bool> ChunkReader::whole_into(int dataset, int64_t byte, std::span<std::byte> out) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  if (run.offset > 0 || run.bytes != known->grid.chunk_bytes()) {
    return false;
  }
  STRIA_RETURN_IF_ERROR(fetch(dataset, *known, run.chunk, out));
  return true;
}

Result<std::span<std::byte>> ChunkReader::from(int dataset, int64_t byte) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  STRIA_ASSIGN_OR_RETURN(const std::span<std::byte> whole, chunk(dataset, run.chunk));
  return whole.subspan(static_cast<size_t>(run.offset), static_cast<size_t>(run.bytes));
}

Result<ChunkReader::InChunk> ChunkReader::place_in_chunk(int dataset, int64_t byte) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  STRIA_ASSIGN_OR_RETURN(const std::span<std::byte> whole, chunk(dataset, run.chunk));
  const auto dims = known->grid.chunk_dims();
  const int64_t step_bytes = known->grid.chunk_bytes() / std::max<int64_t>(dims.empty() ? 1 : dims[0], 1);
  return InChunk{.data = whole.subspan(static_cast<size_t>(run.offset)),
                 .run_bytes = run.bytes,
                 .row_step_bytes = step_bytes,
                 .row_count = (known->grid.chunk_bytes() - run.offset + step_bytes - 1) / step_bytes};
}

Result<std::span<std::byte>> ChunkReader::chunk(int dataset, int64_t number) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(dataset));
  if (kept_dataset_ != dataset) {
    spare_.splice(spare_.begin(), kept_);
    if (!spare_.empty() && spare_.front().bytes.size() != static_cast<size_t>(known->grid.chunk_bytes())) {
      spare_.clear();
    }
    kept_by_number_.clear();
    kept_dataset_ = dataset;
  }
  const auto found = kept_by_number_.find(number);
  if (found != kept_by_number_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
  } else {
    Kept fresh;  // takes memory that was used before, if there is some
    if (kept_.size() >= most_kept(known->grid)) {
      kept_by_number_.erase(kept_.back().chunk);
      fresh.splice(fresh.begin(), kept_, std::prev(kept_.end()));
    } else if (!spare_.empty()) {
      fresh.splice(fresh.begin(), spare_, spare_.begin());
    } else {
      fresh.emplace_back();
    }
    fresh.front().chunk = number;
    fresh.front().bytes.resize(static_cast<size_t>(known->grid.chunk_bytes()));
    STRIA_RETURN_IF_ERROR(fetch(dataset, *known, number, fresh.front().bytes));
    kept_.splice(kept_.begin(), fresh);
    kept_by_number_[number] = kept_.begin();
  }
  return std::span(kept_.front().bytes);
}

Result<std::span<const container::StoredChunk>> ChunkReader::index(int dataset) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(dataset));
  return std::span<const container::StoredChunk>(known->index);
}

Result<int64_t> ChunkReader::stored_bytes(int dataset) {
  STRIA_ASSIGN_OR_RETURN(const auto chunks, index(dataset));
  int64_t bytes = 0;
  for (const container::StoredChunk& chunk : chunks) {
    bytes += chunk.bytes;
  }
  return bytes;
}

}  // namespace stria::file
