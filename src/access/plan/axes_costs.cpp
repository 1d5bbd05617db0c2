#include "access/plan/axes_costs.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace stria::access {

namespace {

// A message costs the time of so many bytes: 30 us at 1 Gbit/s, or 0.3 us at 100 Gbit/s.
constexpr int64_t kMessageBytes = 4 << 10;
// A size goes before the bytes in a sparse exchange. Along an axis a size goes to each column of
// the grid, also where it is 0, and to those that are met an answer comes back and the bytes go. In
// each round there are two tokens, and the bytes.
constexpr int64_t kMessagesOfExchange = 2;
constexpr int64_t kMessagesOfMetColumn = 2;
constexpr int64_t kMessagesOfRound = 3;
// The agreements that straight ways don't have.
constexpr int64_t kAgreementsOfWrite = 2;
constexpr int64_t kAgreementsOfRead = 3;
// The bytes that a node holds for others, and packs twice more than without a grid.
constexpr int64_t kMostBytes = 32 << 20;
constexpr int64_t kTimesMoreBytes = 2;

int64_t messages_to(int64_t aggregators, const AxesShape& shape) {
  return aggregators * (kMessagesOfExchange + kMessagesOfRound * shape.rounds);
}

}  // namespace

int64_t straight_cost_bytes(const AxesShape& shape) {
  return messages_to(shape.met, shape) * kMessageBytes;
}

int64_t axes_cost_bytes(const AxesShape& shape, size_t choice) {
  STRIA_ASSERT(choice < AxesShape::kChoices && shape.nodes >= 1 && shape.ranks >= shape.nodes, choice, shape.nodes,
               shape.ranks);
  const int64_t met_columns = shape.columns[choice];
  const int64_t ways = shape.write ? 1 : 2;  // a read's descriptions, and its bytes back
  // A message up a tree and one down for each rank of the node, and the steps of the tree.
  const int64_t agreement =
      2 * shape.ranks / shape.nodes + std::bit_width(static_cast<uint64_t>(std::max<int64_t>(shape.ranks - 1, 0)));
  const int64_t agreements = (shape.write ? kAgreementsOfWrite : kAgreementsOfRead) * agreement;
  const int64_t hop = columns_of_grid(shape.aggregators, rows_of_choice(choice)) + met_columns * kMessagesOfMetColumn;
  const int64_t messages = ways * hop + messages_to(rows_of_choice(choice), shape) + agreements;
  return messages * kMessageBytes + kTimesMoreBytes * shape.bytes + met_columns * shape.description_bytes;
}

int rows_that_pay(const AxesShape& shape) {
  if (shape.bytes > kMostBytes) {
    return 0;
  }
  size_t best = 0;
  for (size_t choice = 1; choice < AxesShape::kChoices; ++choice) {
    best = axes_cost_bytes(shape, choice) < axes_cost_bytes(shape, best) ? choice : best;
  }
  return axes_cost_bytes(shape, best) < straight_cost_bytes(shape) / 5 * 4 ? rows_of_choice(best) : 0;
}

AxesShape most_scattered(bool write, int64_t ranks, int64_t nodes, int64_t aggregators, int64_t total_bytes) {
  STRIA_ASSERT(nodes >= 1 && ranks >= nodes && aggregators >= 1 && total_bytes >= 0, nodes, ranks, aggregators, total_bytes);
  AxesShape shape{.write = write,
                  .ranks = ranks,
                  .nodes = nodes,
                  .aggregators = aggregators,
                  .met = aggregators,
                  .bytes = total_bytes / nodes};
  for (size_t choice = 0; choice < AxesShape::kChoices; ++choice) {
    shape.columns[choice] = columns_of_grid(aggregators, rows_of_choice(choice));
  }
  return shape;
}

}  // namespace stria::access
