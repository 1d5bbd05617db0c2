#include "file/write/stages/updating.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/hash.hpp"
#include "base/out_of_memory.hpp"
#include "base/united_ranges.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/checksums/seal.hpp"
#include "file/chunks/put_into_chunks.hpp"
#include "file/meet/share_of.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kSummedAtOnceBytes = 1 << 20;

Status read_all(storage::File& file, int64_t offset, std::span<std::byte> out) {
  const storage::ReadSegment segment{offset, out.data(), static_cast<int64_t>(out.size())};
  STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, file.read(std::span(&segment, 1)));
  return read_bytes == segment.bytes ? Status() : Status(ErrorCode::kCorrupted, "the file is cut short");
}

// Calls `take` with all bytes of a range, one piece behind another.
template <typename Take>
Status read_in_pieces(storage::File& file, ByteRange range, Take&& take) {
  std::vector<std::byte> piece(static_cast<size_t>(std::min(range.size(), kSummedAtOnceBytes)));
  while (!range.empty()) {
    const auto bytes = std::span(piece).first(static_cast<size_t>(std::min(range.size(), kSummedAtOnceBytes)));
    STRIA_RETURN_IF_ERROR(read_all(file, range.begin, bytes));
    take(std::span<const std::byte>(bytes));
    range.begin += static_cast<int64_t>(bytes.size());
  }
  return Status();
}

// Returns the dataset's number in the catalog of what the file has.
int number_before(const OldFile& old, const DatasetEntry& dataset) {
  return old.content().catalog.find(dataset.spec.path).value();
}

// Says where the file has a dataset's sums.
struct PlaceOfSums {
  bool is_summed = false;
  int64_t table = -1;
  int64_t column = -1;
  bool has_records = false;
};

PlaceOfSums place_of(const ChecksumIndex& sums, const DatasetEntry& dataset) {
  PlaceOfSums place;
  const auto listed = std::find(sums.paths.begin(), sums.paths.end(), dataset.spec.path);
  if (!dataset.is_updated || listed == sums.paths.end()) {
    return place;  // nothing is overwritten, or another program has added it
  }
  const auto number = static_cast<size_t>(listed - sums.paths.begin());
  place.is_summed = true;
  std::tie(place.table, place.column) = sums.placement[number];
  place.has_records = std::any_of(sums.slabs.begin(), sums.slabs.end(),
                                  [&](const SlabSum& slab) { return slab.dataset == static_cast<int>(number); });
  return place;
}

Result<uint64_t> sum_of_raw(OldFile& old, storage::File& file, const DatasetEntry& dataset, ByteRange raw) {
  StreamingHash hash;
  if (!dataset.is_chunked()) {
    const ByteRange in_file{dataset.data_offset + raw.begin, dataset.data_offset + raw.end};
    STRIA_RETURN_IF_ERROR(read_in_pieces(file, in_file, [&](std::span<const std::byte> bytes) { hash.update(bytes); }));
    return std::max<uint64_t>(hash.digest(), 1);
  }
  while (!raw.empty()) {
    STRIA_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, old.from_chunk(number_before(old, dataset), raw.begin));
    bytes = bytes.first(std::min(bytes.size(), static_cast<size_t>(raw.size())));
    hash.update(bytes);
    raw.begin += static_cast<int64_t>(bytes.size());
  }
  return std::max<uint64_t>(hash.digest(), 1);
}

// Puts the sums of rows into their table.
Status sum_rows(OldFile& old, storage::File& file, const DatasetEntry& dataset, const PlaceOfSums& place, ByteRange rows) {
  const auto& [table_offset, row_count, columns] = old.content().checksums.tables[static_cast<size_t>(place.table)];
  if (rows.end > row_count) {
    return Status(ErrorCode::kFormat, "dataset '" + dataset.spec.path + "' and its table of checksums differ in rows");
  }
  const int64_t row_bytes = dataset.row_bytes();
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    STRIA_ASSIGN_OR_RETURN(const uint64_t sum, sum_of_raw(old, file, dataset, {row * row_bytes, (row + 1) * row_bytes}));
    const storage::WriteSegment segment{table_offset + (row * columns + place.column) * kRowSumBytes,
                                        reinterpret_cast<const std::byte*>(&sum), kRowSumBytes};
    STRIA_RETURN_IF_ERROR(file.write(std::span(&segment, 1)));
  }
  return Status();
}

// Chunks without filters are in the file as in memory.
Result<std::vector<SummedChunk>> sum_chunks(OldFile& old, const DatasetEntry& dataset, std::vector<ByteRange> touched) {
  std::vector<SummedChunk> summed;
  for (const ByteRange& range : united(std::move(touched))) {
    for (int64_t chunk = range.begin; chunk < range.end; ++chunk) {
      STRIA_ASSIGN_OR_RETURN(const auto bytes, old.chunk(number_before(old, dataset), chunk));
      summed.push_back({.place = {.number = chunk}, .sum = std::max<uint64_t>(hash_bytes(bytes), 1)});
    }
  }
  return summed;
}

