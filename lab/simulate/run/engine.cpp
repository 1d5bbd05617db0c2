#include "run/engine.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "access/move.hpp"
#include "access/plan/planner.hpp"
#include "access/request/overlap.hpp"

namespace stria::simulate {

namespace {

using access::Lane;
using storage::OpenOptions;

constexpr int64_t kMetadataBytesOfAnArray = 512;
constexpr const char* kTemporaryPath = "checkpoint.part";

/// A rank's file, its memory, and how it moves.
struct Mover {
  RunShared& shared;
  Comm& comm;
  storage::File* file;
  access::OtherWriters others;

  access::MoveReport move(std::span<const Lane> lanes, const access::Coordination& coordination) {
    ModelledMemory memory(shared.clock, shared.machine.nodes, lanes, {.carries_data = shared.options.carries_data});
    PhaseTimes times;
    access::Context context{.comm = comm, .file = file, .hints = shared.hints, .times = times, .others = others};
    const auto endpoint = shared.reads ? access::Endpoint::of_read(memory) : access::Endpoint::of_write(memory);
    access::MoveReport report = access::move(context, lanes, endpoint, coordination);
    if (report.status.ok() && memory.wrong_bytes() > 0) {
      report.status = Status(ErrorCode::kCorrupted, std::to_string(memory.wrong_bytes()) + " bytes were read wrongly");
    }
    if (comm.rank() == 0) {
      shared.outcome.method = access::method_name(report.method);
      shared.outcome.reason = report.reason;
      shared.outcome.aggregators = std::max(shared.outcome.aggregators, static_cast<int>(report.aggregators.size()));
    }
    return report;
  }
};

OpenOptions open_options(const RunShared& shared, bool creates) {
  OpenOptions options{.mode = shared.reads ? OpenOptions::Mode::kRead : OpenOptions::Mode::kReadWrite};
  if (creates) {
    options.mode = OpenOptions::Mode::kCreateNew;
    options.striping = access::striping_of(shared.hints);
  }
  return options;
}

// Rank 0 makes the file, before any other rank looks for it.
Result<std::unique_ptr<storage::File>> open_first(RunShared& shared, Comm& comm, const char* path) {
  Result<std::unique_ptr<storage::File>> file = std::unique_ptr<storage::File>();
  if (comm.rank() == 0) {
    file = shared.driver.open(path, open_options(shared, !shared.reads));
  }
  STRIA_RETURN_IF_ERROR(comm.agree(file.status()));
  return file;
}

void note_open(RunShared& shared) {
  shared.outcome.open_s = std::max(shared.outcome.open_s, shared.clock.free_at());
}

}  // namespace

Result<std::unique_ptr<storage::File>> open_everywhere(RunShared& shared, Comm& comm) {
  STRIA_ASSIGN_OR_RETURN(auto file, open_first(shared, comm, kFilePath));
  Status mine;
  if (file == nullptr) {
    auto opened = shared.driver.open(kFilePath, open_options(shared, false));
    mine = opened.status();
    file = opened.ok() ? std::move(*opened) : nullptr;
  }
  note_open(shared);
  STRIA_RETURN_IF_ERROR(comm.agree(mine));
  return file;
}

namespace {

access::RequestShape agree_on_shape(Comm& comm, std::span<const Lane> lanes, bool writes) {
  std::array<int64_t, 2> sums{access::total_bytes(lanes), access::piece_count(lanes)};
  comm.all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  access::RequestShape shape{.total_bytes = sums[0], .piece_count = sums[1], .write = writes, .in_lockstep = true};
  shape.lane_count = static_cast<int>(lanes.size());
  for (const Lane& lane : lanes) {
    shape.hull_bytes += lane.hull.size();
  }
  return shape;
}

// When what a rank wrote must be in the file.
Status check_written(RunShared& shared, const std::string& path, std::span<const Lane> lanes) {
  const bool checks = shared.options.carries_data && !shared.reads;
  return checks ? ModelledMemory::check(shared.memory, path, lanes) : Status();
}

bool is_one_of(int rank, std::span<const int> ranks) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

Status write_header(storage::File& file, ByteRange place) {
  const std::vector<std::byte> header(static_cast<size_t>(place.size()));
  const storage::WriteSegment segment{place.begin, header.data(), place.size()};
  return file.write(std::span(&segment, 1));
}

// Rank 0 writes what describes the file, and gives it its name.
Status publish(RunShared& shared, Comm& comm, storage::File* file, size_t arrays) {
  Status mine;
  if (comm.rank() == 0 && !shared.reads) {
    mine = write_header(*file, {0, std::min(kHeaderBytes, static_cast<int64_t>(arrays) * kMetadataBytesOfAnArray)});
    mine.update(shared.driver.rename(kTemporaryPath, kFilePath));
  }
  return comm.agree(mine);
}

}  // namespace

Status commit_all(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  const bool writes = !shared.reads;
  const FilePlaces places = place_arrays(workload, kHeaderBytes, shared.hints.alignment_bytes);
  const std::vector<Lane> lanes = lanes_of(workload, places, 0, workload.calls.size());
  const char* path = writes ? kTemporaryPath : kFilePath;
  STRIA_ASSIGN_OR_RETURN(auto file, open_first(shared, comm, path));
  storage::Capabilities capabilities = file != nullptr ? file->capabilities() : storage::Capabilities();
  comm.broadcast(std::as_writable_bytes(std::span(&capabilities, 1)), 0);
  const auto plan = access::make_plan(agree_on_shape(comm, lanes, writes), capabilities, shared.hints, comm);
  const bool alone = plan.as<access::Alone>() != nullptr;
  Status mine;
  if (file == nullptr && (alone ? access::total_bytes(lanes) > 0 : is_one_of(comm.rank(), plan.aggregators()))) {
    auto opened = shared.driver.open(path, open_options(shared, false));
    mine = opened.status();
    file = opened.ok() ? std::move(*opened) : nullptr;
  }
  note_open(shared);
  STRIA_RETURN_IF_ERROR(comm.agree(mine));
  shared.charge_call();
  Mover mover{shared, comm, file.get(), {.known = access::OtherWriters::Known::kNobody}};
  const auto report = mover.move(lanes, access::AsPlanned{.plan = plan});
  if (comm.rank() == 0) {
    shared.outcome.reason = plan.reason;
    shared.outcome.aggregators = static_cast<int>(plan.aggregators().size());
  }
  STRIA_RETURN_IF_ERROR(comm.agree(report.status));
  STRIA_RETURN_IF_ERROR(publish(shared, comm, file.get(), workload.arrays.size()));
  return check_written(shared, kFilePath, lanes);
}

Status move_by_calls(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  const FilePlaces places = place_arrays(workload, kHeaderBytes, 1);
  STRIA_ASSIGN_OR_RETURN(const auto file, open_everywhere(shared, comm));
  access::Kept kept;
  Mover mover{shared, comm, file.get(), {}};
  for (size_t call = 0; call < shared.most_calls; ++call) {
    const std::vector<Lane> lanes = lanes_of(workload, places, call, call + 1);
    shared.charge_call();
    STRIA_RETURN_IF_ERROR(mover.move(lanes, access::Collectively{&kept}).status);
    STRIA_RETURN_IF_ERROR(check_written(shared, kFilePath, lanes));
  }
  return {};
}

namespace {

Status move_each_alone(RunShared& shared, Comm& comm, const bench::Workload& workload, bool in_step) {
  const FilePlaces places = place_arrays(workload, kHeaderBytes, 1);
  STRIA_ASSIGN_OR_RETURN(const auto file, open_everywhere(shared, comm));
  // Nobody else has the file, so that ranks lock the windows that they sieve by the file alone.
  Mover mover{shared, comm, file.get(), {.known = access::OtherWriters::Known::kNobody}};
  // Ranks that go in step meet as often as the one with most calls.
  const size_t calls = in_step ? shared.most_calls : workload.calls.size();
  for (size_t call = 0; call < calls; ++call) {
    if (in_step) {
      const auto begin = static_cast<int64_t>(call) * kMetadataBytesOfAnArray % kHeaderBytes;
      const bool writes = comm.rank() == 0 && !shared.reads;
      STRIA_RETURN_IF_ERROR(comm.agree(writes ? write_header(*file, {begin, begin + kMetadataBytesOfAnArray}) : Status()));
    }
    const std::vector<Lane> lanes = lanes_of(workload, places, call, call + 1);
    STRIA_RETURN_IF_ERROR(mover.move(lanes, access::Independently()).status);
    STRIA_RETURN_IF_ERROR(check_written(shared, kFilePath, lanes));
  }
  return {};
}

}  // namespace

Status move_alone(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  return move_each_alone(shared, comm, workload, false);
}

Status move_alone_in_step(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  return move_each_alone(shared, comm, workload, true);
}

Status move_own_file(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  const FilePlaces places = place_arrays(workload, kHeaderBytes, 1);
  const std::string path = std::string(kFilePath) + "." + std::to_string(comm.rank());
  STRIA_ASSIGN_OR_RETURN(const auto file, shared.driver.open(path, open_options(shared, !shared.reads)));
  note_open(shared);
  Mover mover{shared, comm, file.get(), {.known = access::OtherWriters::Known::kNobody}};
  const std::vector<Lane> lanes = lanes_of(workload, places, 0, workload.calls.size());
  STRIA_RETURN_IF_ERROR(mover.move(lanes, access::Independently()).status);
  return check_written(shared, path, lanes);
}

}  // namespace stria::simulate
