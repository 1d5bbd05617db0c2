// Compares data with their stored sums: what the checks during a read and those of a
// whole file share.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "container/fill_value.hpp"
#include "datatype/cursor.hpp"
#include "file/verify/sum_checker.hpp"

namespace stria::file {

namespace {

constexpr int64_t kVerifyBytes = 4 << 20;
constexpr size_t kVerifySegments = 16 << 10;
constexpr int64_t kWindowBytes = 1 << 20;
constexpr auto kSumBytes = static_cast<int64_t>(sizeof(uint64_t));

uint64_t known(uint64_t sum) {
  return sum == 0 ? 1 : sum;
}

}  // namespace

ByteRange share_of(int64_t total, const Comm& comm) {
  const int64_t each = total / comm.size();
  const int64_t more = total % comm.size();
  const int64_t begin = each * comm.rank() + std::min<int64_t>(more, comm.rank());
  return {begin, begin + each + (comm.rank() < more ? 1 : 0)};
}

Status SumChecker::damaged(const Damage& damage) const {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}': dataset '{}', rows {} to {}: the data don't match their checksum",
                                                   seen_.path, damage.dataset, damage.first_row, damage.last_row - 1));
}

Status SumChecker::cut_short(const char* before_what) const {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends before its {}: the file is cut short", seen_.path, before_what));
}

void SumChecker::find_slabs() {
  slabs_of_.resize(seen_.catalog.datasets().size());
  repeated_of_.resize(slabs_of_.size());
  listed_.resize(slabs_of_.size());
  for (const std::string& path : seen_.checksums.paths) {
    if (const auto number = seen_.catalog.find(path)) {
      listed_[static_cast<size_t>(*number)] = 1;
    }
  }
  for (size_t i = 0; i < seen_.checksums.slabs.size(); ++i) {
    if (const auto number = entry_of(seen_.checksums.slabs[i].dataset)) {
      const SlabSum& slab = seen_.checksums.slabs[i];
      if (slab.sum == kNoSum && seen_.catalog[*number].checksum_group >= 0) {
        repeated_of_[static_cast<size_t>(*number)].push_back(hull_of(slab));
      } else {
        slabs_of_[static_cast<size_t>(*number)].push_back(static_cast<int>(i));
      }
    }
  }
}

std::optional<int> SumChecker::entry_of(int checksum_dataset) const {
  return seen_.catalog.find(seen_.checksums.paths[static_cast<size_t>(checksum_dataset)]);
}

// Keeps the rows that were read last: many datasets share a table, and usually need the
// same of its rows.
Status SumChecker::read_table_rows(int table, int64_t first_row, int64_t row_count) {
  if (table_rows_.table == table && table_rows_.first_row == first_row && table_rows_.row_count == row_count) {
    return Status();
  }
  auto [offset, rows, columns] = seen_.checksums.tables[static_cast<size_t>(table)];
  table_rows_.table = -1;
  table_rows_.sums.resize(static_cast<size_t>(row_count * columns));
  storage::ReadSegment segment{offset + first_row * columns * kSumBytes, reinterpret_cast<std::byte*>(table_rows_.sums.data()),
                               static_cast<int64_t>(table_rows_.sums.size()) * kSumBytes};
  STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, seen_.file->read(std::span(&segment, 1)));
  if (read_bytes < segment.bytes) {
    return cut_short("checksums");
  }
  table_rows_.table = table;
  table_rows_.first_row = first_row;
  table_rows_.row_count = row_count;
  return Status();
}

Result<std::vector<uint64_t>> SumChecker::read_row_sums(int number, int64_t first_row, int64_t row_count) {
  const DatasetEntry& entry = seen_.catalog[number];
  const int64_t columns = seen_.checksums.tables[static_cast<size_t>(entry.checksum_group)][2];
  STRIA_RETURN_IF_ERROR(read_table_rows(entry.checksum_group, first_row, row_count));
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(table_rows_.sums[static_cast<size_t>(row * columns + entry.checksum_column)]);
  }
  return sums;
}

