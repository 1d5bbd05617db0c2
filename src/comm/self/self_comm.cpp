#include "comm/self/self_comm.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "comm/pause.hpp"
#include "comm/private_memory.hpp"

namespace stria {

namespace {

/// The messages of one tag from this rank to itself. It holds either messages that no receive has
/// taken yet, or receives that wait for one, never both.
struct Mailbox {
  struct Receive {
    std::span<std::byte> buffer;
    std::shared_ptr<bool> done;
  };
  std::deque<std::vector<std::byte>> messages;
  std::deque<Receive> receives;

  void match() {
    while (!messages.empty() && !receives.empty()) {
      const std::span<std::byte> buffer = receives.front().buffer;
      STRIA_CHECK(messages.front().size() == buffer.size(), messages.front().size(), buffer.size());
      std::copy(messages.front().begin(), messages.front().end(), buffer.begin());
      *receives.front().done = true;
      messages.pop_front();
      receives.pop_front();
    }
  }
};

class SelfRequest : public CommRequest {
 public:
  explicit SelfRequest(std::shared_ptr<bool> done) : done_(std::move(done)) {}
  bool test() override { return *done_; }

 private:
  std::shared_ptr<bool> done_;
};

class SelfMemory : public SharedBuffer {
 public:
  explicit SelfMemory(PrivateMemory memory) : memory_(std::move(memory)) {}
  std::span<std::byte> part(int) const override { return memory_.bytes(); }

 private:
  PrivateMemory memory_;
};

class SelfComm : public Comm {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::span<const int> node_of_rank() const override { return {&kNode, 1}; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }

  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void all_reduce(std::span<int64_t>, ReduceOp) override {}
  void exclusive_scan(std::span<int64_t> values) override { std::fill(values.begin(), values.end(), 0); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    STRIA_CHECK(all.size() == mine.size(), all.size(), mine.size());
    std::copy(mine.begin(), mine.end(), all.begin());
  }
  void gather(std::span<const std::byte> mine, int, const PieceTaker& take) override {
    STRIA_CHECK(mine.size() <= kGatherBytesMax, mine.size());
    take(0, mine);
  }
  Messages sparse_exchange(const Messages& outgoing) override {
    STRIA_ASSERT(are_well_addressed(outgoing, 1), outgoing.size());
    return outgoing;
  }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override {
    STRIA_ASSIGN_OR_RETURN(PrivateMemory memory, PrivateMemory::allocate(wanted.bytes));
    return std::shared_ptr<SharedBuffer>(std::make_shared<SelfMemory>(std::move(memory)));
  }

  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    STRIA_ASSERT(to == 0, to, tag);
    Mailbox& mailbox = mailboxes_[tag];
    mailbox.messages.emplace_back(data.begin(), data.end());
    mailbox.match();
    return std::make_unique<SelfRequest>(std::make_shared<bool>(true));
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    STRIA_ASSERT(from == 0, from, tag);
    auto done = std::make_shared<bool>(false);
    Mailbox& mailbox = mailboxes_[tag];
    mailbox.receives.push_back({data, done});
    mailbox.match();
    return std::make_unique<SelfRequest>(done);
  }
  void wait(CommRequest& request) override {
    for (int attempt = 0; !request.test(); ++attempt) {
      pause(attempt);
    }
  }
  void pause(int attempt) override { polite_pause(attempt); }

 private:
  static constexpr int kNode = 0;
  std::map<int, Mailbox> mailboxes_;
};

}  // namespace

std::unique_ptr<Comm> make_self_comm() {
  return std::make_unique<SelfComm>();
}

}  // namespace stria
