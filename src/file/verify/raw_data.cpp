#include "file/verify/raw_data.hpp"

#include <algorithm>

#include "datatype/cursor.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostZeros = 1 << 20;

}  // namespace

std::span<const std::byte> RawData::zeros(int64_t most_bytes) {
  zeros_.resize(kMostZeros);
  return std::span<const std::byte>(zeros_).first(static_cast<size_t>(std::min(most_bytes, kMostZeros)));
}

// Zeros for the beginning of a range of raw data, as far as it lies in one piece in a chunk that
// can't be read; nothing if it can, as far as is known.
std::span<const std::byte> RawData::zeros_of_bad_chunk(int dataset, ByteRange range) {
  if (!bad_chunks_ || bad_chunks_->dataset != dataset) {
    return {};
  }
  const container::ChunkGrid::Run run = bad_chunks_->grid.run_at(range.begin);
  return bad_chunks_->numbers.contains(run.chunk) ? zeros(std::min(range.size(), run.bytes)) : std::span<const std::byte>();
}

Result<std::span<const std::byte>> RawData::from_chunk(int dataset, ByteRange range, std::vector<Damage>& found) {
  if (const auto bad = zeros_of_bad_chunk(dataset, range); !bad.empty()) {
    return bad;
  }
  const auto data = from_.chunks.from(from_.chunk_source(), dataset, range.begin);
  if (data.ok()) {
    return std::span<const std::byte>(*data).first(std::min(data->size(), static_cast<size_t>(range.size())));
  }
  if (data.status().code() != ErrorCode::kCorrupted) {
    return data.status();
  }
  const DatasetEntry& entry = from_.catalog[dataset];
  const ByteRange rows = from_.chunks.damaged_rows();
  add_damage(found, entry.spec.path, rows.begin, rows.end);
  if (rows.size() >= entry.row_count()) {
    return zeros(range.size());  // there may be no chunks, and all rows are named
  }
  if (!bad_chunks_ || bad_chunks_->dataset != dataset) {
    bad_chunks_.emplace(BadChunks{dataset, container::ChunkGrid(entry.spec), {}});
  }
  bad_chunks_->numbers.insert(bad_chunks_->grid.run_at(range.begin).chunk);
  return zeros_of_bad_chunk(dataset, range);
}

Status RawData::read(int dataset, ByteRange range, std::byte* out, std::vector<Damage>& found) {
  const DatasetEntry& entry = from_.catalog[dataset];
  if (!entry.is_chunked()) {
    return read_raw(from_, entry, range, out);
  }
  while (!range.empty()) {
    STRIA_ASSIGN_OR_RETURN(const auto data, from_chunk(dataset, range, found));
    out = std::copy(data.begin(), data.end(), out);
    range.begin += static_cast<int64_t>(data.size());
  }
  return Status();
}

Result<uint64_t> RawData::hash(int dataset, const Datatype& region, int64_t displacement, std::vector<Damage>& found) {
  StreamingHash hash;
  if (!from_.catalog[dataset].is_chunked()) {
    STRIA_RETURN_IF_ERROR(hash_into(from_, region, displacement, hash, &from_.catalog[dataset]));
    return std::max<uint64_t>(hash.digest(), 1);
  }
  for (Cursor cursor(region, displacement); !cursor.done();) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from_.signal));
    STRIA_ASSIGN_OR_RETURN(const auto data, from_chunk(dataset, cursor.piece(), found));
    hash.update(data);
    cursor.advance(static_cast<int64_t>(data.size()));
  }
  return std::max<uint64_t>(hash.digest(), 1);
}

Result<std::vector<uint64_t>> RawData::hash_rows(int dataset, int64_t first_row, int64_t row_count,
                                                 std::vector<Damage>& found) {
  const int64_t row_bytes = from_.catalog[dataset].row_bytes();
  const int64_t begin = first_row * row_bytes;
  if (row_count == 1) {
    STRIA_ASSIGN_OR_RETURN(const uint64_t sum, hash(dataset, Datatype::bytes(row_bytes), begin, found));
    return std::vector<uint64_t>{sum};
  }
  STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from_.signal));
  std::vector<std::byte> rows(static_cast<size_t>(row_count * row_bytes));
  STRIA_RETURN_IF_ERROR(read(dataset, {begin, begin + row_count * row_bytes}, rows.data(), found));
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(sum_of({rows.data() + row * row_bytes, static_cast<size_t>(row_bytes)}));
  }
  return sums;
}

}  // namespace stria::file
