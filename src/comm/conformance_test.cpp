#include "comm/conformance_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace stria::testing {

namespace {

using Bytes = std::vector<std::byte>;

/// Returns the bytes that rank `from` sends in conversation `topic`. Any mistake of place, length
/// or sender shows in them.
Bytes pattern(int64_t bytes, int from, uint64_t topic) {
  Bytes data(static_cast<size_t>(bytes));
  std::mt19937_64 random(topic * 1000003 + static_cast<uint64_t>(from));
  for (size_t i = 0; i < data.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(data.data() + i, &word, std::min(sizeof word, data.size() - i));
  }
  return data;
}

struct Check {
  Comm& comm;
  const CommConformance& options;
  std::mt19937_64 random;  ///< the same on all ranks
  uint64_t topic = 0;      ///< number of the last conversation; the same on all ranks

  int64_t random_bytes() {
    static constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 63, 64, 65, 1000, 4095, 4096, 4097, 65537};
    const size_t choice = random() % (std::size(kSizes) + 1);
    return choice < std::size(kSizes) ? kSizes[choice] : static_cast<int64_t>(random() % 100000);
  }
  int random_rank() { return static_cast<int>(random() % static_cast<uint64_t>(comm.size())); }
};

void check_identity(Check& check) {
  Comm& comm = check.comm;
  ASSERT_GE(comm.rank(), 0);
  ASSERT_LT(comm.rank(), comm.size());
  const std::span<const int> nodes = comm.node_of_rank();
  ASSERT_EQ(static_cast<int>(nodes.size()), comm.size());
  int highest = -1;
  int peers_before = 0;
  int peers = 0;
  const int my_node = nodes[static_cast<size_t>(comm.rank())];
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int node = nodes[static_cast<size_t>(rank)];
    EXPECT_LE(node, highest + 1) << "nodes are numbered in order of their lowest rank";
    highest = std::max(highest, node);
    peers += node == my_node ? 1 : 0;
    peers_before += node == my_node && rank < comm.rank() ? 1 : 0;
  }
  EXPECT_EQ(comm.node_size(), peers);
  EXPECT_EQ(comm.node_rank(), peers_before);
}

void check_broadcast(Check& check, int64_t bytes, int root) {
  const uint64_t topic = ++check.topic;
  const Bytes expected = pattern(bytes, root, topic);
  Bytes data = check.comm.rank() == root ? expected : Bytes(expected.size(), std::byte{0x55});
  check.comm.broadcast(data, root);
  EXPECT_TRUE(data == expected) << "broadcast of " << bytes << " from " << root;
  Bytes vector = check.comm.rank() == root ? expected : pattern(3, 0, 1);
  broadcast_bytes(check.comm, vector, root);
  EXPECT_TRUE(vector == expected) << "broadcast_bytes of " << bytes << " from " << root;
}

void check_reductions(Check& check, size_t count) {
  Comm& comm = check.comm;
  const auto value = [&](int rank, size_t i) {
    return static_cast<int64_t>((static_cast<size_t>(rank) * 7919 + i * 31) % 1009) - 500;
  };
  std::vector<int64_t> sum(count, 0), least(count, INT64_MAX), most(count, INT64_MIN), before(count, 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    for (size_t i = 0; i < count; ++i) {
      sum[i] += value(rank, i);
      before[i] += rank < comm.rank() ? value(rank, i) : 0;
      least[i] = std::min(least[i], value(rank, i));
      most[i] = std::max(most[i], value(rank, i));
    }
  }
  std::vector<int64_t> mine(count);
  for (size_t i = 0; i < count; ++i) {
    mine[i] = value(comm.rank(), i);
  }
  const std::pair<ReduceOp, const std::vector<int64_t>*> cases[] = {
      {ReduceOp::kSum, &sum}, {ReduceOp::kMin, &least}, {ReduceOp::kMax, &most}};
  for (const auto& [op, expected] : cases) {
    std::vector<int64_t> values = mine;
    comm.all_reduce(values, op);
    EXPECT_EQ(values, *expected) << count << " integers, operation " << static_cast<int>(op);
  }
  std::vector<int64_t> scanned = mine;
  comm.exclusive_scan(scanned);
  EXPECT_EQ(scanned, before) << "exclusive_scan of " << count;
}

