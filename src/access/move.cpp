#include "access/move.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "access/alone/regions.hpp"
#include "access/alone/types.hpp"
#include "access/failure/failure_news.hpp"
#include "access/locks/write_lock.hpp"
#include "access/request/granule.hpp"
#include "access/request/overlap.hpp"
#include "access/together/node_windows.hpp"
#include "access/together/two_phase.hpp"
#include "datatype/node.hpp"
#include "trace/span.hpp"

namespace stria::access {

namespace {

/// A collective request with what the ranks agreed on.
struct Agreed {
  std::vector<Lane> lanes;
  Plan plan;
  int64_t granule_bytes;
  int64_t total_bytes = 0;  ///< of all ranks, that are left to move
  bool all_moved = false;   ///< nothing is left to move
  bool failed = false;      ///< a rank that moved its bytes before could not
};

// Small enough to stay in a processor's cache between those who fill it and the one who writes it.
constexpr int64_t kMostWindowBytes = 1 << 20;

constexpr const char* kInWindows = "; by windows that the node shares";

int64_t piece_count(std::span<const Lane> lanes) {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += std::min(stream.file_type.piece_count(), stream.size());
    }
  }
  return sum;
}

ByteRange hull_of_lane(const Lane& lane) {
  ByteRange hull{INT64_MAX, 0};
  for (const Stream& stream : lane.streams) {
    ByteRange one = hull_of(stream);
    if (!one.empty()) {
      hull = {std::min(hull.begin, one.begin), std::max(hull.end, one.end)};
    }
  }
  return hull;
}

// Two reductions: the extents of the lanes with the capabilities' highest values, and the sums.
Agreed agree_by_messages(Context& context, std::span<const Lane> lanes, bool write) {
  Agreed agreed{{lanes.begin(), lanes.end()}, {}, 1, 0};
  std::vector<int64_t> most;  // of each lane: minus its begin, its end
  for (const Lane& lane : lanes) {
    const ByteRange hull = hull_of_lane(lane);
    most.insert(most.end(), {-hull.begin, hull.end});
  }
  context.comm.all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
  int64_t hull_bytes = 0;
  for (size_t i = 0; i < agreed.lanes.size(); ++i) {
    agreed.lanes[i].extent = {std::min(-most[2 * i], most[2 * i + 1]), most[2 * i + 1]};
    hull_bytes += agreed.lanes[i].extent.size();
  }
  int64_t sums[] = {total_bytes(lanes), piece_count(lanes)};
  context.comm.all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  agreed.total_bytes = sums[0];
  storage::Capabilities capabilities = context.file->capabilities();
  context.comm.broadcast(std::as_writable_bytes(std::span(&capabilities, 1)), 0);
  agreed.plan = make_plan({sums[0], sums[1], write, false, hull_bytes}, capabilities, context.hints, context.comm);
  agreed.plan.windows = false;
  return agreed;
}

// How far a rank is when it comes to the meeting; of several ranks the last that holds for one.
enum class Stage : int64_t { kAllToDo, kMoved, kFailed };

// What a rank says in a meeting of what it has left to move; rank 0 also of the storage.
struct Summary {
  Stage stage;
  ByteRange hull;
  int64_t bytes;
  int64_t pieces;
  uint64_t granule_bits;
  storage::Capabilities capabilities;
};
constexpr size_t kSummaryValues = (sizeof(Summary) + sizeof(int64_t) - 1) / sizeof(int64_t);
static_assert(std::is_trivially_copyable_v<Summary> && kSummaryValues <= NodeMeeting::kMostValues);

// One meeting in the memory of the node.
Agreed agree_in_memory(Context& context, NodeWindows& windows, const Lane& lane, Stage stage, bool write) {
  Summary mine{stage, hull_of_lane(lane), total_bytes({&lane, 1}), piece_count({&lane, 1}), 0, context.file->capabilities()};
  for (const Stream& stream : lane.streams) {
    mine.granule_bits |= granule_bits(stream);
  }
  std::array<int64_t, kSummaryValues> values{};
  std::memcpy(values.data(), &mine, sizeof mine);
  const auto all = windows.meeting().exchange(context.comm, values);
  Summary sum{Stage::kAllToDo, {INT64_MAX, 0}, 0, 0, 0, {}};
  for (size_t rank = 0; rank < all.size() / kSummaryValues; ++rank) {
    Summary one;
    std::memcpy(static_cast<void*>(&one), all.data() + rank * kSummaryValues, sizeof one);
    sum.stage = std::max(sum.stage, one.stage);
    sum.hull = {std::min(sum.hull.begin, one.hull.begin), std::max(sum.hull.end, one.hull.end)};
    sum.bytes += one.bytes;
    sum.pieces += one.pieces;
    sum.granule_bits |= one.granule_bits;
    if (rank == 0) {
      sum.capabilities = one.capabilities;
    }
  }
  Agreed agreed{{lane}, {}, granule_of(sum.granule_bits), sum.bytes};
  const ByteRange extent{std::min(sum.hull.begin, sum.hull.end), sum.hull.end};
  agreed.lanes[0].extent = extent;
  agreed.failed = sum.stage == Stage::kFailed;
  agreed.all_moved = sum.stage == Stage::kMoved && sum.bytes == 0;
  if (!agreed.failed && !agreed.all_moved) {
    agreed.plan =
        make_plan({sum.bytes, sum.pieces, write, false, extent.size(), true}, sum.capabilities, context.hints, context.comm);
  }
  return agreed;
}

