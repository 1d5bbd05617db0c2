#include "access/together/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "access/plan/planner.hpp"
#include "access/plan/server_costs.hpp"
#include "access/request/granule.hpp"
#include "access/request/overlap.hpp"
#include "base/check.hpp"
#include "trace/record/span.hpp"

namespace stria::access {

namespace {

// Small enough to stay in a processor's cache while ranks fill it and one of them writes it.
constexpr int64_t kMostWindowBytes = 1 << 20;

Agreed agree_by_gathering(Context& context, const Lane& lane, Arrival arrival, bool write) {
  Agreed agreed;
  agreed.lanes.push_back(lane);
  agreed.gathered.emplace(context.comm, lane, context.file->capabilities(), static_cast<int64_t>(arrival.stage), write);
  const GatheredRequests::Summary& all = agreed.gathered->all();
  agreed.lanes[0].hull = all.hull;
  agreed.total_bytes = all.bytes;
  agreed.set_stage(static_cast<Stage>(all.stage));
  const RequestShape shape{.total_bytes = all.bytes,
                           .piece_count = all.pieces,
                           .write = write,
                           .hull_bytes = all.hull.size(),
                           .described = agreed.gathered->are_described(),
                           .server_cost_bytes = all.server_cost_bytes};
  agreed.plan = make_plan(shape, all.capabilities, context.hints, context.comm);
  return agreed;
}

// This costs two reductions, of the hulls of the lanes and of the sums, and a broadcast of what
// rank 0 says of the storage.
Agreed agree_by_messages(Context& context, std::span<const Lane> lanes, Arrival arrival, bool write) {
  if (GatheredRequests::are_few(context.comm.size(), lanes.size())) {
    return agree_by_gathering(context, lanes.front(), arrival, write);
  }
  Agreed agreed{.lanes = {lanes.begin(), lanes.end()}};
  std::vector<int64_t> most;  // for each lane: minus its begin, its end; then the stage
  for (const Lane& lane : lanes) {
    const ByteRange hull = hull_of(lane);
    most.insert(most.end(), {-hull.begin, hull.end});
  }
  most.push_back(static_cast<int64_t>(arrival.stage));
  context.comm.all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
  int64_t hull_bytes = 0;
  for (size_t i = 0; i < agreed.lanes.size(); ++i) {
    agreed.lanes[i].hull = {std::min(-most[2 * i], most[2 * i + 1]), most[2 * i + 1]};
    hull_bytes += agreed.lanes[i].hull.size();
  }
  const IndependentShape own = shape_of(lanes, write);
  int64_t sums[] = {own.bytes, own.piece_count, server_cost_bytes(own, context.file->capabilities())};
  context.comm.all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  agreed.total_bytes = sums[0];
  agreed.set_stage(static_cast<Stage>(most.back()));
  storage::Capabilities capabilities = context.file->capabilities();
  context.comm.broadcast(std::as_writable_bytes(std::span(&capabilities, 1)), 0);
  const RequestShape shape{.total_bytes = sums[0],
                           .piece_count = sums[1],
                           .write = write,
                           .hull_bytes = hull_bytes,
                           .lane_count = static_cast<int>(lanes.size()),
                           .server_cost_bytes = sums[2]};
  agreed.plan = make_plan(shape, capabilities, context.hints, context.comm);
  return agreed;
}

// Holds what a rank says in a meeting about what it has left to move; rank 0 also about the
// storage.
struct Summary {
  Arrival arrival;
  ByteRange hull;
  int64_t bytes;
  int64_t pieces;
  int64_t server_cost_bytes;
  uint64_t granule_bits;
  storage::Capabilities capabilities;
};
constexpr size_t kSummaryValues = (sizeof(Summary) + sizeof(int64_t) - 1) / sizeof(int64_t);
static_assert(std::is_trivially_copyable_v<Summary> && kSummaryValues <= NodeMeeting::kMostValues);

bool are_apart(std::span<ByteRange> hulls) {
  std::sort(hulls.begin(), hulls.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  return std::adjacent_find(hulls.begin(), hulls.end(), [](ByteRange a, ByteRange b) { return b.begin < a.end; }) ==
         hulls.end();
}

// This costs one meeting in the memory of the node.
Agreed agree_in_memory(Context& context, NodeWindows& windows, const Lane& lane, Arrival arrival, bool write) {
  const IndependentShape shape = shape_of({&lane, 1}, write);
  const storage::Capabilities& capabilities = context.file->capabilities();
  Summary mine{.arrival = arrival,
               .hull = hull_of(lane),
               .bytes = shape.bytes,
               .pieces = shape.piece_count,
               .server_cost_bytes = server_cost_bytes(shape, capabilities),
               .granule_bits = 0,
               .capabilities = capabilities};
  for (const Stream& stream : lane.streams) {
    mine.granule_bits |= granule_bits(stream);
  }
  std::array<int64_t, kSummaryValues> values{};
  std::memcpy(values.data(), &mine, sizeof mine);
  const auto all = windows.short_calls().come(context.comm, values);
  if (!all) {
    return {.lanes = {lane}, .is_off = true};
  }
  STRIA_CHECK(all->size() == static_cast<size_t>(context.comm.size()) * NodeMeeting::kMostValues, all->size(),
              context.comm.size());
  Summary sum{};
  sum.arrival = {.stage = Stage::kAllToDo, .was_short = true};
  sum.hull = {INT64_MAX, 0};
  std::vector<ByteRange> hulls;
  for (size_t rank = 0; rank < all->size() / NodeMeeting::kMostValues; ++rank) {
    Summary one;
    std::memcpy(static_cast<void*>(&one), all->data() + rank * NodeMeeting::kMostValues, sizeof one);
    STRIA_ASSERT(one.bytes >= 0 && one.pieces >= 0 && is_stage(one.arrival.stage), rank, one.bytes, one.pieces,
                 one.arrival.stage);
    sum.arrival.stage = std::max(sum.arrival.stage, one.arrival.stage);
    sum.arrival.was_short = sum.arrival.was_short && one.arrival.was_short;
    sum.hull = {std::min(sum.hull.begin, one.hull.begin), std::max(sum.hull.end, one.hull.end)};
    sum.bytes += one.bytes;
    sum.pieces += one.pieces;
    sum.server_cost_bytes += one.server_cost_bytes;
    sum.granule_bits |= one.granule_bits;
    if (one.bytes > 0) {
      hulls.push_back(one.hull);
    }
    if (rank == 0) {
      sum.capabilities = one.capabilities;
    }
  }
  Agreed agreed;
  agreed.lanes.push_back(lane);
  agreed.granule_bytes = granule_of(sum.granule_bits);
  agreed.total_bytes = sum.bytes;
  const ByteRange extent{std::min(sum.hull.begin, sum.hull.end), sum.hull.end};
  agreed.lanes[0].hull = extent;
  agreed.set_stage(sum.arrival.stage);
  windows.short_calls().note_meeting(agreed.all_moved && sum.arrival.was_short, write);
  if (!agreed.failed && !agreed.all_moved) {
    const RequestShape of_all{.total_bytes = sum.bytes,
                              .piece_count = sum.pieces,
                              .write = write,
                              .hull_bytes = extent.size(),
                              .windows = true,
                              .apart = are_apart(hulls),
                              .server_cost_bytes = sum.server_cost_bytes};
    agreed.plan = make_plan(of_all, sum.capabilities, context.hints, context.comm);
  }
  return agreed;
}

}  // namespace

NodeWindows* windows_of(Context& context, KeptWindows* kept, std::span<const Lane> lanes) {
  const bool one_node = context.comm.size() > 1 && context.comm.node_size() == context.comm.size();
  if (kept == nullptr || kept->impossible || !one_node || lanes.size() != 1 ||
      context.hints.shared_memory == Switch::kDisable) {
    return nullptr;
  }
  if (kept->windows == nullptr) {
    const int64_t asked = context.hints.collective_buffer_bytes;
    int64_t bytes = asked == 0 ? kMostWindowBytes : std::clamp<int64_t>(asked / NodeWindows::kWindows, 1, kMostWindowBytes);
    context.comm.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), 0);
    auto made = NodeWindows::create(context.comm, bytes);
    kept->impossible = !made.ok();
    kept->windows = made.ok() ? std::move(*made) : nullptr;
  }
  return kept->windows.get();
}

Agreed agree_on_request(Context& context, NodeWindows* windows, std::span<const Lane> lanes, Arrival arrival, bool write) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  return windows == nullptr ? agree_by_messages(context, lanes, arrival, write)
                            : agree_in_memory(context, *windows, lanes.front(), arrival, write);
}

Status agree_on_outcome(Context& context, NodeWindows* windows, const Status& mine) {
  if (windows == nullptr) {
    return context.comm.agree(mine);
  }
  return windows->is_true_anywhere(context.comm, !mine.ok()) ? context.comm.agree(mine) : mine;
}

}  // namespace stria::access
