#include "comm/trace/clock_sync.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace stria {

namespace {

constexpr int kRoundTrips = 40;
constexpr int kTag = 0x7c10;

// How far two clocks drift apart at most: each is off by 100 parts in a million.
constexpr double kDriftMax = 2e-4;

int64_t receive_number(Comm& comm, int from) {
  int64_t value = 0;
  auto request = comm.receive(std::as_writable_bytes(std::span(&value, 1)), from, kTag);
  comm.wait(*request);
  return value;
}

void send_number(Comm& comm, int64_t value, int to) {
  auto request = comm.send(std::as_bytes(std::span(&value, 1)), to, kTag);
  comm.wait(*request);
}

trace::ClockSample ask(Comm& comm, int parent, const std::function<int64_t()>& now_ns) {
  trace::ClockSample best;
  best.reference_rank = parent;
  best.round_trip_ns = std::numeric_limits<int64_t>::max();
  int64_t lower = std::numeric_limits<int64_t>::min();
  int64_t upper = std::numeric_limits<int64_t>::max();
  const int64_t begin_ns = now_ns();
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    const int64_t sent = now_ns();
    send_number(comm, sent, parent);
    const int64_t theirs = receive_number(comm, parent);
    const int64_t arrived = now_ns();
    lower = std::max(lower, theirs - arrived);
    upper = std::min(upper, theirs - sent);
    if (arrived - sent < best.round_trip_ns) {
      best.round_trip_ns = arrived - sent;
      best.local_ns = sent + (arrived - sent) / 2;
      best.offset_ns = theirs - best.local_ns;
    }
  }
  if (lower <= upper) {  // always, unless the clocks drift apart while they are compared
    best.offset_ns = lower + (upper - lower) / 2;
    // The comparison takes long on busy cores, and a bound holds for the moment of its trip only.
    const auto drift_ns = static_cast<int64_t>(kDriftMax * static_cast<double>(now_ns() - begin_ns));
    best.round_trip_ns = upper - lower + 2 * drift_ns;
  }
  const auto nodes = comm.node_of_rank();
  const bool one_node = nodes[static_cast<size_t>(comm.rank())] == nodes[static_cast<size_t>(parent)];
  if (one_node && best.offset_ns <= best.round_trip_ns / 2 && best.offset_ns >= -best.round_trip_ns / 2) {
    best.offset_ns = 0;
  }
  return best;
}

void answer(Comm& comm, int child, const std::function<int64_t()>& now_ns) {
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    receive_number(comm, child);
    send_number(comm, now_ns(), child);
  }
}

}  // namespace

std::vector<trace::ClockSample> compare_clocks(Comm& comm, const std::function<int64_t()>& now_ns) {
  std::vector<trace::ClockSample> samples;
  const int rank = comm.rank();
  // Each rank whose lowest set bit is 2^k asks in step k the rank without that bit. So no rank is
  // in two pairs at once.
  for (int bit = 1; bit < comm.size() && samples.empty(); bit *= 2) {
    if ((rank & bit) != 0) {
      samples.push_back(ask(comm, rank - bit, now_ns));
    } else if (rank + bit < comm.size()) {
      answer(comm, rank + bit, now_ns);
    }
  }
  return samples;
}

}  // namespace stria