// Local. A table whose seal is missing or unknown counts as right.
Result<bool> SumChecker::table_is_right(int table) {
  if (!seen_.checksums.is_sealed || seen_.checksums.seal.tables[static_cast<size_t>(table)].count == TableSeal::kUnknown) {
    return true;
  }
  const auto [offset, rows, columns] = seen_.checksums.tables[static_cast<size_t>(table)];
  const int64_t step = std::max<int64_t>(kVerifyBytes / std::max<int64_t>(columns * kSumBytes, 1), 1);
  TableSeal seen;
  for (int64_t row = 0; row < rows; row += step) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
    STRIA_RETURN_IF_ERROR(read_table_rows(table, row, std::min(step, rows - row)));
    for (size_t i = 0; i < table_rows_.sums.size(); ++i) {
      seen.count += table_rows_.sums[i] != 0 ? 1 : 0;
      seen.sum += place_term(row * columns + static_cast<int64_t>(i), table_rows_.sums[i]);
    }
  }
  const TableSeal& sealed = seen_.checksums.seal.tables[static_cast<size_t>(table)];
  return seen.count == sealed.count && seen.sum == sealed.sum;
}

Status SumChecker::hash_into(const Datatype& region, int64_t displacement, StreamingHash& hash, const DatasetEntry* of) {
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(kVerifyBytes, std::max<int64_t>(region.size(), 1))));
  Cursor cursor(region, displacement);
  std::vector<storage::ReadSegment> segments;
  while (!cursor.done()) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
    segments.clear();
    int64_t filled = 0;
    while (!cursor.done() && filled < static_cast<int64_t>(buffer.size()) && segments.size() < kVerifySegments) {
      const ByteRange piece = of == nullptr ? cursor.piece() : of->in_file(cursor.piece());
      int64_t bytes = std::min(piece.size(), static_cast<int64_t>(buffer.size()) - filled);
      segments.push_back({piece.begin, buffer.data() + filled, bytes});
      filled += bytes;
      cursor.advance(bytes);
    }
    STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, seen_.file->read(segments));
    if (read_bytes < filled) {
      return cut_short("data");
    }
    hash.update({buffer.data(), static_cast<size_t>(filled)});
  }
  return Status();
}

Result<uint64_t> SumChecker::hash_range(ByteRange range) {
  StreamingHash hash;
  STRIA_RETURN_IF_ERROR(hash_into(Datatype::bytes(range.size()), range.begin, hash));
  return known(hash.digest());
}

// Zeros for the beginning of a range of raw data, as far as it lies in one piece in a chunk that
// can't be read; nothing if it can, as far as is known.
std::span<const std::byte> SumChecker::zeros_of_bad_chunk(int number, ByteRange range) {
  if (!bad_chunks_ || bad_chunks_->dataset != number) {
    return {};
  }
  const container::ChunkGrid::Run run = bad_chunks_->grid.run_at(range.begin);
  return bad_chunks_->numbers.contains(run.chunk) ? zeros(std::min(range.size(), run.bytes)) : std::span<const std::byte>();
}

std::span<const std::byte> SumChecker::zeros(int64_t most_bytes) {
  zeros_.resize(kWindowBytes);
  return std::span<const std::byte>(zeros_).first(static_cast<size_t>(std::min(most_bytes, kWindowBytes)));
}

