// Messages to ranks that don't expect them, where the communicator has no better way: the lists of
// addresses are gathered first, then each rank receives what is for it.
#include <algorithm>

#include "base/check.hpp"
#include "comm/comm.hpp"

namespace stria {

namespace {

constexpr int kSparseTag = 32001;

struct Address {
  int64_t to = -1;
  int64_t bytes = 0;
};

}  // namespace

Comm::Messages Comm::sparse_exchange(const Messages& outgoing) {
  STRIA_ASSERT(are_well_addressed(outgoing, size()), outgoing.size(), size());
  int64_t most = static_cast<int64_t>(outgoing.size());
  all_reduce(std::span(&most, 1), ReduceOp::kMax);
  std::vector<Address> mine(static_cast<size_t>(most));
  for (size_t i = 0; i < outgoing.size(); ++i) {
    mine[i] = {outgoing[i].first, static_cast<int64_t>(outgoing[i].second.size())};
  }
  std::vector<Address> all(mine.size() * static_cast<size_t>(size()));
  if (most > 0) {
    all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  }
  std::vector<std::unique_ptr<CommRequest>> requests;
  Messages incoming;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].to == rank()) {
      incoming.emplace_back(static_cast<int>(i / mine.size()), std::vector<std::byte>(static_cast<size_t>(all[i].bytes)));
    }
  }
  for (auto& [from, data] : incoming) {
    if (from != rank()) {
      requests.push_back(receive(data, from, kSparseTag));
    }
  }
  for (const auto& [to, data] : outgoing) {
    if (to != rank()) {
      requests.push_back(send(data, to, kSparseTag));
      continue;
    }
    auto own = std::find_if(incoming.begin(), incoming.end(), [&](const auto& entry) { return entry.first == rank(); });
    STRIA_CHECK(own != incoming.end(), to);
    own->second = data;
  }
  for (auto& request : requests) {
    wait(*request);
  }
  return incoming;
}

}  // namespace stria
