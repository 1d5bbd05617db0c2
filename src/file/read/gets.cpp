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
Status read_chunks(const std::vector<Transfer>& gets, FileToRead& reading, access::AbortSignal* signal,
                   ProgressMeter& progress) {
  if (gets.empty()) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(reading.checks() ? load_chunk_sums(reading, signal) : Status());
  STRIA_ASSIGN_OR_RETURN(const auto set,
                         TransferSet::create(gets, reading.file.catalog.datasets(),
                                             {.checksums = reading.checks(), .progress = &progress, .own_lanes = true}));
  STRIA_RETURN_IF_ERROR(unpack_chunks({.source = summed(reading, signal).chunk_source(),
                                       .transfers = gets,
                                       .set = *set,
                                       .chunks = reading.chunks,
                                       .times = reading.file.accounts.times(),
                                       .signal = signal}));
  return reading.checks() ? check_gets(summed(reading, signal), gets, *set) : Status();
}

// Compact, or in chunks with filters or an index that we don't know: libhdf5 reads rows into a
// buffer, the packer converts from there.
Status read_through_library(const Transfer& get, FileToRead& reading, access::AbortSignal* signal, ProgressMeter& progress) {
  if (get.has_gaps) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("dataset '{}' takes libhdf5 to be read: read it by boxes, without strides or maps",
                              reading.file.catalog[get.dataset].spec.path));
  }
  STRIA_RETURN_IF_ERROR(open_reader(reading.source));
  DatasetEntry entry = reading.file.catalog[get.dataset];
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
      PhaseTimer timer(reading.file.accounts.times(), Phase::kRead);
      STRIA_RETURN_IF_ERROR(reading.source.reader->read_hyperslab(entry.spec.path, start, count, buffer));
    }
    PhaseTimer timer(reading.file.accounts.times(), Phase::kUnpack);
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

SummedFile summed(FileToRead& reading, access::AbortSignal* signal) {
  STRIA_ASSERT(reading.source.file != nullptr, reading.file.path);
  return {.path = reading.file.path,
          .catalog = reading.file.catalog,
          .sums = reading.sums.index,
          .records = reading.sums.records,
          .file = *reading.source.file,
          .reader = reading.source.reader,
          .chunks = reading.chunks,
          .rows = reading.sums.rows,
          .signal = signal};
}

Status load_chunk_sums(FileToRead& reading, access::AbortSignal* signal) {
  if (reading.sums.has_chunk_sums || !reading.file.catalog.find(kChunkSumsPath)) {
    return Status();
  }
  // A file without chunks has a table without sums, which one rank looks at for all.
  const auto datasets = reading.file.catalog.datasets();
  if (!reading.file.meetings.is_root() &&
      std::none_of(datasets.begin(), datasets.end(), [](const auto& one) { return one.is_chunked(); })) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(open_reader(reading.source));
  STRIA_ASSIGN_OR_RETURN(std::optional<ChunkSums> sums,
                         read_chunk_sums(summed(reading, signal), reading.source.reader->superblock()));
  if (sums) {
    reading.chunks.compare_with(std::move(*sums));
  }
  reading.sums.has_chunk_sums = true;
  return Status();
}

Status move_gets(FileToRead& reading, const access::Plan& plan, access::AbortSignal* signal) {
  OpenFile& file = reading.file;
  ByWay ways;
  ProgressMeter progress(file.progress, file.pending);
  auto set = or_out_of_memory([&]() -> Result<std::unique_ptr<TransferSet>> {
    STRIA_RETURN_IF_ERROR(file.meetings.reserve().status());
    ways = sorted_by_way(file.pending, file.catalog);
    STRIA_RETURN_IF_ERROR(open_handle(file, reading.source));
    return TransferSet::create(
        ways.direct, file.catalog.datasets(),
        {.checksums = reading.checks(), .progress = &progress, .own_lanes = plan.as<access::Alone>() != nullptr});
  });
  if (plan.as<access::ThroughAggregators>() != nullptr && !file.comm().agree(set.status()).ok() && set.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to read");
  }
  STRIA_RETURN_IF_ERROR(set.status());
  access::Context context{file.comm(), reading.source.file.get(), file.environment.hints, file.accounts.times(), {}, signal};
  return or_out_of_memory([&]() -> Status {
    const auto moved = access::move(context, (*set)->lanes(), access::Endpoint::of_read(**set), access::AsPlanned{plan});
    STRIA_RETURN_IF_ERROR(access::require_all({moved.status, moved.bytes}, context, (*set)->lanes()));
    if (moved.method == access::Method::kTwoPhase) {
      file.accounts.note_choice(plan, moved.reason, file.environment);
    } else if (moved.method == access::Method::kHybrid) {
      file.accounts.note_choice(moved.method, moved.reason);
    }
    STRIA_RETURN_IF_ERROR(read_chunks(ways.in_chunks, reading, signal, progress));
    for (const Transfer& get : ways.through_library) {
      STRIA_RETURN_IF_ERROR(read_through_library(get, reading, signal, progress));
    }
    progress.finish();
    STRIA_RETURN_IF_ERROR(reading.checks() ? check_gets(summed(reading, signal), ways.direct, **set) : Status());
    return deliver_records(ways, file.accounts.times());
  });
}

Status get_small(FileToRead& reading, int dataset, std::vector<std::byte>& content) {
  PhaseTimer timer(reading.file.accounts.times(), Phase::kRead);
  const DatasetEntry& entry = reading.file.catalog[dataset];
  if (entry.data_bytes() > kSmallBytesMax) {
    return Status(ErrorCode::kFormat,
                  fmt::format("'{}': dataset '{}' is too large for a list", reading.file.path, entry.spec.path));
  }
  content.resize(static_cast<size_t>(entry.data_bytes()));
  const std::vector<int64_t> start(entry.spec.dims.size(), 0);
  STRIA_RETURN_IF_ERROR(reading.source.reader->read_hyperslab(entry.spec.path, start, entry.spec.dims, content));
  return reading.checks() ? check_small(summed(reading), dataset) : Status();
}

}  // namespace stria::file