// The windows that the ranks share, where they are all on one node; made at the first call. Null: messages must do.
NodeWindows* windows_of(Context& context, std::span<const Lane> lanes) {
  KeptBuffers* kept = context.kept;
  const bool one_node = context.comm.size() > 1 && context.comm.node_size() == context.comm.size();
  if (kept == nullptr || kept->no_windows || !one_node || lanes.size() != 1 ||
      context.hints.shared_memory == Switch::kDisable) {
    return nullptr;
  }
  if (kept->windows == nullptr) {
    int64_t bytes = std::clamp<int64_t>(context.hints.collective_buffer_bytes / NodeWindows::kWindows, 1, kMostWindowBytes);
    context.comm.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), 0);
    auto made = NodeWindows::create(context.comm, bytes);
    kept->no_windows = !made.ok();
    kept->windows = made.ok() ? std::move(*made) : nullptr;
  }
  return kept->windows.get();
}

Agreed agree_on(Context& context, NodeWindows* windows, std::span<const Lane> lanes, Stage stage, bool write) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  return windows == nullptr ? agree_by_messages(context, lanes, write)
                            : agree_in_memory(context, *windows, lanes.front(), stage, write);
}

// As Comm::agree, without a message where all is well.
Status agree(Context& context, NodeWindows* windows, const Status& mine) {
  if (windows == nullptr) {
    return context.comm.agree(mine);
  }
  return windows->is_true_anywhere(context.comm, !mine.ok()) ? context.comm.agree(mine) : mine;
}

Outcome outcome_of(const Moved& moved, Method method, std::string reason) {
  return {moved.status, moved.bytes, method, std::move(reason)};
}

IndependentShape shape_of(std::span<const Lane> lanes, bool write) {
  IndependentShape shape{write, total_bytes(lanes), piece_count(lanes), 0};
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      shape.span_bytes += hull_of(stream).size();
      shape.list_entries += stream.file_type.node().list_entries;
    }
  }
  return shape;
}

template <typename Move>
Outcome or_out_of_memory(Move&& move) {
  try {
    return move();
  } catch (const std::bad_alloc&) {
    Outcome outcome;
    outcome.status = Status(ErrorCode::kResourceExhausted, "out of memory in a collective operation");
    return outcome;
  }
}

// Each rank moves its own bytes, and hears of failures elsewhere where there are enough of them.
template <typename Move>
Outcome move_alone(Context& context, NodeWindows* windows, const Agreed& agreed, Move&& move) {
  MemoryReserve memory;
  std::optional<FailureNews> news;
  if (context.comm.size() > 1 && agreed.total_bytes >= kWorthTellingBytes) {
    news.emplace(context.comm, memory);
    context.failed_elsewhere = [&news] { return news->heard(); };
  }
  Outcome outcome = or_out_of_memory(move);
  if (news) {
    outcome.status = news->end(outcome.status);
    context.failed_elsewhere = {};
  }
  if (!news || !outcome.status.ok()) {  // with the news it is known that all have succeeded
    outcome.status = agree(context, windows, outcome.status);
  }
  outcome.reason = agreed.plan.reason + "; " + outcome.reason;
  return outcome;
}

IndependentPlan plan_for(const Context& context, std::span<const Lane> lanes, bool write) {
  return plan_independent(shape_of(lanes, write), context.file->capabilities(), context.hints,
                          may_try_to_sieve_writes(context));
}

/// What a rank moved before it heard of the others.
struct Early {
  Stage stage = Stage::kAllToDo;
  Outcome outcome{{}, 0, Method::kListIo, "long pieces go as they are, before the ranks meet"};