// Returns what this rank has touched of a dataset.
std::vector<ByteRange> touched_of(const std::vector<std::vector<ByteRange>>& touched, int dataset) {
  const auto number = static_cast<size_t>(dataset);
  return number < touched.size() ? touched[number] : std::vector<ByteRange>();
}

// Sums up this rank's share, when all ranks have written: rows in their tables, chunks, and of
// anything else the records that it returns.
Result<std::vector<std::byte>> sum_share(const OpenFile& file, storage::File& written, OldFile& old, Gathering& gathering,
                                         const Touched& touched) {
  std::vector<std::byte> records;
  for (int number = 0; number < file.catalog.size(); ++number) {
    const DatasetEntry& dataset = file.catalog[number];
    const PlaceOfSums place = place_of(old.content().checksums, dataset);
    if (std::vector<ByteRange> chunks = touched_of(touched.chunks, number); !chunks.empty()) {
      STRIA_ASSIGN_OR_RETURN(auto summed, sum_chunks(old, dataset, std::move(chunks)));
      gathering.keep_chunks(number, std::move(summed));
    }
    if (!place.is_summed) {
      continue;
    }
    if (place.table < 0) {
      const ByteRange share = share_of(dataset.data_bytes(), file.comm());
      if (!share.empty()) {
        STRIA_ASSIGN_OR_RETURN(const uint64_t sum, sum_of_raw(old, written, dataset, share));
        encode_slab_sum({.dataset = number, .displacement = share.begin, .region = Datatype::bytes(share.size()), .sum = sum},
                        records);
      }
      continue;
    }
    const std::vector<ByteRange> rows = place.has_records ? std::vector<ByteRange>{share_of(dataset.row_count(), file.comm())}
                                                          : united(touched_of(touched.rows, number));
    for (const ByteRange& range : rows) {
      STRIA_RETURN_IF_ERROR(sum_rows(old, written, dataset, place, range));
    }
  }
  return records;
}

// Takes the sums of the tables anew, on rank 0, when all ranks have taken theirs.
Status sum_tables(const Catalog& catalog, storage::File& file, ChecksumIndex& sums) {
  if (!sums.is_sealed) {
    return Status();
  }
  std::vector<char> changed(sums.tables.size(), 0);
  for (const DatasetEntry& dataset : catalog.datasets()) {
    if (const PlaceOfSums place = place_of(sums, dataset); place.table >= 0) {
      changed[static_cast<size_t>(place.table)] = 1;
    }
  }
  for (size_t table = 0; table < changed.size(); ++table) {
    if (changed[table] == 0) {
      continue;
    }
    const auto& [offset, row_count, columns] = sums.tables[table];
    const ByteRange content{offset, offset + row_count * columns * kRowSumBytes};
    TableSeal seal;
    int64_t at = 0;
    STRIA_RETURN_IF_ERROR(read_in_pieces(file, content, [&](std::span<const std::byte> bytes) {
      for (; !bytes.empty(); bytes = bytes.subspan(sizeof(uint64_t)), ++at) {
        uint64_t sum = 0;
        std::memcpy(&sum, bytes.data(), sizeof sum);
        seal.count += sum != 0 ? 1 : 0;
        seal.sum += place_term(at, sum);
      }
    }));
    sums.seal.tables[table] = seal;
  }
  return Status();
}

}  // namespace

bool updates_any(const Catalog& catalog) {
  const auto datasets = catalog.datasets();
  return std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& dataset) { return dataset.is_updated; });
}

Status note_touched(const Catalog& catalog, OldFile& old, std::span<Transfer> puts, Touched& touched) {
  touched.rows.resize(static_cast<size_t>(catalog.size()));
  touched.chunks.resize(touched.rows.size());
  for (Transfer& put : puts) {
    const DatasetEntry& dataset = catalog[put.dataset];
    if (!dataset.is_updated) {
      continue;
    }
    const auto number = static_cast<size_t>(put.dataset);
    touched.rows[number].push_back({put.first_row, put.first_row + put.row_count});
    if (dataset.is_chunked()) {
      STRIA_ASSIGN_OR_RETURN(const auto index, old.chunk_index(number_before(old, dataset)));
      STRIA_RETURN_IF_ERROR(put_into_chunks(dataset, index, put, touched.chunks[number]));
    }
  }
  return Status();
}

Status sum_again(OpenFile& file, Defined& defined, NewFile& target, Gathering& gathering, const Touched& touched) {
  if (!defined.options.checksums) {
    return Status();
  }
  PhaseTimer timer(file.accounts.times(), Phase::kCommit);
  const Status summed = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(target.open(file, {.writes = false, .has_data = true, .direct = false}));
    STRIA_ASSIGN_OR_RETURN(const std::vector<std::byte> records,
                           sum_share(file, *target.handles().cached(), defined.old, gathering, touched));
    gathering.keep_records(records);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(file.comm().agree(summed));
  if (!file.meetings.is_root()) {
    return Status();
  }
  return or_out_of_memory(
      [&] { return sum_tables(file.catalog, *target.handles().cached(), defined.old.content().checksums); });
}

}  // namespace stria::file
