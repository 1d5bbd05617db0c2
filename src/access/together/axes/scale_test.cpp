// Tests what a collective write costs on the network as the number of ranks grows: messages and
// bytes of simulated ranks, printed as a table. STRIA_SCALE_RANKS is the largest number of ranks
// (default 1024).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "access/together/axes/by_axes.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "comm/simulated/simulated_comm.hpp"
#include "storage/memory/memory_driver.hpp"
#include "support/sanitized.hpp"

namespace stria::access {
namespace {

constexpr int kRanksANode = 16;
constexpr int64_t kTileRows = 16;
constexpr int64_t kTileBytes = 64;  // the bytes of a row

class ConstantSource : public StreamSource {
 public:
  void pack(std::span<const StreamPart> parts) override {
    for (const StreamPart& part : parts) {
      std::fill(part.packed, part.packed + (part.end - part.begin), std::byte{5});
    }
  }
};

struct Row {
  int ranks = 0;
  int aggregators = 0;
  int64_t met = 0;  ///< sum over the ranks of the aggregators that each meets
  int64_t rounds = 0;
  int64_t messages = 0;
  int64_t bytes = 0;
  int64_t description_bytes = 0;  ///< the bytes of one rank
};

// Ranks hold the tiles of a square array. There are as many aggregators as rows of tiles.
Row measure(int ranks) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(ranks)));
  const int64_t sizes[] = {side * kTileRows, side * kTileBytes};
  const int64_t subsizes[] = {kTileRows, kTileBytes};
  ThroughAggregators plan;
  for (int64_t a = 0; a < side; ++a) {
    plan.aggregators.push_back(static_cast<int>(a * side));
  }
  plan.unit_bytes = sizes[1];
  ResolvedHints hints;
  storage::MemoryDriver memory;
  memory.open("file", {.mode = storage::OpenOptions::Mode::kCreate}).value();
  Row row{ranks, static_cast<int>(side)};
  auto body = [&](Comm& comm) {
    const int64_t starts[] = {comm.rank() / side * kTileRows, comm.rank() % side * kTileBytes};
    Lane lane{{0, sizes[0] * sizes[1]}, 0, {}};
    lane.streams.push_back({0, Datatype::subarray(sizes, subsizes, starts, Order::kC, Datatype::bytes(1)).value()});
    if (comm.rank() == 0) {
      std::vector<std::byte> message;
      const int chosen[] = {0};
      encode_description(std::span(&lane, 1), chosen, message);
      row.description_bytes = static_cast<int64_t>(message.size());
    }
    FileDomains domains(std::span(&lane, 1), static_cast<int>(plan.aggregators.size()), plan.buffer_bytes / 2, plan.unit_bytes);
    row.rounds = domains.round_count();
    for (int a = 0; a < domains.aggregator_count(); ++a) {
      row.met += domains.meets(a, 0, hull_of(lane.streams[0])) ? 1 : 0;
    }
    auto file = memory.open("file", {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    PhaseTimes times;
    Context context{comm, file.get(), hints, times};
    ConstantSource source;
    Moved moved = write_two_phase_agreed(context, plan, std::span(&lane, 1), source);
    EXPECT_TRUE(moved.status.ok()) << moved.status.message();
    EXPECT_EQ(moved.bytes, kTileRows * kTileBytes);
  };
  SimulationOptions options{.ranks = ranks, .ranks_per_node = kRanksANode};
  options.stack_bytes = 128 << 10;
  options.guard_pages = false;
  auto report = run_simulated(options, body);
  EXPECT_TRUE(report.ok()) << report.status().message();
  if (report.ok()) {
    row.messages += report->total().messages_sent;
    row.bytes += report->total().bytes_sent;
  }
  auto file = memory.open("file", {}).value();
  EXPECT_EQ(file->size().value(), sizes[0] * sizes[1]);
  return row;
}

// A sanitizer keeps a history of every fiber, or a shadow of its stack.
constexpr int kMostRanks = kSanitized ? 256 : 1024;

int most_ranks() {
  const char* text = std::getenv("STRIA_SCALE_RANKS");
  return text == nullptr ? kMostRanks : std::atoi(text);
}

// Collectives that only agree or synchronise: trees with a few messages per rank, and a barrier
// with log2(ranks).
int64_t synchronising_messages(int ranks) {
  return ranks * (static_cast<int64_t>(std::ceil(std::log2(ranks))) + 4);
}

TEST(Scale, MessagesAndDescriptionsGrowWithTheRanks) {
  fmt::print("{:>7} {:>11} {:>8} {:>9} {:>13} {:>12} {:>17} {:>13} {:>13}\n", "ranks", "aggregators", "met/rank", "messages",
             "messages/rank", "without sync", "description bytes", "network bytes", "data bytes");
  for (int ranks = 64; ranks <= most_ranks(); ranks *= 4) {
    Row row = measure(ranks);
    int64_t synchronising = synchronising_messages(ranks);
    int64_t data_bytes = ranks * kTileRows * kTileBytes;
    fmt::print("{:>7} {:>11} {:>8.2f} {:>9} {:>13.2f} {:>12.2f} {:>17} {:>13} {:>13}\n", row.ranks, row.aggregators,
               static_cast<double>(row.met) / ranks, row.messages, static_cast<double>(row.messages) / ranks,
               static_cast<double>(row.messages - synchronising) / ranks, row.met * row.description_bytes, row.bytes,
               data_bytes);
    // A rank sends to each aggregator that it meets a description, and in each round there are a
    // token each way and the bytes.
    EXPECT_LE(row.messages, row.met * (1 + 3 * row.rounds) + synchronising);
    // The data, the descriptions, tokens and small reductions travel, and nothing else.
    EXPECT_LE(row.bytes, data_bytes + row.met * (row.description_bytes + 3 * 8 * row.rounds) + synchronising * 64);
  }
}

/// Says what a collective write of a block array costs.
struct Traffic {
  int64_t rank_pairs = 0;  ///< ranks and aggregators of other nodes that meet
  int64_t node_pairs = 0;  ///< nodes and aggregators of other nodes that meet
  int64_t rounds = 0;
  int rows = 0;  ///< the rows of the grid by whose axes contributions travelled
  int64_t messages = 0;
  int64_t messages_away = 0;  ///< to other nodes
  int64_t bytes_away = 0;
};

// The cost counts bytes that could travel meanwhile, as the planner does.
int64_t cost_of(int64_t messages, int64_t bytes) {
  return (messages << 12) + bytes;
}

constexpr int kRanksALargeNode = 64;
constexpr int64_t kBlockPlanes = 16;
constexpr int64_t kBlockRows = 4;
constexpr int64_t kBlockRowBytes = 64;

// The ranks hold the blocks of a three-dimensional array, in rank order, or nothing. Each node has
// an aggregator.
struct Blocks {
  bool gather = false;     ///< by delegates
  bool with_bytes = true;  ///< false: nobody has any
  bool dealt = false;      ///< to the nodes in turn, rank by rank
  Switch axes = Switch::kDisable;
  int ranks_per_node = kRanksALargeNode;
};

Traffic write_blocks(int ranks, const Blocks& how) {
  int64_t counts[] = {1, 1, 1};
  for (int left = ranks, i = 2; left > 1; left /= 2, i = (i + 2) % 3) {
    counts[i] *= 2;
  }
  const int64_t subsizes[] = {kBlockPlanes, kBlockRows, kBlockRowBytes};
  const int64_t sizes[] = {counts[0] * subsizes[0], counts[1] * subsizes[1], counts[2] * subsizes[2]};
  ThroughAggregators plan;
  for (int rank = 0; rank < ranks; rank += how.ranks_per_node) {
    plan.aggregators.push_back(how.dealt ? rank / how.ranks_per_node : rank);
  }
  plan.gather_on_nodes = how.gather;
  plan.axes = how.axes;
  ResolvedHints hints;
  plan.buffer_bytes = 256 << 10;
  storage::MemoryDriver memory;
  memory.open("file", {.mode = storage::OpenOptions::Mode::kCreate}).value();
  Traffic traffic;
  std::set<std::pair<int, int>> node_pairs;
  auto body = [&](Comm& comm) {
    const int64_t rank = comm.rank();
    const int64_t starts[] = {rank / (counts[1] * counts[2]) * subsizes[0], rank / counts[2] % counts[1] * subsizes[1],
                              rank % counts[2] * subsizes[2]};
    Lane lane{{0, sizes[0] * sizes[1] * sizes[2]}, 0, {}};
    if (how.with_bytes) {
      lane.streams.push_back({0, Datatype::subarray(sizes, subsizes, starts, Order::kC, Datatype::bytes(1)).value()});
    }
    const FileDomains domains(std::span(&lane, 1), static_cast<int>(plan.aggregators.size()), plan.buffer_bytes / 2,
                              plan.unit_bytes);
    traffic.rounds = domains.round_count();
    const int node = comm.node_of_rank()[static_cast<size_t>(rank)];
    for (int a = 0; a < domains.aggregator_count(); ++a) {
      if (how.with_bytes && a != node && domains.meets(a, 0, hull_of(lane.streams[0]))) {
        ++traffic.rank_pairs;
        node_pairs.emplace(node, a);
      }
    }
    auto file = memory.open("file", {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    PhaseTimes times;
    Context context{comm, file.get(), hints, times};
    ConstantSource source;
    const int rows = rows_of_grid(context, plan, std::span(&lane, 1), true);
    traffic.rows = rows;
    Moved moved = rows > 0 ? move_by_axes(context, plan, std::span(&lane, 1), Endpoint::of_write(source), {.rows = rows})
                           : write_two_phase_agreed(context, plan, std::span(&lane, 1), source);
    EXPECT_TRUE(moved.status.ok()) << moved.status.message();
  };
  SimulationOptions options{.ranks = ranks, .ranks_per_node = how.ranks_per_node, .scatter_nodes = how.dealt};
  options.stack_bytes = 128 << 10;
  options.guard_pages = false;
  auto report = run_simulated(options, body);
  EXPECT_TRUE(report.ok()) << report.status().message();
  if (report.ok()) {
    const RankTraffic sent = report->total();
    traffic.messages += sent.messages_sent;
    traffic.messages_away += sent.messages_sent_away;
    traffic.bytes_away += sent.bytes_sent_away;
  }
  traffic.node_pairs = static_cast<int64_t>(node_pairs.size());
  if (!how.with_bytes) {
    return traffic;
  }
  std::vector<std::byte> content(static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]));
  storage::ReadSegment segment{0, content.data(), static_cast<int64_t>(content.size())};
  EXPECT_EQ(memory.open("file", {}).value()->read(std::span(&segment, 1)).value(), segment.bytes);
  EXPECT_TRUE(std::all_of(content.begin(), content.end(), [](std::byte value) { return value == std::byte{5}; }));
  return traffic;
}

TEST(Scale, MessagesBetweenNodesGrowWithTheNodes) {
  fmt::print("{:>6} {:>6} {:>6} {:>11} {:>11} {:>14} {:>10} {:>10} {:>12} {:>12} {:>12}\n", "ranks", "nodes", "rounds",
             "rank pairs", "node pairs", "synchronising", "messages", "gathered", "bytes", "gathered", "in nodes");
  for (int ranks = 64; ranks <= most_ranks(); ranks *= 4) {
    const Traffic nothing = write_blocks(ranks, {.gather = true, .with_bytes = false});
    const Traffic alone = write_blocks(ranks, {});
    const Traffic gathered = write_blocks(ranks, {.gather = true});
    const int64_t messages_alone = alone.messages_away - nothing.messages_away;
    const int64_t messages_gathered = gathered.messages_away - nothing.messages_away;
    fmt::print("{:>6} {:>6} {:>6} {:>11} {:>11} {:>14} {:>10} {:>10} {:>12} {:>12} {:>12}\n", ranks, ranks / kRanksALargeNode,
               alone.rounds, alone.rank_pairs, alone.node_pairs, nothing.messages_away, messages_alone, messages_gathered,
               alone.bytes_away - nothing.bytes_away, gathered.bytes_away - nothing.bytes_away,
               gathered.messages - gathered.messages_away);
    // Each rank speaks for itself without delegates, each node with them.
    EXPECT_LE(messages_alone, alone.rank_pairs * (1 + 3 * alone.rounds));
    EXPECT_LE(messages_gathered, gathered.node_pairs * (1 + 3 * gathered.rounds));
    EXPECT_LE(gathered.bytes_away, alone.bytes_away);
    EXPECT_TRUE(alone.rank_pairs == 0 || 10 * messages_gathered < messages_alone);
  }
}

void print_axes(int ranks, const Blocks& how, const Traffic& straight, const Traffic& by_axes, const Traffic& chosen) {
  fmt::print("{:>6} {:>6} {:>6} {:>12} {:>12} {:>12} {:>12} {:>6} {:>7}\n", ranks, ranks / how.ranks_per_node,
             how.dealt ? "dealt" : "order", straight.messages_away, by_axes.messages_away, straight.bytes_away,
             by_axes.bytes_away, by_axes.rows, chosen.rows > 0 ? "axes" : "straight");
}

// Trees of agreements count here, because a grid has more of them.
TEST(Scale, AGridIsChosenWhereItsAxesSaveMoreMessagesThanTheyCostBytes) {
  fmt::print("{:>6} {:>6} {:>6} {:>12} {:>12} {:>12} {:>12} {:>6} {:>7}\n", "ranks", "nodes", "blocks", "messages", "by axes",
             "bytes", "by axes", "rows", "chosen");
  bool was_chosen = false;
  for (int ranks = 64; ranks <= most_ranks(); ranks *= 4) {
    for (const bool dealt : {false, true}) {
      Blocks how{.gather = true, .dealt = dealt, .ranks_per_node = kRanksANode};
      const Traffic straight = write_blocks(ranks, how);
      how.axes = Switch::kAutomatic;
      const Traffic chosen = write_blocks(ranks, how);
      how.axes = Switch::kEnable;
      const Traffic by_axes = write_blocks(ranks, how);
      print_axes(ranks, how, straight, by_axes, chosen);
      if (chosen.rows > 0) {
        EXPECT_LT(cost_of(chosen.messages_away, chosen.bytes_away), cost_of(straight.messages_away, straight.bytes_away))
            << ranks;
      }
      was_chosen = was_chosen || chosen.rows > 0;
    }
  }
  EXPECT_TRUE(was_chosen || most_ranks() < 4096);
}

}  // namespace
}  // namespace stria::access
