// Ranks of MPI count as several nodes, so that delegates speak for them.
#include "access/together/exchange/delegates.hpp"

#include "access/ranks_of_nodes_test.hpp"
#include "access/together/two_phase/two_phase.hpp"

namespace stria::access::test {
namespace {

TEST(NodeDelegates, MoveWhatRanksOfSeveralNodesBring) {
  const auto prepare = [](Case& c) {
    c.plan.shared_memory = true;
    c.plan.gather_on_nodes = true;
  };
  const auto move = [](Context& context, const Case& c, Endpoint endpoint, KeptBuffers&) {
    const RankCase& mine = c.ranks[static_cast<size_t>(context.comm.rank())];
    return endpoint.writes() ? write_two_phase_agreed(context, c.plan, mine.lanes, endpoint.source())
                             : read_two_phase(context, c.plan, mine.lanes, endpoint.sink());
  };
  check_on_nodes({.name = "delegates", .prepare = prepare, .move = move}, 25);
}

}  // namespace
}  // namespace stria::access::test
