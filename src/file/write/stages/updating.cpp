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

// The sums that follow what was overwritten.
class SumsAgain {
 public:
  SumsAgain(const OpenFile& file, OldFile& old, Gathering& gathering, const Touched& touched)
      : catalog_(file.catalog), comm_(file.comm()), old_(old), gathering_(gathering), touched_(touched) {}

  /// This rank's share, when all ranks have written: rows in their tables, and of anything else the
  /// records that it appends to `records`.
  Status sum_share(storage::File& file, std::vector<std::byte>& records) const;
  /// Takes the sums of the tables, on rank 0, when all ranks have taken theirs.
  Status sum_tables(storage::File& file) const;

 private:
  /// Says where the file has a dataset's sums.
  struct Place {
    bool is_summed = false;
    int64_t table = -1;
    int64_t column = -1;
    bool has_records = false;
  };
  Place place_of(const DatasetEntry& dataset) const;
  Status sum_rows(storage::File& file, const DatasetEntry& dataset, const Place& place, ByteRange rows) const;
  Status sum_chunks(int number) const;
  Result<uint64_t> sum_of_raw(storage::File& file, const DatasetEntry& dataset, ByteRange raw) const;

  const Catalog& catalog_;
  const Comm& comm_;
  OldFile& old_;
  Gathering& gathering_;
  const Touched& touched_;
};

Result<uint64_t> SumsAgain::sum_of_raw(storage::File& file, const DatasetEntry& dataset, ByteRange raw) const {
  StreamingHash hash;
  if (!dataset.is_chunked()) {
    const ByteRange in_file{dataset.data_offset + raw.begin, dataset.data_offset + raw.end};
    STRIA_RETURN_IF_ERROR(read_in_pieces(file, in_file, [&](std::span<const std::byte> bytes) { hash.update(bytes); }));
    return std::max<uint64_t>(hash.digest(), 1);
  }
  while (!raw.empty()) {
    STRIA_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, old_.from_chunk(number_before(old_, dataset), raw.begin));
    bytes = bytes.first(std::min(bytes.size(), static_cast<size_t>(raw.size())));
    hash.update(bytes);
    raw.begin += static_cast<int64_t>(bytes.size());
  }
  return std::max<uint64_t>(hash.digest(), 1);
}

SumsAgain::Place SumsAgain::place_of(const DatasetEntry& dataset) const {
  Place place;
  const ChecksumIndex& sums = old_.content().checksums;
  const auto listed = std::find(sums.paths.begin(), sums.paths.end(), dataset.spec.path);
  if (listed == sums.paths.end()) {
    return place;  // another program has added it
  }
  const auto number = static_cast<size_t>(listed - sums.paths.begin());
  place.is_summed = true;
  std::tie(place.table, place.column) = sums.placement[number];
  place.has_records = std::any_of(sums.slabs.begin(), sums.slabs.end(),
                                  [&](const SlabSum& slab) { return slab.dataset == static_cast<int>(number); });
  return place;
}

Status SumsAgain::sum_rows(storage::File& file, const DatasetEntry& dataset, const Place& place, ByteRange rows) const {
  const auto& [table_offset, row_count, columns] = old_.content().checksums.tables[static_cast<size_t>(place.table)];
  if (rows.end > row_count) {
    return Status(ErrorCode::kFormat, "dataset '" + dataset.spec.path + "' and its table of checksums differ in rows");
  }
  const int64_t row_bytes = dataset.row_bytes();
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    STRIA_ASSIGN_OR_RETURN(const uint64_t sum, sum_of_raw(file, dataset, {row * row_bytes, (row + 1) * row_bytes}));
    const storage::WriteSegment segment{table_offset + (row * columns + place.column) * kRowSumBytes,
                                        reinterpret_cast<const std::byte*>(&sum), kRowSumBytes};
    STRIA_RETURN_IF_ERROR(file.write(std::span(&segment, 1)));
  }
  return Status();
}

Status SumsAgain::sum_share(storage::File& file, std::vector<std::byte>& records) const {
  for (int number = 0; number < catalog_.size(); ++number) {
    const DatasetEntry& dataset = catalog_[number];
    const Place place = dataset.is_updated ? place_of(dataset) : Place();
    STRIA_RETURN_IF_ERROR(sum_chunks(number));
    if (!place.is_summed) {
      continue;
    }
    if (place.table < 0) {
      const ByteRange share = share_of(dataset.data_bytes(), comm_);
      if (!share.empty()) {
        STRIA_ASSIGN_OR_RETURN(const uint64_t sum, sum_of_raw(file, dataset, share));
        encode_slab_sum({.dataset = number, .displacement = share.begin, .region = Datatype::bytes(share.size()), .sum = sum},
                        records);
      }
      continue;
    }
    std::vector<ByteRange> rows;
    if (place.has_records) {
      rows.push_back(share_of(dataset.row_count(), comm_));
    } else if (static_cast<size_t>(number) < touched_.rows.size()) {
      rows = united(touched_.rows[static_cast<size_t>(number)]);
    }
    for (const ByteRange& range : rows) {
      STRIA_RETURN_IF_ERROR(sum_rows(file, dataset, place, range));
    }
  }
  return Status();
}

// Chunks without filters are in the file as in memory.
Status SumsAgain::sum_chunks(int number) const {
  if (static_cast<size_t>(number) >= touched_.chunks.size() || touched_.chunks[static_cast<size_t>(number)].empty()) {
    return Status();
  }
  std::vector<SummedChunk> summed;
  for (const ByteRange& range : united(touched_.chunks[static_cast<size_t>(number)])) {
    for (int64_t chunk = range.begin; chunk < range.end; ++chunk) {
      STRIA_ASSIGN_OR_RETURN(const auto bytes, old_.chunk(number_before(old_, catalog_[number]), chunk));
      summed.push_back({.place = {.number = chunk}, .sum = std::max<uint64_t>(hash_bytes(bytes), 1)});
    }
  }
  gathering_.keep_chunks(number, std::move(summed));
  return Status();
}

Status SumsAgain::sum_tables(storage::File& file) const {
  ChecksumIndex& sums = old_.content().checksums;
  if (!sums.is_sealed) {
    return Status();
  }
  std::vector<char> changed(sums.tables.size(), 0);
  for (const DatasetEntry& dataset : catalog_.datasets()) {
    const Place place = dataset.is_updated ? place_of(dataset) : Place();
    if (place.table >= 0) {
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

Status sum_again(OpenFile& file, Defined& defined, NewFile& target, Gathering& gathering, const Touched& touched,
                 const Status& moved) {
  STRIA_RETURN_IF_ERROR(file.comm().agree(moved));
  if (!defined.options.checksums) {
    return Status();
  }
  PhaseTimer timer(file.accounts.times(), Phase::kCommit);
  const SumsAgain sums(file, defined.old, gathering, touched);
  const Status summed = or_out_of_memory([&]() -> Status {
    std::vector<std::byte> records;
    STRIA_RETURN_IF_ERROR(target.open({.writes = false, .has_data = true, .direct = false}));
    STRIA_RETURN_IF_ERROR(sums.sum_share(*target.handles().cached(), records));
    gathering.keep_records(records);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(file.comm().agree(summed));
  return file.meetings.is_root() ? or_out_of_memory([&] { return sums.sum_tables(*target.handles().cached()); }) : Status();
}

}  // namespace stria::file
