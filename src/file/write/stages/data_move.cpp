#include "file/write/stages/data_move.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/out_of_memory.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/move/progress_meter.hpp"

namespace stria::file {

namespace {

constexpr int64_t kWorthTurnsBytes = 1 << 20;

bool is_alone(const access::Plan& plan) {
  return plan.as<access::Alone>() != nullptr;
}

/// Returns the turn whose memory tells of failures too; null where ranks need none.
NodeTurn* turn_of(Comm& comm, const access::Plan& plan, const storage::Capabilities& capabilities, int64_t total_bytes) {
  const auto* alone = plan.as<access::Alone>();
  const bool in_turns = alone != nullptr && alone->in_batches && capabilities.node_local_cache && comm.size() > 1 &&
                        total_bytes >= kWorthTurnsBytes;
  return in_turns ? node_turn(comm) : nullptr;
}

Status reserve_space(const DataMove& data, const MovedTo& to) {
  STRIA_RETURN_IF_ERROR(to.reserve.status());
  if (to.environment.comm->rank() != 0 || !data.use.reserve) {
    return Status();
  }
  int64_t end = 0;
  for (const DatasetEntry& dataset : data.catalog.datasets()) {
    end = std::max(end, dataset.extent().end);
  }
  return to.file.reserve_space(end);
}

// A rank whose chunks all lie with others still has the sums of its rows.
Status open(const DataMove& data, const MovedTo& to) {
  const bool has_data = !data.pending.empty() || to.gathering.has_row_sums();
  const auto aggregators = data.plan.aggregators();
  const bool aggregates = std::find(aggregators.begin(), aggregators.end(), to.environment.comm->rank()) != aggregators.end();
  return to.file.open({.writes = is_alone(data.plan) ? has_data : aggregates, .has_data = has_data, .direct = data.use.direct});
}

Status move_set(TransferSet& set, const DataMove& data, const MovedTo& to, const MoveSignal& signal, ProgressMeter& meter) {
  std::optional<Status> kept;
  std::vector<storage::WriteSegment> sums;
  access::WriteAids aids{.direct_file = to.file.handles().direct(), .turn = data.shares_writes ? nullptr : signal.turn()};
  if (Staging* const staging = to.file.staging()) {
    aids.room = [staging](int64_t bytes) { return staging->room(bytes); };
  }
  if (data.last && is_alone(data.plan)) {  // an exchange must not fail for want of this memory
    aids.packed = [&]() -> std::span<const storage::WriteSegment> {
      kept = to.gathering.hand_in(to.gathering.keep(set, data.pending, data.catalog, to.times), *to.environment.comm,
                                  data.catalog, to.times);
      sums = to.gathering.take_row_sums();
      return sums;
    };
  }
  access::Context context{.comm = *to.environment.comm,
                          .file = to.file.handles().cached(),
                          .hints = to.environment.hints,
                          .times = to.times,
                          // Nobody else writes to the file, because it has its temporary name.
                          .others = {.known = access::OtherWriters::Known::kNobody},
                          .signal = signal.get()};
  const access::AsPlanned planned{.plan = data.plan, .aids = std::move(aids)};
  auto moved = access::move(context, set.lanes(), access::Endpoint::of_write(set), planned);
  to.choice = is_alone(data.plan) ? std::string() : std::move(moved.reason);
  if (!moved.status.ok()) {
    return moved.status;
  }
  meter.finish();
  return kept ? *kept : to.gathering.keep(set, data.pending, data.catalog, to.times);
}

// Moves where this rank is `ready`.
Status transfer(const Status& ready, const DataMove& data, const MovedTo& to, const MoveSignal& signal,
                const std::function<void(const Progress&)>& progress) {
  ProgressMeter meter(progress, data.pending);
  auto set = or_out_of_memory([&] {
    if (data.checksums) {
      place_row_sums(data.catalog.datasets());
    }
    return TransferSet::create(data.pending, data.catalog.datasets(),
                               {.checksums = data.checksums, .value_ranges = true, .progress = &meter});
  });
  const Status begun = ready.ok() ? set.status() : ready;
  if (!is_alone(data.plan) && !to.environment.comm->agree(begun).ok() && begun.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to write");
  }
  if (!begun.ok()) {
    return begun;
  }
  if (is_alone(data.plan) && to.file.handles().cached() == nullptr) {  // nothing to write here
    meter.finish();
    return begun;
  }
  return or_out_of_memory([&] { return move_set(**set, data, to, signal, meter); });
}

}  // namespace

MoveSignal::MoveSignal(Comm& comm, access::MemoryReserve& reserve, const access::Plan& plan, const access::RequestShape& shape,
                       const storage::Capabilities& capabilities)
    : turn_(turn_of(comm, plan, capabilities, shape.total_bytes)),
      on_node_(turn_ != nullptr ? turn_->begin_operation() : FailureWord()) {
  const bool all_on_node = turn_ != nullptr && comm.node_size() == comm.size();
  if (is_alone(plan) && !all_on_node && shape.total_bytes >= access::kWorthTellingBytes) {
    signal_ = &by_messages_.emplace(comm, reserve, on_node_);
  }
}

Status move_data(const DataMove& data, const MovedTo& to, MoveSignal& signal, const std::function<Status()>& prepare,
                 const std::function<void(const Progress&)>& progress) {
  const Status ready = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(reserve_space(data, to));
    STRIA_RETURN_IF_ERROR(prepare());
    return open(data, to);
  });
  return signal.end(transfer(ready, data, to, signal, progress));
}

}  // namespace stria::file
