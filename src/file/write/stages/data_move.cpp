#include "file/write/stages/data_move.hpp"

#include <algorithm>
#include <string>
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

Status reserve_space(OpenFile& file, const DataMove& data) {
  STRIA_RETURN_IF_ERROR(file.meetings.reserve().status());
  if (!file.meetings.is_root() || !data.use.reserve) {
    return Status();
  }
  int64_t end = 0;
  for (const DatasetEntry& dataset : file.catalog.datasets()) {
    end = std::max(end, dataset.extent().end);
  }
  return data.target.reserve_space(file, end);
}

// A rank whose chunks all lie with others still has the sums of its rows.
Status open(OpenFile& file, const DataMove& data) {
  const bool has_data = !file.pending.empty() || data.gathering.has_row_sums();
  const auto aggregators = data.plan.aggregators();
  const bool aggregates = std::find(aggregators.begin(), aggregators.end(), file.comm().rank()) != aggregators.end();
  return data.target.open(
      file, {.writes = is_alone(data.plan) ? has_data : aggregates, .has_data = has_data, .direct = data.use.direct});
}

// What this rank has handed in before its last bytes were written.
struct HandedIn {
  std::optional<Status> kept;  // none: nothing
  std::vector<storage::WriteSegment> row_sums;
};

access::MoveReport move_set(TransferSet& set, OpenFile& file, const DataMove& data, const MoveSignal& signal,
                            HandedIn& handed_in) {
  access::WriteAids aids{.direct_file = data.target.handles().direct(),
                         .turn = file.capabilities.parallel_writes ? nullptr : signal.turn()};
  if (Staging* const staging = data.target.staging()) {
    aids.room = [staging](int64_t bytes) { return staging->room(bytes); };
  }
  if (data.last && is_alone(data.plan)) {  // an exchange must not fail for want of this memory
    aids.packed = [&]() -> std::span<const storage::WriteSegment> {
      handed_in.kept = data.gathering.hand_in(data.gathering.keep(set, file.pending, file.catalog, file.accounts.times()),
                                              file.comm(), file.catalog, file.accounts.times());
      handed_in.row_sums = data.gathering.take_row_sums();
      return handed_in.row_sums;
    };
  }
  access::Context context{.comm = file.comm(),
                          .file = data.target.handles().cached(),
                          .hints = file.environment.hints,
                          .times = file.accounts.times(),
                          // Nobody else writes to the file, because it has its temporary name.
                          .others = {.known = access::OtherWriters::Known::kNobody},
                          .signal = signal.get()};
  const access::AsPlanned planned{.plan = data.plan, .aids = std::move(aids)};
  return access::move(context, set.lanes(), access::Endpoint::of_write(set), planned);
}

// Moves where this rank is `ready`. Says in `choice` what the ranks chose besides the plan, unless
// that says all.
Status transfer(const Status& ready, OpenFile& file, const DataMove& data, const MoveSignal& signal, std::string& choice) {
  ProgressMeter meter(file.progress, file.pending);
  auto set = or_out_of_memory([&] {
    if (data.checksums) {
      place_row_sums(file.catalog.datasets());
    }
    return TransferSet::create(file.pending, file.catalog.datasets(),
                               {.checksums = data.checksums, .value_ranges = true, .progress = &meter});
  });
  const Status begun = ready.ok() ? set.status() : ready;
  if (!is_alone(data.plan) && !file.comm().agree(begun).ok() && begun.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to write");
  }
  if (!begun.ok()) {
    return begun;
  }
  if (is_alone(data.plan) && data.target.handles().cached() == nullptr) {  // nothing to write here
    meter.finish();
    return begun;
  }
  return or_out_of_memory([&]() -> Status {
    HandedIn handed_in;
    auto moved = move_set(**set, file, data, signal, handed_in);
    choice = is_alone(data.plan) ? std::string() : std::move(moved.reason);
    if (!moved.status.ok()) {
      return moved.status;
    }
    meter.finish();
    return handed_in.kept ? *handed_in.kept : data.gathering.keep(**set, file.pending, file.catalog, file.accounts.times());
  });
}

}  // namespace

MoveSignal::MoveSignal(OpenFile& file, const access::Plan& plan, const access::RequestShape& shape)
    : turn_(turn_of(file.comm(), plan, file.capabilities, shape.total_bytes)),
      on_node_(turn_ != nullptr ? turn_->begin_operation() : FailureWord()) {
  const bool all_on_node = turn_ != nullptr && file.comm().node_size() == file.comm().size();
  if (is_alone(plan) && !all_on_node && shape.total_bytes >= access::kWorthTellingBytes) {
    signal_ = &by_messages_.emplace(file.comm(), file.meetings.reserve(), on_node_);
  }
}

Status move_data(OpenFile& file, const DataMove& data, MoveSignal& signal, const std::function<Status()>& prepare) {
  const Status ready = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(reserve_space(file, data));
    STRIA_RETURN_IF_ERROR(prepare());
    return open(file, data);
  });
  std::string choice;
  Status outcome = signal.end(transfer(ready, file, data, signal, choice));
  file.meetings.reserve().attempt([&] { file.accounts.note_choice(data.plan, choice, file.environment); });
  return outcome;
}

}  // namespace stria::file