// The beginning of a range of raw data, as far as it lies in one piece in a chunk. What can't be
// inflated is damage, and reads as zeros: so no row is named that lies in other chunks alone.
Result<std::span<const std::byte>> SumChecker::chunk_data(int number, ByteRange range, std::vector<Damage>& found) {
  if (const auto bad = zeros_of_bad_chunk(number, range); !bad.empty()) {
    return bad;
  }
  const auto data = seen_.chunks.from(number, range.begin);
  if (data.ok()) {
    return std::span<const std::byte>(*data).first(std::min(data->size(), static_cast<size_t>(range.size())));
  }
  if (data.status().code() != ErrorCode::kCorrupted) {
    return data.status();
  }
  const DatasetEntry& entry = seen_.catalog[number];
  const ByteRange rows = seen_.chunks.damaged_rows();
  add_damage(found, entry.spec.path, rows.begin, rows.end);
  if (rows.size() >= entry.row_count()) {
    return zeros(range.size());  // there may be no chunks, and all rows are named
  }
  if (!bad_chunks_ || bad_chunks_->dataset != number) {
    bad_chunks_.emplace(BadChunks{number, container::ChunkGrid(entry.spec), {}});
  }
  bad_chunks_->numbers.insert(bad_chunks_->grid.run_at(range.begin).chunk);
  return zeros_of_bad_chunk(number, range);
}

// In one piece, or in rows among others.
Status SumChecker::read_raw(const DatasetEntry& entry, ByteRange range, std::byte* out) {
  std::vector<storage::ReadSegment> segments;
  while (!range.empty()) {
    const int64_t begin = range.begin;
    segments.clear();
    while (!range.empty() && segments.size() < kVerifySegments) {
      const ByteRange piece = entry.in_file(range);
      segments.push_back({piece.begin, out, piece.size()});
      out += piece.size();
      range.begin += piece.size();
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, seen_.file->read(segments));
    if (read_bytes < range.begin - begin) {
      return cut_short("data");
    }
  }
  return Status();
}

// Raw data of a dataset, wherever they lie.
Status SumChecker::read_data(int number, ByteRange range, std::byte* out, std::vector<Damage>& found) {
  const DatasetEntry& entry = seen_.catalog[number];
  if (!entry.is_chunked()) {
    return read_raw(entry, range, out);
  }
  while (!range.empty()) {
    STRIA_ASSIGN_OR_RETURN(const auto data, chunk_data(number, range, found));
    out = std::copy(data.begin(), data.end(), out);
    range.begin += static_cast<int64_t>(data.size());
  }
  return Status();
}

Result<uint64_t> SumChecker::hash_region(int number, const Datatype& region, int64_t displacement, std::vector<Damage>& found) {
  StreamingHash hash;
  if (!seen_.catalog[number].is_chunked()) {
    STRIA_RETURN_IF_ERROR(hash_into(region, displacement, hash, &seen_.catalog[number]));
    return known(hash.digest());
  }
  for (Cursor cursor(region, displacement); !cursor.done();) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
    STRIA_ASSIGN_OR_RETURN(const auto data, chunk_data(number, cursor.piece(), found));
    hash.update(data);
    cursor.advance(static_cast<int64_t>(data.size()));
  }
  return known(hash.digest());
}

// Another program that has changed the metadata may have moved chunks.
Status SumChecker::load_chunk_sums(ByteRange superblock) {
  const auto number = seen_.catalog.find(kChunkSumsPath);
  if (!number || !seen_.checksums.is_sealed || seen_.catalog[*number].data_offset < 0) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const uint64_t now, hash_range(superblock));
  if (seen_.checksums.is_changed || now != seen_.checksums.seal.superblock_sum) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(seen_.catalog[*number].problem);
  std::vector<std::byte> content(static_cast<size_t>(seen_.catalog[*number].data_bytes()));
  std::vector<Damage> none;
  STRIA_RETURN_IF_ERROR(read_data(*number, {0, static_cast<int64_t>(content.size())}, content.data(), none));
  STRIA_ASSIGN_OR_RETURN(ChunkSums sums, decode_chunk_sums(content));
  seen_.chunks.compare_with(std::move(sums));
  return Status();
}