void check_all_gather(Check& check, int64_t bytes) {
  Comm& comm = check.comm;
  const uint64_t topic = ++check.topic;
  const Bytes mine = pattern(bytes, comm.rank(), topic);
  Bytes all(mine.size() * static_cast<size_t>(comm.size()), std::byte{0x55});
  comm.all_gather(mine, all);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Bytes expected = pattern(bytes, rank, topic);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all.begin() + static_cast<int64_t>(expected.size()) * rank))
        << "all_gather of " << bytes << ", part of rank " << rank;
  }
}

void check_gather(Check& check, int64_t bytes, int root) {
  Comm& comm = check.comm;
  const uint64_t topic = ++check.topic;
  const auto piece_bytes = [&](int rank) { return bytes - rank % 3 * (bytes / 2); };
  int taken = 0;
  comm.gather(pattern(piece_bytes(comm.rank()), comm.rank(), topic), root, [&](int rank, std::span<const std::byte> piece) {
    EXPECT_EQ(rank, taken++);
    const Bytes expected = pattern(piece_bytes(rank), rank, topic);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), piece.begin(), piece.end())) << "gather, piece of rank " << rank;
  });
  EXPECT_EQ(taken, comm.rank() == root ? comm.size() : 0);
}

/// Every rank draws the same random messages, sends its own, and receives those that are for it.
/// There are several tags, several messages under way, and many messages to itself.
void check_messages(Check& check, int count) {
  struct Message {
    int from, to, tag;
    int64_t bytes;
    uint64_t topic;
  };
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i) {
    const int from = check.random_rank();
    messages.push_back({from, check.random_rank(), static_cast<int>(check.random() % 3), check.random_bytes(), ++check.topic});
  }
  Comm& comm = check.comm;
  std::vector<Bytes> sent(messages.size()), received(messages.size());
  std::vector<std::unique_ptr<CommRequest>> requests;
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.to == comm.rank()) {
      received[i].resize(static_cast<size_t>(message.bytes), std::byte{0x55});
      requests.push_back(comm.receive(received[i], message.from, message.tag));
    }
    if (message.from == comm.rank()) {
      sent[i] = pattern(message.bytes, message.from, message.topic);
      requests.push_back(comm.send(sent[i], message.to, message.tag));
    }
  }
  // The rank polls half of them and waits for the others, in an order of its own.
  std::mt19937_64 own(check.options.seed + static_cast<uint64_t>(comm.rank()));
  std::shuffle(requests.begin(), requests.end(), own);
  for (size_t i = 0; i < requests.size(); ++i) {
    for (int attempt = 0; i % 2 == 0 && !requests[i]->test(); ++attempt) {
      comm.pause(attempt);
    }
    comm.wait(*requests[i]);
    EXPECT_TRUE(requests[i]->test());
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].to == comm.rank()) {
      EXPECT_TRUE(received[i] == pattern(messages[i].bytes, messages[i].from, messages[i].topic))
          << "message " << i << " from " << messages[i].from << " tag " << messages[i].tag << " bytes " << messages[i].bytes;
    }
  }
}

/// Every rank knows here which ranks send to which, so that it can tell what must arrive. Exchanges
/// follow each other without a pause.
void check_sparse_exchange(Check& check) {
  Comm& comm = check.comm;
  ++check.topic;
  Comm::Messages outgoing;
  Comm::Messages expected;
  for (int from = 0; from < comm.size(); ++from) {
    for (int to = 0; to < comm.size(); ++to) {
      const bool sends = check.random() % 3 == 0;
      const int64_t bytes = check.random_bytes();
      const uint64_t topic = check.topic * 1000 + static_cast<uint64_t>(to);
      if (sends && from == comm.rank()) {
        outgoing.emplace_back(to, pattern(bytes, from, topic));
      }
      if (sends && to == comm.rank()) {
        expected.emplace_back(from, pattern(bytes, from, topic));
      }
    }
  }
  EXPECT_TRUE(comm.sparse_exchange(outgoing) == expected);
}

