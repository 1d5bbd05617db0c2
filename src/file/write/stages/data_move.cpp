#include "file/write/stages/data_move.hpp"

#include <algorithm>
#include <utility>

#include "file/checksums/row_tables.hpp"

namespace stria::file {

namespace {

constexpr int64_t kWorthTurnsBytes = 1 << 20;

/// The turn whose memory tells of failures too; null where ranks need none.
NodeTurn* turn_of(Comm& comm, const access::Plan& plan, const storage::Capabilities& capabilities, int64_t total_bytes) {
  const auto* alone = plan.as<access::Alone>();
  const bool in_turns = alone != nullptr && alone->in_batches && capabilities.node_local_cache && comm.size() > 1 &&
                        total_bytes >= kWorthTurnsBytes;
  return in_turns ? comm.node_turn() : nullptr;
}

}  // namespace

DataMove::DataMove(const Means& means, const access::Plan& plan, const access::RequestShape& shape)
    : means_(means),
      plan_(plan),
      turn_(turn_of(*means.environment.comm, plan, means.capabilities, shape.total_bytes)),
      on_node_(turn_ != nullptr ? turn_->begin_operation() : FailureWord()) {
  Comm& comm = *means.environment.comm;
  const bool all_on_node = turn_ != nullptr && comm.node_size() == comm.size();
  if (is_alone() && !all_on_node && shape.total_bytes >= access::kWorthTellingBytes) {
    signal_ = &by_messages_.emplace(comm, means.reserve, on_node_);
  }
}

Status DataMove::reserve_space(const access::StorageUse& use) {
  STRIA_RETURN_IF_ERROR(means_.reserve.status());
  if (means_.environment.comm->rank() != 0 || !use.reserve) {
    return Status();
  }
  int64_t end = 0;
  for (const DatasetEntry& dataset : means_.datasets) {
    end = std::max(end, dataset.extent().end);
  }
  return means_.file.reserve_space(end);
}

Status DataMove::open(const access::StorageUse& use, bool has_data) {
  const auto aggregators = plan_.aggregators();
  const bool aggregates =
      std::find(aggregators.begin(), aggregators.end(), means_.environment.comm->rank()) != aggregators.end();
  return means_.file.open({.writes = is_alone() ? has_data : aggregates, .has_data = has_data, .direct = use.direct});
}

// Moves where this rank is `ready`.
Status DataMove::transfer(const Status& ready, const What& what) {
  ProgressMeter progress(means_.progress, what.pending);
  auto set = or_out_of_memory([&] {
    if (what.checksums) {
      place_row_sums(means_.datasets);
    }
    return TransferSet::create(what.pending, means_.datasets,
                               {.checksums = what.checksums, .value_ranges = true, .progress = &progress});
  });
  const Status begun = ready.ok() ? set.status() : ready;
  if (!is_alone() && !means_.environment.comm->agree(begun).ok() && begun.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to write");
  }
  if (!begun.ok()) {
    return begun;
  }
  if (is_alone() && means_.file.handles().cached() == nullptr) {  // there is nothing to write here
    progress.finish();
    return begun;
  }
  return or_out_of_memory([&] { return move(**set, what, progress); });
}

Status DataMove::move(TransferSet& set, const What& what, ProgressMeter& progress) {
  std::optional<Status> kept;
  std::vector<storage::WriteSegment> sums;
  access::WriteAids aids{.direct_file = means_.file.handles().direct(),
                         .turn = means_.capabilities.parallel_writes ? nullptr : turn_};
  if (Staging* const staging = means_.file.staging()) {
    aids.room = [staging](int64_t bytes) { return staging->room(bytes); };
  }
  if (what.last && is_alone()) {  // an exchange must not fail for want of this memory
    aids.packed = [&]() -> std::span<const storage::WriteSegment> {
      kept = means_.gathering.hand_in(means_.gathering.keep(set, what.pending));
      sums = means_.gathering.take_row_sums();
      return sums;
    };
  }
  access::Context context{.comm = *means_.environment.comm,
                          .file = means_.file.handles().cached(),
                          .hints = means_.environment.hints,
                          .times = means_.times,
                          // Under its temporary name.
                          .others = {.known = access::OtherWriters::Known::kNobody},
                          .signal = signal_};
  const access::AsPlanned planned{.plan = plan_, .aids = std::move(aids)};
  auto moved = access::move(context, set.lanes(), access::Endpoint::of_write(set), planned);
  choice_ = is_alone() ? std::string() : std::move(moved.reason);
  if (!moved.status.ok()) {
    return moved.status;
  }
  progress.finish();
  return kept ? *kept : means_.gathering.keep(set, what.pending);
}

}  // namespace stria::file
