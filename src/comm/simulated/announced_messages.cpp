#include "comm/simulated/announced_messages.hpp"

#include <algorithm>
#include <memory>

namespace stria {

Comm::Messages AnnouncedMessages::exchange(Comm& comm, int64_t number, const Comm::Messages& outgoing) {
  constexpr int kTag = 32001;
  for (const auto& [to, data] : outgoing) {
    announced_[{to, number}].emplace_back(comm.rank(), data.size());
  }
  comm.barrier();
  std::vector<std::pair<int, size_t>> senders;
  if (const auto found = announced_.find({comm.rank(), number}); found != announced_.end()) {
    senders = std::move(found->second);
    announced_.erase(found);
  }
  std::sort(senders.begin(), senders.end());
  Comm::Messages incoming;
  for (const auto& [from, bytes] : senders) {
    incoming.emplace_back(from, std::vector<std::byte>(bytes));
  }
  std::vector<std::unique_ptr<CommRequest>> requests;
  for (auto& [from, data] : incoming) {
    requests.push_back(comm.receive(data, from, kTag));
  }
  for (const auto& [to, data] : outgoing) {
    requests.push_back(comm.send(data, to, kTag));
  }
  for (const auto& request : requests) {
    comm.wait(*request);
  }
  return incoming;
}

}  // namespace stria