void check_shared(Check& check, int64_t bytes) {
  Comm& comm = check.comm;
  const uint64_t topic = ++check.topic;
  const auto part_bytes = [&](int node_rank) { return node_rank % 3 == 1 ? 0 : bytes + node_rank; };
  auto shared = comm.allocate_shared(part_bytes(comm.node_rank()));
  ASSERT_TRUE(shared.ok()) << shared.status().message();
  const std::span<std::byte> mine = (*shared)->part(comm.node_rank());
  ASSERT_EQ(static_cast<int64_t>(mine.size()), part_bytes(comm.node_rank()));
  if (!mine.empty()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(mine.data()) % 4096, 0u);
  }
  const Bytes own = pattern(static_cast<int64_t>(mine.size()), comm.node_rank(), topic);
  std::copy(own.begin(), own.end(), mine.begin());
  comm.barrier();
  for (int peer = 0; peer < comm.node_size(); ++peer) {
    const std::span<std::byte> part = (*shared)->part(peer);
    const Bytes expected = pattern(part_bytes(peer), peer, topic);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), expected.begin(), expected.end())) << "shared part of node rank " << peer;
  }
  comm.barrier();
  EXPECT_FALSE(comm.allocate_shared(comm.node_rank() == 0 ? -1 : 8).ok());
}

ErrorReason reason_of(int rank) {
  return ErrorReason{rank + 1};
}

void check_agree(Check& check) {
  Comm& comm = check.comm;
  EXPECT_TRUE(comm.agree(Status()).ok());
  for (const int64_t bytes : {0, 1, 8, 13, 64}) {
    const uint64_t topic = ++check.topic;
    Bytes shared = pattern(bytes, comm.rank(), topic);
    EXPECT_TRUE(comm.agree(Status(), shared).ok());
    EXPECT_TRUE(shared == pattern(bytes, 0, topic)) << bytes << " bytes shared by an agreement";
  }
  const int first = check.random_rank();
  const bool fails = comm.rank() >= first;
  const Status agreed =
      comm.agree(fails ? Status(ErrorCode::kNoSpace, "rank's own words " + std::to_string(comm.rank()), reason_of(comm.rank()))
                       : Status());
  EXPECT_EQ(agreed.code(), ErrorCode::kNoSpace);
  EXPECT_EQ(agreed.reason(), reason_of(first));
  const std::string words = "rank's own words " + std::to_string(first);
  EXPECT_EQ(agreed.message(), comm.size() == 1 ? words : "rank " + std::to_string(first) + ": " + words);
  EXPECT_EQ(comm.agree(agreed).message(), agreed.message()) << "agreed on twice";
  EXPECT_EQ(comm.agree(agreed).reason(), agreed.reason()) << "agreed on twice";
}

/// Answers each question with its bytes, one more each.
class Answering final : public Attendant {
 public:
  static constexpr int kQuestion = 10;
  static constexpr int kAnswer = 11;

  explicit Answering(Comm& comm) : comm_(comm) {}
  void attend() noexcept override {
    Bytes question;
    while (const auto from = comm_.take_message(kQuestion, question)) {
      Bytes& answer = *answers_.emplace_back(std::make_unique<Bytes>(question));
      for (std::byte& byte : answer) {
        byte = static_cast<std::byte>(std::to_integer<int>(byte) + 1);
      }
      sends_.push_back(comm_.send(answer, *from, kAnswer));
    }
  }
  bool is_done() {
    return std::all_of(sends_.begin(), sends_.end(), [](const auto& send) { return send->test(); });
  }
  size_t count() const { return answers_.size(); }