Status SumChecker::check_slab(const SlabSum& slab, std::vector<Damage>& found) {
  const auto entry_number = entry_of(slab.dataset);
  if (!entry_number || slab.sum == kNoSum) {
    return Status();  // check_names() has it, or there is nothing to compare
  }
  const int number = *entry_number;
  if (!seen_.catalog[number].is_readable()) {
    return Status();  // another program has filtered it since
  }
  const DatasetEntry& entry = seen_.catalog[number];
  const ByteRange hull = hull_of(slab);
  if (hull.end > entry.data_bytes() || hull.begin < 0) {
    return Status(ErrorCode::kFormat,
                  fmt::format("'{}': a checksum record lies outside of dataset '{}'", seen_.path, entry.spec.path));
  }
  STRIA_ASSIGN_OR_RETURN(const uint64_t seen, hash_region(number, slab.region, slab.displacement, found));
  return seen == slab.sum ? Status() : mismatch(slab, number, found);
}

// Reads as many rows at a time as fit a buffer, with their part of the table of sums.
Status SumChecker::check_stored_rows(int number, ByteRange rows, std::vector<Damage>& found, bool& any_sum) {
  const DatasetEntry& entry = seen_.catalog[number];
  int64_t sums_bytes = seen_.checksums.tables[static_cast<size_t>(entry.checksum_group)][2] * kSumBytes;
  int64_t step = std::max<int64_t>(kVerifyBytes / std::max(entry.row_bytes(), sums_bytes), 1);
  for (int64_t begin = rows.begin; begin < rows.end; begin += step) {
    int64_t count = std::min(step, rows.end - begin);
    STRIA_ASSIGN_OR_RETURN(const auto stored, read_row_sums(number, begin, count));
    STRIA_ASSIGN_OR_RETURN(const auto seen, hash_rows(number, begin, count, found));
    for (int64_t row = 0; row < count; ++row) {
      const uint64_t expected = stored[static_cast<size_t>(row)];
      any_sum = any_sum || expected != 0;
      if (expected != 0 && expected != seen[static_cast<size_t>(row)]) {
        STRIA_RETURN_IF_ERROR(mismatch(number, begin + row, found));
      }
    }
  }
  return Status();
}

Result<std::vector<uint64_t>> SumChecker::hash_rows(int number, int64_t first_row, int64_t row_count,
                                                    std::vector<Damage>& found) {
  const int64_t row_bytes = seen_.catalog[number].row_bytes();
  const int64_t begin = first_row * row_bytes;
  if (row_count == 1) {
    STRIA_ASSIGN_OR_RETURN(const uint64_t sum, hash_region(number, Datatype::bytes(row_bytes), begin, found));
    return std::vector<uint64_t>{sum};
  }
  STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
  std::vector<std::byte> rows(static_cast<size_t>(row_count * row_bytes));
  STRIA_RETURN_IF_ERROR(read_data(number, {begin, begin + row_count * row_bytes}, rows.data(), found));
  std::vector<uint64_t> sums;
  for (int64_t row = 0; row < row_count; ++row) {
    sums.push_back(sum_of({rows.data() + row * row_bytes, static_cast<size_t>(row_bytes)}));
  }
  return sums;
}

// Marks the bytes of the window, which is one of the dataset's raw data, that have a sum.
Status SumChecker::mark_summed(int number, ByteRange window, std::vector<char>& marks) {
  const DatasetEntry& entry = seen_.catalog[number];
  const auto mark = [&](ByteRange range) {
    const ByteRange inside = intersect(range, window);
    std::fill_n(marks.begin() + (inside.begin - window.begin), inside.size(), 1);
  };
  if (entry.checksum_group >= 0) {
    const int64_t row_bytes = entry.row_bytes();
    const int64_t first = window.begin / row_bytes;
    STRIA_ASSIGN_OR_RETURN(const auto sums, read_row_sums(number, first, (window.end + row_bytes - 1) / row_bytes - first));
    for (size_t i = 0; i < sums.size(); ++i) {
      const int64_t row = first + static_cast<int64_t>(i);
      if (sums[i] != 0) {
        mark({row * row_bytes, (row + 1) * row_bytes});
      }
    }
  }
  for (int slab_number : slabs_of_[static_cast<size_t>(number)]) {
    const SlabSum& slab = seen_.checksums.slabs[static_cast<size_t>(slab_number)];
    if (intersect(hull_of(slab), window).empty()) {
      continue;
    }
    Cursor cursor(slab.region, slab.displacement);
    for (cursor.seek_offset(window.begin); !cursor.done() && cursor.piece().begin < window.end;
         cursor.advance(cursor.piece().size())) {
      mark(cursor.piece());
    }
  }
  return Status();
}

