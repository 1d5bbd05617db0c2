#include "file/read/gets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "access/move.hpp"
#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/chunks/chunk_unpacker.hpp"
#include "file/move/progress_meter.hpp"
#include "file/move/transfer_set.hpp"
#include "file/verify/get_checks.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kLibraryReadBytes = 16 << 20;
// The most that is broadcast whole, because a damaged or hostile header may claim anything.
constexpr int64_t kSmallBytesMax = 256 << 20;

// Copies: a move that fails may be made once more.
struct ByWay {
  std::vector<Transfer> direct;
  std::vector<Transfer> in_chunks;
  std::vector<Transfer> through_library;
};

ByWay sorted_by_way(std::span<const Transfer> pending, const Catalog& catalog) {
  ByWay sorted;
  for (const Transfer& transfer : pending) {
    const DatasetEntry& entry = catalog[transfer.dataset];
    auto& way = entry.data_offset >= 0 ? sorted.direct : entry.is_chunked() ? sorted.in_chunks : sorted.through_library;
    way.push_back(transfer);
  }
  return sorted;
}

// Each rank reads out of chunks by itself.
Status read_chunks(const std::vector<Transfer>& gets, const ReadFrom& from, access::AbortSignal* signal,
                   ProgressMeter& progress) {
  if (gets.empty()) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(from.checks() ? load_chunk_sums(from, signal) : Status());
  STRIA_ASSIGN_OR_RETURN(const auto set,
                         TransferSet::create(gets, from.catalog.datasets(),
                                             {.checksums = from.checks(), .progress = &progress, .own_lanes = true}));
  STRIA_RETURN_IF_ERROR(unpack_chunks({.catalog = from.catalog,
                                       .transfers = gets,
                                       .set = *set,
                                       .chunks = from.chunks,
                                       .times = from.by.times,
                                       .signal = signal}));
  return from.checks() ? check_gets(summed(from, signal), gets, *set) : Status();
}

// Compact, or in chunks with filters or an index that we don't know: libhdf5 reads rows into a
// buffer, the packer converts from there.
Status read_through_library(const Transfer& get, const ReadFrom& from, access::AbortSignal* signal, ProgressMeter& progress) {
  if (get.has_gaps) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("dataset '{}' takes libhdf5 to be read: read it by boxes, without strides or maps",
                              from.catalog[get.dataset].spec.path));
  }
  STRIA_RETURN_IF_ERROR(open_reader(from.file));
  DatasetEntry entry = from.catalog[get.dataset];
  entry.spec.element.big_endian = false;  // the library has turned the numbers
  entry.data_offset = 0;
  std::vector<Transfer> one = {get};
  one[0].dataset = 0;
  STRIA_ASSIGN_OR_RETURN(auto set, TransferSet::create(one, std::span(&entry, 1), {.progress = &progress}));
  int64_t rows = get.count.empty() ? 1 : get.count[0];
  int64_t row_bytes = get.region.size() / std::max<int64_t>(rows, 1);
  int64_t step = std::max<int64_t>(kLibraryReadBytes / std::max<int64_t>(row_bytes, 1), 1);
  std::vector<std::byte> buffer;
  for (int64_t row = 0; row < rows; row += step) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(signal));
    int64_t step_rows = std::min(step, rows - row);
    std::vector<int64_t> start = get.start;
    std::vector<int64_t> count = get.count;
    if (!start.empty()) {
      start[0] += row;
      count[0] = step_rows;
    }
    buffer.resize(static_cast<size_t>(step_rows * row_bytes));
    {
      PhaseTimer timer(from.by.times, Phase::kRead);
      STRIA_RETURN_IF_ERROR(from.file.reader->read_hyperslab(entry.spec.path, start, count, buffer));
    }
    PhaseTimer timer(from.by.times, Phase::kUnpack);
    access::StreamPart part{
        .stream_id = 0, .begin = row * row_bytes, .end = (row + step_rows) * row_bytes, .packed = buffer.data()};
    set->unpack(std::span(&part, 1));
  }
  return Status();
}

Status deliver_records(const ByWay& gets, PhaseTimes& times) {
  PhaseTimer timer(times, Phase::kUnpack);
  for (const std::vector<Transfer>* way : {&gets.direct, &gets.in_chunks, &gets.through_library}) {
    for (const Transfer& get : *way) {
      STRIA_RETURN_IF_ERROR(get.records == nullptr ? Status() : get.records->deliver());
    }
  }
  return Status();
}

}  // namespace

