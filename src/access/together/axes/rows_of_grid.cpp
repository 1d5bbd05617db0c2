// Finds out whether a grid of nodes pays for an operation: what each node meets, by one message of
// each rank to the first of its node, and one reduction.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "access/failure/memory_reserve.hpp"
#include "access/plan/axes_costs.hpp"
#include "access/request/message_tags.hpp"
#include "access/together/axes/by_axes.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/exchange/aggregator_buffers.hpp"
#include "base/out_of_memory.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

// A bit for an aggregator, or for several that follow each other where there are more.
constexpr int64_t kMostBits = 4096;
constexpr int64_t kBitsOfMetWord = 64;
constexpr size_t kMeetingReserveBytes = 64 << 10;
// A description by a longer list would be sent to each column anew.
constexpr int64_t kMostListEntries = 1024;
constexpr int64_t kTooMuch = int64_t{1} << 40;

/// Says what a rank says to the first of its node, and that one of the node.
struct Meeting {
  int64_t bytes = 0;
  int64_t description_bytes = 0;
  std::array<uint64_t, kMostBits / kBitsOfMetWord> met = {};

  void add(const Meeting& other) {
    bytes += other.bytes;
    description_bytes += other.description_bytes;
    for (size_t i = 0; i < met.size(); ++i) {
      met[i] |= other.met[i];
    }
  }
  bool meets(int64_t bit) const { return (met[static_cast<size_t>(bit / kBitsOfMetWord)] >> (bit % kBitsOfMetWord) & 1) != 0; }
  void set(int64_t bit) { met[static_cast<size_t>(bit / kBitsOfMetWord)] |= uint64_t{1} << (bit % kBitsOfMetWord); }
};

int64_t aggregators_of_a_bit(const ThroughAggregators& plan) {
  return (static_cast<int64_t>(plan.aggregators.size()) + kMostBits - 1) / kMostBits;
}

FileDomains domains_of(const ThroughAggregators& plan, std::span<const Lane> lanes) {
  const int64_t buffer_bytes = std::max<int64_t>(plan.buffer_bytes / AggregatorBuffers::kTwins, 1);
  return FileDomains(lanes, static_cast<int>(plan.aggregators.size()), buffer_bytes, plan.unit_bytes);
}

// May throw std::bad_alloc.
Meeting meeting_of(std::span<const Lane> lanes, const FileDomains& domains, int64_t of_a_bit) {
  Meeting mine{.bytes = total_bytes(lanes)};
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].streams.empty()) {
      continue;
    }
    const auto chosen = static_cast<int>(i);
    std::vector<std::byte> description;
    encode_description(lanes, {&chosen, 1}, description);
    mine.description_bytes += static_cast<int64_t>(description.size());
    const LaneDescription lane(chosen, lanes[i].streams);
    mine.description_bytes += list_entries(lane) > kMostListEntries ? kTooMuch : 0;
    for (const ByteRange hull : lane.hulls) {
      const auto [first, end] = domains.around(chosen, hull);
      for (int64_t bit = first / of_a_bit; first < end && bit <= (end - 1) / of_a_bit; ++bit) {
        mine.set(bit);
      }
    }
  }
  return mine;
}

// Returns what all ranks of the node have, at its first rank; nothing at the others.
Meeting gather_on_node(Comm& comm, MemoryReserve& memory, const Meeting& mine) {
  const auto nodes = comm.node_of_rank();
  const int node = nodes[static_cast<size_t>(comm.rank())];
  const auto first = static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  if (comm.rank() != first) {
    auto sent = memory.surely([&] { return comm.send(std::as_bytes(std::span(&mine, 1)), first, kMetTag); });
    comm.wait(*sent);
    return {};
  }
  Meeting all = mine;
  for (int rank = first + 1; rank < comm.size(); ++rank) {
    if (nodes[static_cast<size_t>(rank)] == node) {
      Meeting other;
      auto come = memory.surely([&] { return comm.receive(std::as_writable_bytes(std::span(&other, 1)), rank, kMetTag); });
      comm.wait(*come);
      all.add(other);
    }
  }
  return all;
}

int64_t columns_met(const Meeting& meeting, int64_t bits_of_a_column) {
  int64_t columns = 0;
  int64_t last = -1;
  for (int64_t bit = 0; bit < kMostBits; ++bit) {
    if (meeting.meets(bit) && bit / bits_of_a_column != last) {
      last = bit / bits_of_a_column;
      ++columns;
    }
  }
  return columns;
}

int find_rows(const Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, bool write) {
  const PhaseTimer timer(context.times, Phase::kExchange);
  const int64_t of_a_bit = aggregators_of_a_bit(plan);
  MemoryReserve memory;
  Meeting mine{.description_bytes = kTooMuch};  // where memory is short nobody asks for more
  int64_t rounds = 1;
  memory.attempt([&] {
    memory.set_aside(kMeetingReserveBytes);
    const FileDomains domains = domains_of(plan, lanes);
    mine = meeting_of(lanes, domains, of_a_bit);
    rounds = std::max(domains.round_count(), 1);
  });
  const Meeting node = gather_on_node(context.comm, memory, mine);
  AxesShape shape{.write = write,
                  .ranks = context.comm.size(),
                  .nodes = context.comm.node_count(),
                  .aggregators = static_cast<int64_t>(plan.aggregators.size()),
                  .rounds = rounds};
  std::array<int64_t, 3 + AxesShape::kChoices> most = {};
  most[0] = columns_met(node, 1) * of_a_bit;
  most[1] = node.bytes;
  most[2] = node.description_bytes;
  for (size_t choice = 0; choice < AxesShape::kChoices; ++choice) {
    most[3 + choice] = columns_met(node, std::max<int64_t>(rows_of_choice(choice) / of_a_bit, 1));
  }
  context.comm.all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
  shape.met = most[0];
  shape.bytes = most[1];
  shape.description_bytes = most[2];
  std::copy(most.begin() + 3, most.end(), shape.columns.begin());
  return shape.description_bytes >= kTooMuch ? 0 : rows_that_pay(shape);
}

}  // namespace

int rows_of_grid(const Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, bool write) {
  if (plan.axes == Switch::kDisable || plan.stripe_count > 1) {
    return 0;
  }
  if (plan.axes == Switch::kEnable) {
    return std::max(static_cast<int>(std::lround(std::sqrt(static_cast<double>(plan.aggregators.size())))), 1);
  }
  return find_rows(context, plan, lanes, write);
}

}  // namespace stria::access