  /// What remains of this rank's request.
  std::span<const Lane> left(std::span<const Lane> lanes) const {
    static const Lane kNothing;
    return stage == Stage::kAllToDo ? lanes : std::span(&kNothing, 1);
  }
  /// The end of an operation in which nobody else has moved anything.
  Outcome end(Context& context, bool somebody_failed) {
    outcome.status = somebody_failed ? context.comm.agree(outcome.status) : outcome.status;
    return std::move(outcome);
  }
  /// The outcome of this rank, given that of what was left.
  Outcome with(Outcome rest) {
    if (stage == Stage::kAllToDo) {
      return rest;
    }
    outcome.status = std::move(rest.status);
    return std::move(outcome);
  }
};

// Ranks of a node whose own pieces are long wait for nobody: no other method would serve them better, whatever the others have.
template <typename Move>
Early move_early(Context& context, NodeWindows* windows, std::span<const Lane> lanes, bool write, Move&& move) {
  Early early;
  const RequestShape own{total_bytes(lanes), piece_count(lanes), write, false, 0, true};
  if (windows == nullptr) {
    return early;
  }
  windows->begin_early();
  if (goes_at_once(own, context.file->capabilities(), context.hints)) {
    context.failed_elsewhere = [windows] { return windows->early_failed(); };
    Outcome moved = or_out_of_memory(move);
    context.failed_elsewhere = {};
    early.stage = moved.status.ok() ? Stage::kMoved : Stage::kFailed;
    if (early.stage == Stage::kFailed) {
      windows->fail_early();
    }
    moved.reason = early.outcome.reason + "; " + moved.reason;
    early.outcome = std::move(moved);
  }
  return early;
}

}  // namespace

Outcome write_independent(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  IndependentPlan plan = plan_for(context, lanes, true);
  if (plan.method == Method::kDatatypeIo) {
    return outcome_of(write_types(context, lanes, source), plan.method, std::move(plan.reason));
  }
  return outcome_of(write_regions(context, lanes, source, plan.regions), plan.method, std::move(plan.reason));
}

Outcome read_independent(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  IndependentPlan plan = plan_for(context, lanes, false);
  if (plan.method == Method::kDatatypeIo) {
    return outcome_of(read_types(context, lanes, sink), plan.method, std::move(plan.reason));
  }
  return outcome_of(read_regions(context, lanes, sink, plan.regions), plan.method, std::move(plan.reason));
}

Outcome write_collective(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  NodeWindows* windows = windows_of(context, lanes);
  Early early = move_early(context, windows, lanes, true, [&] { return write_independent(context, lanes, source); });
  lanes = early.left(lanes);
  Agreed agreed = agree_on(context, windows, lanes, early.stage, true);
  if (agreed.all_moved || agreed.failed) {
    return early.end(context, agreed.failed);
  }
  if (agreed.plan.windows) {
    Moved moved = windows->write(context, agreed.lanes[0], agreed.granule_bytes, source);
    return early.with(outcome_of(moved, Method::kTwoPhase, agreed.plan.reason + kInWindows));
  }
  if (agreed.plan.method == Method::kTwoPhase) {
    Moved moved = write_two_phase_agreed(context, agreed.plan.two_phase, agreed.lanes, source);
    Outcome outcome = outcome_of(moved, Method::kTwoPhase, agreed.plan.reason);
    outcome.aggregators = std::move(agreed.plan.two_phase.aggregators);
    return early.with(std::move(outcome));
  }
  return early.with(move_alone(context, windows, agreed, [&] { return write_independent(context, lanes, source); }));
}

Outcome read_collective(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  NodeWindows* windows = windows_of(context, lanes);
  Early early = move_early(context, windows, lanes, false, [&] { return read_independent(context, lanes, sink); });
  lanes = early.left(lanes);
  Agreed agreed = agree_on(context, windows, lanes, early.stage, false);
  if (agreed.all_moved || agreed.failed) {
    return early.end(context, agreed.failed);
  }
  if (agreed.plan.windows) {
    const Moved moved = windows->read(context, agreed.lanes[0], sink);
    return early.with(outcome_of(moved, Method::kTwoPhase, agreed.plan.reason + kInWindows));
  }
  if (agreed.plan.method != Method::kTwoPhase) {
    return early.with(move_alone(context, windows, agreed, [&] { return read_independent(context, lanes, sink); }));
  }
  Outcome outcome =
      outcome_of(read_two_phase(context, agreed.plan.two_phase, agreed.lanes, sink), Method::kTwoPhase, agreed.plan.reason);
  outcome.aggregators = std::move(agreed.plan.two_phase.aggregators);
  outcome.status = agree(context, windows, outcome.status);
  return early.with(std::move(outcome));
}

}  // namespace stria::access
