#include "file/chunks/chunk_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "container/fill_value.hpp"

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

Status ChunkReader::corrupted(const ChunkSource& source, int dataset, ByteRange rows, const Status& why) {
  damaged_rows_ = rows;
  return why.with_message(fmt::format("'{}': dataset '{}', rows {} to {}: {}", source.path, source.catalog[dataset].spec.path,
                                      rows.begin, rows.end - 1, why.message()));
}

Result<ChunkReader::Cut> ChunkReader::read_cut(const ChunkSource& source, int dataset) {
  const container::DatasetSpec& spec = source.catalog[dataset].spec;
  STRIA_ASSIGN_OR_RETURN(container::Reader* const reader, source.reader.of(source.file));
  STRIA_ASSIGN_OR_RETURN(auto index, reader->chunks(spec.path));
  return Cut{container::ChunkGrid(spec), std::move(index)};
}

Result<const ChunkReader::Cut*> ChunkReader::cut(const ChunkSource& source, int dataset) {
  damaged_rows_ = {0, source.catalog[dataset].row_count()};
  if (const auto why = unreadable_.find(dataset); why != unreadable_.end()) {
    return why->second;
  }
  auto found = cuts_.find(dataset);
  if (found == cuts_.end()) {
    auto made = read_cut(source, dataset);
    if (!made.ok()) {
      return unreadable_.emplace(dataset, made.status()).first->second;
    }
    found = cuts_.emplace(dataset, std::move(*made)).first;
  }
  Cut& known = found->second;
  const auto sums = sums_ ? sums_->find(source.catalog[dataset].spec.path) : ChunkSums::const_iterator();
  if (known.sums == nullptr && sums_ && sums != sums_->end()) {
    if (sums->second.size() != known.index.size()) {
      return corrupted(source, dataset, damaged_rows_,
                       Status(ErrorCode::kCorrupted, "there are more or fewer chunks than were written"));
    }
    known.sums = &sums->second;
  }
  return &known;
}

// The chunk is decoded by this rank, or comes from one of its node that has decoded it.
Status ChunkReader::fetch(const ChunkSource& source, const ChunkOfDataset& wanted, const Cut& cut, std::span<std::byte> out) {
  if (shared_ == nullptr) {
    return decode(source, wanted, cut, out);
  }
  return shared_->take(wanted, out, [&](const ChunkOfDataset& one, std::span<std::byte> target) -> Status {
    STRIA_ASSIGN_OR_RETURN(const Cut* const known, this->cut(source, one.dataset));
    return decode(source, one, *known, target);
  });
}

// What isn't in the file reads as the fill value.
Status ChunkReader::decode(const ChunkSource& source, const ChunkOfDataset& wanted, const Cut& cut, std::span<std::byte> out) {
  const container::DatasetSpec& spec = source.catalog[wanted.dataset].spec;
  const container::StoredChunk* const place = container::find_chunk(cut.index, wanted.number);
  if (place == nullptr) {
    container::lay_fill_value(spec.fill_value, out);
    return Status();
  }
  stored_.resize(static_cast<size_t>(place->bytes));
  const storage::ReadSegment segment{place->offset, stored_.data(), place->bytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, source.file.read(std::span(&segment, 1)));
  Status status;
  if (read_bytes < place->bytes) {
    status = Status(ErrorCode::kCorrupted, "the file is cut short");
  } else if (cut.sums != nullptr &&
             std::max<uint64_t>(hash_bytes(stored_), 1) != (*cut.sums)[static_cast<size_t>(place - cut.index.data())]) {
    status = Status(ErrorCode::kCorrupted, "a chunk doesn't match its checksum");
  } else {
    status = pipeline_.decode(spec, stored_, place->skipped, out).with_context("a chunk is damaged");
  }
  return status.ok() ? status : corrupted(source, wanted.dataset, cut.grid.rows(wanted.number), status);
}

Result<bool> ChunkReader::whole_into(const ChunkSource& source, int dataset, int64_t byte, std::span<std::byte> out) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(source, dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  if (run.offset > 0 || run.bytes != known->grid.chunk_bytes()) {
    return false;
  }
  STRIA_RETURN_IF_ERROR(fetch(source, {dataset, run.chunk}, *known, out));
  return true;
}

Result<std::span<std::byte>> ChunkReader::from(const ChunkSource& source, int dataset, int64_t byte) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(source, dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  STRIA_ASSIGN_OR_RETURN(const std::span<std::byte> whole, chunk(source, dataset, run.chunk));
  return whole.subspan(static_cast<size_t>(run.offset), static_cast<size_t>(run.bytes));
}

Result<ChunkReader::InChunk> ChunkReader::place_in_chunk(const ChunkSource& source, int dataset, int64_t byte) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(source, dataset));
  const container::ChunkGrid::Run run = known->grid.run_at(byte);
  STRIA_ASSIGN_OR_RETURN(const std::span<std::byte> whole, chunk(source, dataset, run.chunk));
  const auto dims = known->grid.chunk_dims();
  const int64_t step_bytes = known->grid.chunk_bytes() / std::max<int64_t>(dims.empty() ? 1 : dims[0], 1);
  return InChunk{.data = whole.subspan(static_cast<size_t>(run.offset)),
                 .run_bytes = run.bytes,
                 .row_step_bytes = step_bytes,
                 .row_count = (known->grid.chunk_bytes() - run.offset + step_bytes - 1) / step_bytes};
}

Result<std::span<std::byte>> ChunkReader::chunk(const ChunkSource& source, int dataset, int64_t number) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(source, dataset));
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
    STRIA_RETURN_IF_ERROR(fetch(source, {dataset, number}, *known, fresh.front().bytes));
    kept_.splice(kept_.begin(), fresh);
    kept_by_number_[number] = kept_.begin();
  }
  return std::span(kept_.front().bytes);
}

Result<std::span<const container::StoredChunk>> ChunkReader::index(const ChunkSource& source, int dataset) {
  STRIA_ASSIGN_OR_RETURN(const Cut* const known, cut(source, dataset));
  return std::span<const container::StoredChunk>(known->index);
}

Result<int64_t> ChunkReader::stored_bytes(const ChunkSource& source, int dataset) {
  STRIA_ASSIGN_OR_RETURN(const auto chunks, index(source, dataset));
  int64_t bytes = 0;
  for (const container::StoredChunk& chunk : chunks) {
    bytes += chunk.bytes;
  }
  return bytes;
}

}  // namespace stria::file
