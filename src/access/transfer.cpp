#include "access/transfer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "access/description.hpp"
#include "access/independent.hpp"
#include "access/two_phase.hpp"
#include "access/write_lock.hpp"
#include "trace/span.hpp"

namespace stria::access {

namespace {

/// A collective request with what the ranks agreed on.
struct Agreed {
  std::vector<Lane> lanes;
  Plan plan;
};

int64_t piece_count(std::span<const Lane> lanes) {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += std::min(stream.file_type.piece_count(), stream.size());
    }
  }
  return sum;
}

// Two reductions: the extents of the lanes with the capabilities' highest values, and the sums.
Agreed agree_on(Context& context, std::span<const Lane> lanes, bool write) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  Agreed agreed{{lanes.begin(), lanes.end()}, {}};
  std::vector<int64_t> most;  // of each lane: minus its begin, its end
  for (const Lane& lane : lanes) {
    ByteRange hull{INT64_MAX, 0};
    for (const Stream& stream : lane.streams) {
      ByteRange one = hull_of(stream);
      if (!one.empty()) {
        hull = {std::min(hull.begin, one.begin), std::max(hull.end, one.end)};
      }
    }
    most.insert(most.end(), {-hull.begin, hull.end});
  }
  context.comm.all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
  for (size_t i = 0; i < agreed.lanes.size(); ++i) {
    agreed.lanes[i].extent = {std::min(-most[2 * i], most[2 * i + 1]), most[2 * i + 1]};
  }
  int64_t sums[] = {total_bytes(lanes), piece_count(lanes)};
  context.comm.all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  storage::Capabilities capabilities = context.file->capabilities();
  context.comm.broadcast(std::as_writable_bytes(std::span(&capabilities, 1)), 0);
  agreed.plan = make_plan({sums[0], sums[1], write, false}, capabilities, context.hints, context.comm);
  return agreed;
}

Outcome outcome_of(const Moved& moved, Method method, std::string reason) {
  return {moved.status, moved.bytes, method, std::move(reason)};
}

IndependentShape shape_of(std::span<const Lane> lanes, bool write) {
  IndependentShape shape{write, total_bytes(lanes), piece_count(lanes), 0};
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      shape.span_bytes += hull_of(stream).size();
    }
  }
  return shape;
}

IndependentPlan plan_for(const Context& context, std::span<const Lane> lanes, bool write) {
  return plan_independent(shape_of(lanes, write), context.file->capabilities(), context.hints,
                          may_try_to_sieve_writes(context));
}

}  // namespace

Outcome write_independent(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  IndependentPlan plan = plan_for(context, lanes, true);
  return outcome_of(write_spans(context, lanes, source, plan.spans), plan.method, std::move(plan.reason));
}

Outcome read_independent(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  IndependentPlan plan = plan_for(context, lanes, false);
  return outcome_of(read_spans(context, lanes, sink, plan.spans), plan.method, std::move(plan.reason));
}

Outcome write_collective(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  Agreed agreed = agree_on(context, lanes, true);
  if (agreed.plan.method == Method::kTwoPhase) {
    Moved moved = write_two_phase_agreed(context, agreed.plan.two_phase, agreed.lanes, source);
    Outcome outcome = outcome_of(moved, Method::kTwoPhase, agreed.plan.reason);
    outcome.aggregators = std::move(agreed.plan.two_phase.aggregators);
    return outcome;
  }
  Outcome outcome = write_independent(context, lanes, source);
  outcome.status = context.comm.agree(outcome.status);
  outcome.reason = agreed.plan.reason + "; " + outcome.reason;
  return outcome;
}

Outcome read_collective(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  Agreed agreed = agree_on(context, lanes, false);
  Outcome outcome;
  if (agreed.plan.method == Method::kTwoPhase) {
    outcome =
        outcome_of(read_two_phase(context, agreed.plan.two_phase, agreed.lanes, sink), Method::kTwoPhase, agreed.plan.reason);
    outcome.aggregators = std::move(agreed.plan.two_phase.aggregators);
  } else {
    outcome = read_independent(context, lanes, sink);
    outcome.reason = agreed.plan.reason + "; " + outcome.reason;
  }
  outcome.status = context.comm.agree(outcome.status);
  return outcome;
}

}  // namespace stria::access