 private:
  Comm& comm_;
  std::vector<std::unique_ptr<Bytes>> answers_;
  std::vector<std::unique_ptr<CommRequest>> sends_;
};

/// Each rank asks the next ones, and answers those before it while it waits: for its own answers,
/// and in a barrier that some ranks reach long before others.
void check_attendant(Check& check, int questions) {
  Comm& comm = check.comm.innermost();
  if (comm.size() == 1) {
    return;
  }
  const auto answering = std::make_shared<Answering>(comm);
  comm.set_attendant(answering);
  for (int i = 0; i < questions; ++i) {
    const int64_t bytes = check.random_bytes();
    const Bytes question = pattern(bytes, comm.rank(), ++check.topic);
    const int asked = (comm.rank() + 1 + i) % comm.size();
    if (comm.rank() % 2 == 1 || asked == comm.rank()) {
      continue;  // these only answer
    }
    const auto sent = comm.send(question, asked, Answering::kQuestion);
    Bytes answer;
    auto from = comm.take_message(Answering::kAnswer, answer);
    for (int attempt = 0; !from; ++attempt) {
      comm.pause(attempt);
      from = comm.take_message(Answering::kAnswer, answer);
    }
    comm.wait(*sent);
    EXPECT_EQ(*from, asked);
    Bytes expected = question;
    for (std::byte& byte : expected) {
      byte = static_cast<std::byte>(std::to_integer<int>(byte) + 1);
    }
    EXPECT_TRUE(answer == expected) << bytes << " bytes";
  }
  comm.barrier();
  for (int attempt = 0; !answering->is_done(); ++attempt) {
    comm.pause(attempt);
  }
  int64_t answered = static_cast<int64_t>(answering->count());
  comm.all_reduce(std::span(&answered, 1), ReduceOp::kSum);
  EXPECT_GT(answered, 0);
  Bytes late;
  EXPECT_FALSE(comm.take_message(Answering::kAnswer, late));
  comm.set_attendant(nullptr);
}

void check_large(Check& check) {
  const int64_t bytes = check.options.large_bytes;
  check_broadcast(check, bytes + 1, check.comm.size() - 1);
  Comm& comm = check.comm;
  const Bytes sent = pattern(bytes, comm.rank(), ++check.topic);
  Bytes received(sent.size());
  const int from = (comm.rank() + comm.size() - 1) % comm.size();
  auto receive = comm.receive(received, from, 5);
  auto send = comm.send(sent, (comm.rank() + 1) % comm.size(), 5);
  comm.wait(*send);
  comm.wait(*receive);
  EXPECT_TRUE(received == pattern(bytes, from, check.topic)) << "large message around the ring";
}

}  // namespace

void check_comm(Comm& comm, const CommConformance& options) {
  SCOPED_TRACE("rank " + std::to_string(comm.rank()) + " of " + std::to_string(comm.size()) + ", seed " +
               std::to_string(options.seed));
  Check check{comm, options, std::mt19937_64(options.seed)};
  check_identity(check);
  comm.barrier();
  for (int round = 0; round < options.rounds; ++round) {
    const int64_t bytes = check.random_bytes();
    check_broadcast(check, bytes, check.random_rank());
    check_reductions(check, static_cast<size_t>(check.random() % 70));
    check_all_gather(check, check.random_bytes() / comm.size());
    check_gather(check, std::min(check.random_bytes(), static_cast<int64_t>(Comm::kGatherBytesMax)), check.random_rank());
    check_messages(check, 5 * comm.size());
    for (int i = 0; i < 4; ++i) {
      check_sparse_exchange(check);
    }
    check_agree(check);
    check_attendant(check, 4);
  }
  check_shared(check, 100000);
  check_shared(check, 0);
  check_large(check);
  comm.barrier();
}

}  // namespace stria::testing
