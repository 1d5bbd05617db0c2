#include "access/planner.hpp"

#include <algorithm>

namespace stria::access {

namespace {

constexpr int64_t kLongPieceBytes = 16 << 10;
constexpr int64_t kWorthDirectBytes = 32 << 20;

bool on_one_node(const Comm& comm) {
  auto nodes = comm.node_of_rank();
  return std::all_of(nodes.begin(), nodes.end(), [](int node) { return node == 0; });
}

// Aggregators take turns among the nodes, the first ranks of each; by default one a node, or one a stripe where there are more
// stripes.
std::vector<int> choose_aggregators(const Comm& comm, int wanted) {
  auto nodes = comm.node_of_rank();
  int node_count = *std::max_element(nodes.begin(), nodes.end()) + 1;
  std::vector<std::vector<int>> ranks_of_node(static_cast<size_t>(node_count));
  for (int rank = 0; rank < comm.size(); ++rank) {
    ranks_of_node[static_cast<size_t>(nodes[static_cast<size_t>(rank)])].push_back(rank);
  }
  std::vector<int> chosen;
  for (size_t turn = 0; static_cast<int>(chosen.size()) < wanted; ++turn) {
    for (const auto& ranks : ranks_of_node) {
      if (turn < ranks.size() && static_cast<int>(chosen.size()) < wanted) {
        chosen.push_back(ranks[turn]);
      }
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

int default_aggregator_count(const Comm& comm, const storage::Capabilities& capabilities) {
  auto nodes = comm.node_of_rank();
  int node_count = *std::max_element(nodes.begin(), nodes.end()) + 1;
  return std::max(node_count, capabilities.stripe_count);
}

TwoPhasePlan two_phase_plan(const storage::Capabilities& capabilities, const ResolvedHints& hints, const Comm& comm) {
  TwoPhasePlan plan;
  int wanted = hints.aggregator_count > 0 ? hints.aggregator_count : default_aggregator_count(comm, capabilities);
  plan.aggregators = choose_aggregators(comm, std::clamp(wanted, 1, comm.size()));
  plan.unit_bytes = std::max<int64_t>({hints.striping_unit_bytes > 0 ? hints.striping_unit_bytes : capabilities.stripe_bytes,
                                       capabilities.block_bytes, capabilities.lock_unit_bytes, 1});
  plan.shared_memory = hints.shared_memory != Switch::kDisable;
  return plan;
}

// Rules 1 and 2: what hints and the number of ranks decide alone; kAutomatic when they don't.
Method forced_method(const RequestShape& shape, const ResolvedHints& hints, const Comm& comm, std::string& reason) {
  Switch collective = shape.write ? hints.collective_write : hints.collective_read;
  if (hints.method != Method::kAutomatic) {
    reason = "hint stria_method";
    return hints.method;
  }
  if (collective != Switch::kAutomatic) {
    reason = shape.write ? "hint romio_cb_write" : "hint romio_cb_read";
    return collective == Switch::kEnable ? Method::kTwoPhase : Method::kListIo;
  }
  if (comm.size() == 1) {
    reason = "one rank";
    return Method::kListIo;
  }
  return Method::kAutomatic;
}

}  // namespace

Plan make_plan(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
               const Comm& comm) {
  Plan plan;
  plan.two_phase = two_phase_plan(capabilities, hints, comm);
  bool can_direct = shape.write && capabilities.direct_align_bytes > 0 && hints.direct != Switch::kDisable;
  bool wants_direct = hints.direct == Switch::kEnable || (shape.durable && shape.total_bytes >= kWorthDirectBytes);
  plan.direct = can_direct && wants_direct;
  plan.method = forced_method(shape, hints, comm, plan.reason);
  if (plan.method != Method::kAutomatic) {
    return plan;
  }
  bool long_pieces = shape.piece_count == 0 || shape.total_bytes / shape.piece_count >= kLongPieceBytes;
  if (on_one_node(comm) && capabilities.node_local_cache && long_pieces) {
    plan.method = Method::kListIo;
    plan.reason = "one node with storage of its own takes long pieces as they are";
  } else {
    plan.method = Method::kTwoPhase;
    plan.reason = long_pieces ? "several nodes share the file" : "pieces are short";
  }
  return plan;
}

}  // namespace stria::access
