#include "access/move.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "access/alone/batches.hpp"
#include "access/alone/regions.hpp"
#include "access/alone/types.hpp"
#include "access/failure/message_signal.hpp"
#include "access/locks/write_lock.hpp"
#include "access/plan/server_costs.hpp"
#include "access/request/overlap.hpp"
#include "access/together/agreement.hpp"
#include "access/together/axes/by_axes.hpp"
#include "access/together/node/short_calls.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "base/check.hpp"
#include "base/out_of_memory.hpp"

namespace stria::access {

namespace {

constexpr const char* kInWindows = "; by windows that the node shares";

Context with_signal(const Context& context, AbortSignal* signal) {
  Context own = context;
  own.signal = signal;
  return own;
}

MoveReport report_of(Moved moved, Method method, std::string reason) {
  return {.status = std::move(moved.status), .bytes = moved.bytes, .method = method, .reason = std::move(reason)};
}

MoveReport carry_out(Context& context, std::span<const Lane> lanes, Endpoint endpoint, const Independently&) {
  IndependentPlan plan = plan_independent(shape_of(lanes, endpoint.writes()), context.file->capabilities(), context.hints,
                                          may_try_to_sieve_writes(context));
  Moved moved;
  if (plan.method == Method::kDatatypeIo) {
    moved = endpoint.writes() ? write_types(context, lanes, endpoint.source()) : read_types(context, lanes, endpoint.sink());
  } else {
    moved = endpoint.writes() ? write_regions(context, lanes, endpoint.source(), plan.regions)
                              : read_regions(context, lanes, endpoint.sink(), plan.regions);
  }
  return report_of(std::move(moved), plan.method, std::move(plan.reason));
}

// Returns what a write has moved that tells no more than its status: bytes count after a success
// only.
Moved whole_or_nothing(Status written, std::span<const Lane> lanes) {
  const int64_t bytes = written.ok() ? total_bytes(lanes) : 0;
  return {std::move(written), bytes};
}

std::string axes_reason(int rows, const ThroughAggregators& through) {
  const int columns = (static_cast<int>(through.aggregators.size()) + rows - 1) / rows;
  return "contributions travel by the axes of a grid of " + std::to_string(rows) + " x " + std::to_string(columns);
}

/// Carries out a plan that the ranks have made before, by its way.
struct PlannedMove {
  Context& context;
  std::span<const Lane> lanes;
  Endpoint endpoint;
  const AsPlanned& planned;

  MoveReport operator()(const Alone& alone) const {
    const bool sieves = !endpoint.writes() && sieves_reads(shape_of(lanes, false), context.file->capabilities(), context.hints);
    if (!alone.in_batches || sieves) {
      return carry_out(context, lanes, endpoint, Independently());
    }
    return report_of(endpoint.writes() ? whole_or_nothing(write_batches(context, lanes, endpoint.source(), planned.aids), lanes)
                                       : read_batches(context, lanes, endpoint.sink()),
                     alone.method, {});
  }
  MoveReport operator()(const ThroughAggregators& through) const {
    if (const int rows = rows_of_grid(context, through, lanes, endpoint.writes()); rows > 0) {
      const ByAxes by{.rows = rows, .direct_file = planned.aids.direct_file};
      return report_of(move_by_axes(context, through, lanes, endpoint, by), Method::kTwoPhase, axes_reason(rows, through));
    }
    return report_of(endpoint.writes() ? whole_or_nothing(write_two_phase(context, through, lanes, endpoint.source(),
                                                                          {.direct_file = planned.aids.direct_file}),
                                                          lanes)
                                       : read_two_phase(context, through, lanes, endpoint.sink()),
                     Method::kTwoPhase, {});
  }
  MoveReport operator()(const ThroughWindows&) const {
    return {.status = Status(ErrorCode::kUnsupported,
                             "a plan made before has no windows of the node: they belong to collective calls")};
  }
};

MoveReport carry_out(Context& context, std::span<const Lane> lanes, Endpoint endpoint, const AsPlanned& planned) {
  return std::visit(PlannedMove{context, lanes, endpoint, planned}, planned.plan.way);
}

// Each rank moves its own bytes. If there are enough of them, it hears of failures
// elsewhere meanwhile.
MoveReport move_alone(Context& context, std::span<const Lane> lanes, Endpoint endpoint, NodeWindows* windows,
                      const Agreed& agreed) {
  MemoryReserve memory;
  std::optional<MessageSignal> signal;
  if (context.comm.size() > 1 && agreed.total_bytes >= kWorthTellingBytes) {
    signal.emplace(context.comm, memory);
  }
  Context own = with_signal(context, signal ? &*signal : nullptr);
  MoveReport report = or_out_of_memory([&] { return carry_out(own, lanes, endpoint, Independently()); });
  if (signal) {
    report.status = signal->end(report.status);
  }
  if (!signal || !report.status.ok()) {  // the signal tells that all have succeeded
    report.status = agree_on_outcome(context, windows, report.status);
  }
  report.reason = agreed.plan.reason + "; " + report.reason;
  return report;
}

/// Says what a rank moved before it heard of the others.
struct Early {
  Arrival arrival = {};
  MoveReport report{.method = Method::kListIo, .reason = "one piece, or long ones, go as they are before the ranks meet"};