// What was never put reads as the fill value. So everything in `range` of the raw data without a
// sum must have it.
Status SumChecker::check_unwritten(int number, ByteRange range, std::vector<Damage>& found) {
  const DatasetEntry& entry = seen_.catalog[number];
  const int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
  std::vector<char> marks;
  std::vector<std::byte> data;
  for (int64_t begin = range.begin; begin < range.end; begin += kWindowBytes) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
    const ByteRange window{begin, std::min(begin + kWindowBytes, range.end)};
    marks.assign(static_cast<size_t>(window.size()), 0);
    STRIA_RETURN_IF_ERROR(mark_summed(number, window, marks));
    if (std::find(marks.begin(), marks.end(), 0) == marks.end()) {
      continue;
    }
    data.resize(marks.size());
    STRIA_RETURN_IF_ERROR(read_data(number, window, data.data(), found));
    for (size_t i = 0; i < data.size(); ++i) {
      if (marks[i] == 0 && data[i] != container::unwritten_byte(entry.spec.fill_value, begin + static_cast<int64_t>(i))) {
        const int64_t row = (begin + static_cast<int64_t>(i)) / row_bytes;
        add_damage(found, entry.spec.path, row, row + 1);
      }
    }
  }
  return Status();
}

// Reads all chunks that have bytes of a range, which compares them with their sums.
Status SumChecker::check_chunks(int number, ByteRange range, Findings& findings) {
  while (!range.empty()) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(seen_.signal));
    STRIA_ASSIGN_OR_RETURN(const auto data, chunk_data(number, range, findings.damages));
    range.begin += static_cast<int64_t>(data.size());
  }
  if (seen_.chunks.has_sums(number)) {
    findings.summed.push_back(number);
  }
  return Status();
}

// Checks this rank's part of a dataset: its rows where they have sums, and what was never put.
Status SumChecker::check_dataset(int number, const Comm& comm, Findings& findings) {
  const DatasetEntry& entry = seen_.catalog[number];
  const bool by_rows = entry.checksum_group >= 0;
  if (!entry.is_readable()) {
    return Status();
  }
  if (entry.is_lossy()) {
    return check_chunks(number, share_of(entry.data_bytes(), comm), findings);
  }
  if (by_rows) {
    const ByteRange rows = share_of(entry.own_rows(), comm);
    bool any_sum = false;
    STRIA_RETURN_IF_ERROR(check_stored_rows(number, rows, findings.damages, any_sum));
    if (any_sum) {
      findings.summed.push_back(number);
    }
    if (seen_.checksums.is_full(entry.checksum_group)) {
      return Status();
    }
  }
  return check_unwritten(number, share_of(entry.own_rows() * entry.row_bytes(), comm), findings.damages);
}

Status SumChecker::check_tables(const Comm& comm, std::vector<Damage>& found) {
  for (size_t i = 0; seen_.checksums.is_sealed && i < seen_.checksums.tables.size(); ++i) {
    if (static_cast<int>(i % static_cast<size_t>(comm.size())) == comm.rank()) {
      STRIA_ASSIGN_OR_RETURN(const bool is_right, table_is_right(static_cast<int>(i)));
      if (!is_right) {
        add_damage(found, RowTable::path(i), 0, seen_.checksums.tables[i][1]);
      }
    }
  }
  return Status();
}

}  // namespace stria::file
