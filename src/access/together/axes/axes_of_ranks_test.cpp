// Contributions of ranks of MPI, which count as several nodes, travel along the axes of grids.
#include "access/ranks_of_nodes_test.hpp"
#include "access/together/axes/by_axes.hpp"

namespace stria::access::test {
namespace {

TEST(AxesOfRanks, MoveWhatRanksOfSeveralNodesBring) {
  const auto prepare = [](Case& c) { c.plan.stripe_count = 1; };
  const auto move = [](Context& context, const Case& c, Endpoint endpoint, KeptBuffers& kept) {
    const RankCase& mine = c.ranks[static_cast<size_t>(context.comm.rank())];
    const ByAxes by{.rows = 1 + static_cast<int>(c.seed % 3), .kept = &kept};
    return move_by_axes(context, c.plan, mine.lanes, endpoint, by);
  };
  check_on_nodes({.name = "axes", .prepare = prepare, .move = move}, 20);
}

}  // namespace
}  // namespace stria::access::test