  /// Returns what remains of this rank's request.
  std::span<const Lane> left(std::span<const Lane> lanes) const {
    static const Lane kNothing;
    return arrival.stage == Stage::kAllToDo ? lanes : std::span(&kNothing, 1);
  }
  /// Ends an operation in which no rank has anything left.
  MoveReport end(Context& context, bool somebody_failed) {
    report.status = somebody_failed ? context.comm.agree(report.status) : report.status;
    return std::move(report);
  }
  /// Returns the report of this rank, given that of what was left.
  MoveReport with(MoveReport rest) {
    if (arrival.stage == Stage::kAllToDo) {
      return rest;
    }
    report.status = std::move(rest.status);
    return std::move(report);
  }
};

// Ranks that have one piece, or long ones, don't wait for the others: no other method would serve
// them better, whatever the others have. Between nodes nothing tells a rank of failures meanwhile,
// so that it moves no more than it can without hearing of them.
Early move_early(Context& context, std::span<const Lane> lanes, Endpoint endpoint, NodeWindows* windows) {
  Early early;
  const int64_t bytes = total_bytes(lanes);
  const bool one_node = context.comm.node_size() == context.comm.size();
  if (windows != nullptr ? !windows->short_calls().in_step() : one_node || lanes.size() != 1 || bytes >= kWorthTellingBytes) {
    return early;
  }
  std::optional<WordSignal> signal;
  if (windows != nullptr) {
    signal.emplace(windows->begin_early());
  }
  const RequestShape own{
      .total_bytes = bytes,
      .piece_count = piece_count(lanes),
      .write = endpoint.writes(),
      .windows = windows != nullptr,
      .apart = hull_of(lanes.front()).size() == bytes,
      .server_cost_bytes = server_cost_bytes(shape_of(lanes, endpoint.writes()), context.file->capabilities())};
  if (!goes_at_once(own, context.file->capabilities(), context.hints)) {
    return early;
  }
  Context alone = with_signal(context, signal ? &*signal : nullptr);
  MoveReport moved = or_out_of_memory([&] { return carry_out(alone, lanes, endpoint, Independently()); });
  if (signal) {
    moved.status = signal->end(moved.status);
  }
  early.arrival = {.stage = moved.status.ok() ? Stage::kMoved : Stage::kFailed,
                   .was_short = own.apart && bytes <= ShortCalls::kMostBytes};
  moved.reason = early.report.reason + "; " + moved.reason;
  early.report = std::move(moved);
  return early;
}

// Somebody has passed, and knows nothing of this rank: nothing is agreed on.
MoveReport move_off(Context& context, std::span<const Lane> lanes, Endpoint endpoint, Early early) {
  if (early.arrival.stage != Stage::kAllToDo) {
    return std::move(early.report);
  }
  MoveReport report = or_out_of_memory([&] { return carry_out(context, lanes, endpoint, Independently()); });
  report.reason = "others have moved one short piece each and are gone; " + report.reason;
  return report;
}

MoveReport move_through_windows(Context& context, Endpoint endpoint, NodeWindows& windows, const Agreed& agreed) {
  STRIA_CHECK(agreed.lanes.size() == 1, agreed.lanes.size());
  const Lane& lane = agreed.lanes[0];
  Moved moved = endpoint.writes() ? windows.write(context, lane, agreed.granule_bytes, endpoint.source())
                                  : windows.read(context, lane, endpoint.sink());
  return report_of(std::move(moved), Method::kTwoPhase, agreed.plan.reason + kInWindows);
}

MoveReport move_through_aggregators(Context& context, Endpoint endpoint, NodeWindows* windows, const Agreed& agreed,
                                    Kept* all_kept) {
  KeptBuffers* const kept = all_kept == nullptr ? nullptr : &all_kept->buffers;
  const auto& through = *agreed.plan.as<ThroughAggregators>();
  if (const int rows = rows_of_grid(context, through, agreed.lanes, endpoint.writes()); rows > 0) {
    Moved moved = move_by_axes(context, through, agreed.lanes, endpoint, {.rows = rows, .kept = kept});
    MoveReport report = report_of(std::move(moved), Method::kTwoPhase, agreed.plan.reason + "; " + axes_reason(rows, through));
    report.aggregators = through.aggregators;
    return report;
  }
  const GatheredRequests* gathered = agreed.gathered && agreed.gathered->are_described() ? &*agreed.gathered : nullptr;
  const TwoPhaseAids aids{.kept = kept, .gathered = gathered};
  Moved moved = endpoint.writes() ? write_two_phase_agreed(context, through, agreed.lanes, endpoint.source(), aids)
                                  : read_two_phase(context, through, agreed.lanes, endpoint.sink(), aids);
  if (!endpoint.writes()) {
    moved.status = agree_on_outcome(context, windows, moved.status);
  }
  MoveReport report = report_of(std::move(moved), Method::kTwoPhase, agreed.plan.reason);
  report.aggregators = through.aggregators;
  return report;
}

MoveReport carry_out(Context& context, std::span<const Lane> all_lanes, Endpoint endpoint, const Collectively& together) {
  NodeWindows* windows = windows_of(context, together.kept == nullptr ? nullptr : &together.kept->windows, all_lanes);
  Early early = move_early(context, all_lanes, endpoint, windows);
  const std::span<const Lane> lanes = early.left(all_lanes);
  const Agreed agreed = agree_on_request(context, windows, lanes, early.arrival, endpoint.writes());
  if (agreed.is_off) {
    return move_off(context, lanes, endpoint, std::move(early));
  }
  if (agreed.all_moved || agreed.failed) {
    return early.end(context, agreed.failed);
  }
  if (agreed.plan.as<ThroughWindows>() != nullptr) {
    STRIA_CHECK(windows != nullptr, agreed.plan.reason);
    return early.with(move_through_windows(context, endpoint, *windows, agreed));
  }
  if (agreed.plan.as<ThroughAggregators>() != nullptr) {
    return early.with(move_through_aggregators(context, endpoint, windows, agreed, together.kept));
  }
  return early.with(move_alone(context, lanes, endpoint, windows, agreed));
}

// Checks what every method relies on. Offsets of a stream ascend, and all ranks know the hull.
[[maybe_unused]] bool are_well_formed(std::span<const Lane> lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) {
    return std::all_of(lane.streams.begin(), lane.streams.end(), [&](const Stream& stream) {
      const ByteRange hull = hull_of(stream);
      return stream.file_type.is_sorted() && stream.skip_bytes >= 0 && stream.granule_bytes > 0 &&
             stream.skip_bytes + stream.size() <= stream.file_type.size() &&
             (lane.hull.empty() || hull.empty() || intersect(hull, lane.hull) == hull);
    });
  });
}

}  // namespace

MoveReport move(Context& context, std::span<const Lane> lanes, Endpoint endpoint, const Coordination& coordination) {
  STRIA_ASSERT(are_well_formed(lanes), lanes.size());
  MoveReport report = std::visit([&](const auto& how) { return carry_out(context, lanes, endpoint, how); }, coordination);
  STRIA_ASSERT(0 <= report.bytes && report.bytes <= total_bytes(lanes), report.bytes, total_bytes(lanes), report.reason);
  STRIA_ASSERT(!endpoint.writes() || !report.status.ok() || report.bytes == total_bytes(lanes), report.bytes,
               total_bytes(lanes), report.reason);
  return report;
}

}  // namespace stria::access