SummedFile summed(const ReadFrom& from, access::AbortSignal* signal) {
  STRIA_ASSERT(from.file.file != nullptr, from.by.given_path);
  return {.path = from.by.given_path,
          .catalog = from.catalog,
          .sums = from.sums.index,
          .records = from.sums.records,
          .file = *from.file.file,
          .chunks = from.chunks,
          .rows = from.sums.rows,
          .signal = signal};
}

Status load_chunk_sums(const ReadFrom& from, access::AbortSignal* signal) {
  if (from.sums.has_chunk_sums || !from.catalog.find(kChunkSumsPath)) {
    return Status();
  }
  // A file without chunks has a table without sums, which one rank looks at for all.
  const auto datasets = from.catalog.datasets();
  if (!from.by.is_root() && std::none_of(datasets.begin(), datasets.end(), [](const auto& one) { return one.is_chunked(); })) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(open_reader(from.file));
  STRIA_ASSIGN_OR_RETURN(std::optional<ChunkSums> sums, read_chunk_sums(summed(from, signal), from.file.reader->superblock()));
  if (sums) {
    from.chunks.compare_with(std::move(*sums));
  }
  from.sums.has_chunk_sums = true;
  return Status();
}

Status move_gets(const Gets& gets, const ReadFrom& from, Meetings& meetings, Accounts& accounts) {
  ByWay ways;
  ProgressMeter progress(gets.progress, gets.pending);
  auto set = or_out_of_memory([&]() -> Result<std::unique_ptr<TransferSet>> {
    STRIA_RETURN_IF_ERROR(meetings.reserve().status());
    ways = sorted_by_way(gets.pending, from.catalog);
    STRIA_RETURN_IF_ERROR(open_handle(from.by, from.file));
    return TransferSet::create(
        ways.direct, from.catalog.datasets(),
        {.checksums = from.checks(), .progress = &progress, .own_lanes = gets.plan.as<access::Alone>() != nullptr});
  });
  if (gets.plan.as<access::ThroughAggregators>() != nullptr && !meetings.comm().agree(set.status()).ok() && set.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to read");
  }
  STRIA_RETURN_IF_ERROR(set.status());
  access::Context context{meetings.comm(), from.file.file.get(), from.by.environment.hints, from.by.times, {}, gets.signal};
  return or_out_of_memory([&]() -> Status {
    const auto moved = access::move(context, (*set)->lanes(), access::Endpoint::of_read(**set), access::AsPlanned{gets.plan});
    STRIA_RETURN_IF_ERROR(access::require_all({moved.status, moved.bytes}, context, (*set)->lanes()));
    if (moved.method == access::Method::kTwoPhase) {
      accounts.note_choice(gets.plan, moved.reason, from.by.environment);
    } else if (moved.method == access::Method::kHybrid) {
      accounts.note_choice(moved.method, moved.reason);
    }
    STRIA_RETURN_IF_ERROR(read_chunks(ways.in_chunks, from, gets.signal, progress));
    for (const Transfer& get : ways.through_library) {
      STRIA_RETURN_IF_ERROR(read_through_library(get, from, gets.signal, progress));
    }
    progress.finish();
    STRIA_RETURN_IF_ERROR(from.checks() ? check_gets(summed(from, gets.signal), ways.direct, **set) : Status());
    return deliver_records(ways, from.by.times);
  });
}

Status get_small(const ReadFrom& from, int dataset, std::vector<std::byte>& content) {
  PhaseTimer timer(from.by.times, Phase::kRead);
  const DatasetEntry& entry = from.catalog[dataset];
  if (entry.data_bytes() > kSmallBytesMax) {
    return Status(ErrorCode::kFormat,
                  fmt::format("'{}': dataset '{}' is too large for a list", from.by.given_path, entry.spec.path));
  }
  content.resize(static_cast<size_t>(entry.data_bytes()));
  const std::vector<int64_t> start(entry.spec.dims.size(), 0);
  STRIA_RETURN_IF_ERROR(from.file.reader->read_hyperslab(entry.spec.path, start, entry.spec.dims, content));
  return from.checks() ? check_small(summed(from), dataset) : Status();
}

}  // namespace stria::file
