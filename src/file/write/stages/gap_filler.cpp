#include "file/write/stages/gap_filler.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "container/fill_value.hpp"
#include "datatype/cursor.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kFilledAtOnceBytes = 1 << 20;
constexpr size_t kSegmentsAtOnce = 256;

// Returns the bytes of the rows that the file doesn't have.
int64_t new_bytes(const DatasetEntry& dataset) {
  return dataset.data_bytes() - dataset.old_rows * dataset.row_bytes();
}

bool may_have_gaps(const DatasetEntry& dataset) {
  return !dataset.is_updated && !dataset.is_chunked() && !dataset.spec.fill_value.empty() && new_bytes(dataset) > 0;
}

constexpr uint64_t kPlaceMask = (uint64_t{1} << 40) - 1;  // sums of many ranks don't overflow

// Returns twice the sum of the places of some bytes, modulo 2^40.
uint64_t place_sum(int64_t begin, int64_t bytes) {
  return static_cast<uint64_t>(bytes) * static_cast<uint64_t>(2 * begin + bytes - 1) & kPlaceMask;
}

// Returns the same of what a put has. 0 where rows lie among others', whose places are others.
uint64_t place_sum(const Transfer& put, const DatasetEntry& dataset) {
  uint64_t sum = 0;
  if (dataset.is_interleaved()) {
    return sum;
  }
  for (Cursor cursor(put.region, put.displacement); !cursor.done();) {
    const PieceRow row = cursor.row();
    const auto count = static_cast<uint64_t>(row.count);
    sum += count * place_sum(row.begin, row.piece_bytes) +
           static_cast<uint64_t>(row.piece_bytes) * static_cast<uint64_t>(row.stride) * count * (count - 1);
    cursor.advance_row(row.count);
  }
  return sum & kPlaceMask;
}

// Writes the elements [begin, end) of a dataset, which are counted in bytes.
Status write_fill_value(storage::File& file, const DatasetEntry& dataset, ByteRange share) {
  const auto width = static_cast<int64_t>(dataset.spec.fill_value.size());
  std::vector<std::byte> values(static_cast<size_t>(std::min(align_up(kFilledAtOnceBytes, width), share.size())));
  container::lay_fill_value(dataset.spec.fill_value, values);
  std::vector<storage::WriteSegment> segments;
  while (!share.empty()) {
    segments.clear();
    while (!share.empty() && segments.size() < kSegmentsAtOnce) {
      const ByteRange piece = dataset.in_file(share);
      const int64_t bytes = std::min(piece.size(), static_cast<int64_t>(values.size()));
      segments.push_back({piece.begin, values.data(), bytes});
      share.begin += bytes;
    }
    STRIA_RETURN_IF_ERROR(file.write(segments));
  }
  return Status();
}

// Writes this rank's share of the elements that the file doesn't have.
Status fill_share(storage::File& file, const DatasetEntry& dataset, const Comm& comm) {
  const auto width = static_cast<int64_t>(dataset.spec.fill_value.size());
  const int64_t elements = new_bytes(dataset) / width;
  STRIA_CHECK(elements * width == new_bytes(dataset), elements, width);
  const auto begin_of = [&](int rank) {
    const int64_t before = elements / comm.size() * rank + std::min<int64_t>(rank, elements % comm.size());
    return dataset.data_bytes() - new_bytes(dataset) + before * width;
  };
  return write_fill_value(file, dataset, {begin_of(comm.rank()), begin_of(comm.rank() + 1)});
}

// Finds the datasets that have gaps now. Collective, and the error is agreed on.
Result<std::vector<int>> find_gaps(const OpenFile& file, FilledDatasets& full, bool last) {
  std::vector<int> candidates;
  std::vector<int64_t> put_bytes;  // bytes of each candidate; behind them the sums of their places
  const Status counted = or_out_of_memory([&] {
    full.resize(static_cast<size_t>(file.catalog.size()));
    for (int i = 0; i < file.catalog.size(); ++i) {
      if (full[static_cast<size_t>(i)] == 0 && may_have_gaps(file.catalog[i])) {
        candidates.push_back(i);
      }
    }
    put_bytes.resize(2 * candidates.size());
    for (const Transfer& put : file.pending) {
      const auto found = std::lower_bound(candidates.begin(), candidates.end(), put.dataset);
      if (found != candidates.end() && *found == put.dataset) {
        const auto number = static_cast<size_t>(found - candidates.begin());
        put_bytes[number] += put.region.size();
        auto& places = put_bytes[candidates.size() + number];
        places = static_cast<int64_t>((static_cast<uint64_t>(places) + place_sum(put, file.catalog[put.dataset])) & kPlaceMask);
      }
    }
    return Status();
  });
  // A rank that lacks memory doesn't know whether there are any.
  STRIA_RETURN_IF_ERROR(file.comm().agree(counted));
  if (candidates.empty()) {
    return candidates;
  }
  file.comm().all_reduce(put_bytes, ReduceOp::kSum);
  size_t kept = 0;
  const size_t count = candidates.size();
  for (size_t i = 0; i < count; ++i) {
    const int number = candidates[i];
    const DatasetEntry& dataset = file.catalog[number];
    const uint64_t places = static_cast<uint64_t>(put_bytes[count + i]) & kPlaceMask;
    const uint64_t all =
        dataset.is_interleaved() ? 0 : place_sum(dataset.data_bytes() - new_bytes(dataset), new_bytes(dataset));
    const bool is_whole = put_bytes[i] == new_bytes(dataset) && places == all;
    if (is_whole || put_bytes[i] > 0 || last) {
      full[static_cast<size_t>(number)] = 1;
      candidates[kept] = number;
      kept += is_whole ? 0 : 1;
    }
  }
  candidates.resize(kept);
  return candidates;
}

}  // namespace

Status fill_gaps(OpenFile& file, NewFile& target, FilledDatasets& full, bool last) {
  const auto datasets = file.catalog.datasets();
  if (std::none_of(datasets.begin(), datasets.end(), may_have_gaps)) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<int> gaps, find_gaps(file, full, last));
  if (gaps.empty()) {
    return Status();
  }
  const Status filled = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(target.open(file, {.writes = true, .has_data = true, .direct = false}));
    PhaseTimer timer(file.accounts.times(), Phase::kWrite);
    storage::File& handle = *target.handles().cached();
    for (const int number : gaps) {
      STRIA_RETURN_IF_ERROR(fill_share(handle, file.catalog[number], file.comm()));
    }
    // Where each node caches the file by itself, fill values that a node still has in its cache
    // could be written over data that another node has put meanwhile. So they are synced first.
    return file.capabilities.node_local_cache ? Status() : handle.sync();
  });
  return file.comm().agree(filled);
}

}  // namespace stria::file
