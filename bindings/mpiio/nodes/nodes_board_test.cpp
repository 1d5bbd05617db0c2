// Boards and shared pointers of several nodes. Each thread is a rank and asks a server through a
// network that loses, repeats and delays datagrams.
#include "mpiio/nodes/nodes_board.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "access/failing_new_test.hpp"
#include "comm/pause.hpp"
#include "mpiio/nodes/nodes_client.hpp"

namespace stria::mpiio {
namespace {

constexpr int64_t kOperations = 1000;

SocketAddress loopback() {
  SocketAddress found;
  for (const SocketAddress& address : own_addresses()) {
    found = address.text().starts_with("127.") ? address : found;
  }
  return found;
}

/// Stands between one rank and the server, and behaves like a bad network.
class BadNetwork {
 public:
  BadNetwork(const SocketAddress& server, unsigned seed)
      : random_(seed),
        near_(std::move(*DatagramSocket::bound_to(loopback()))),
        far_(std::move(*DatagramSocket::connected_to(server))),
        thread_([this] { work(); }) {}
  ~BadNetwork() {
    ending_ = true;
    thread_.join();
  }
  BadNetwork(const BadNetwork&) = delete;
  BadNetwork& operator=(const BadNetwork&) = delete;
  SocketAddress address() const { return near_.address(); }

 private:
  // One of sixteen datagrams is lost, one comes twice, and one comes after the next.
  template <typename Send>
  void pass(const NodesMessage& message, std::optional<NodesMessage>& late, Send send) {
    switch (random_() % 16) {
      case 0:
        break;
      case 1:
        send(message);
        send(message);
        break;
      case 2:
        if (!late) {
          late = message;
          break;
        }
        [[fallthrough]];
      default:
        send(message);
        if (late) {
          send(*late);
          late.reset();
        }
    }
  }

  // It allocates nothing: tests count allocations of the whole process, and have them fail.
  void work() {
    std::optional<NodesMessage> late_there;
    std::optional<NodesMessage> late_back;
    while (!ending_) {
      bool idle = true;
      while (const auto question = near_.receive(&client_)) {
        pass(*question, late_there, [&](const NodesMessage& message) { far_.send(message, nullptr); });
        idle = false;
      }
      while (const auto answer = far_.receive(nullptr)) {
        pass(*answer, late_back, [&](const NodesMessage& message) { near_.send(message, &client_); });
        idle = false;
      }
      polite_pause(idle ? 500 : 0);
    }
  }

  std::minstd_rand random_;
  DatagramSocket near_, far_;
  SocketAddress client_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

/// A channel with one rank per node; rank 0's process is this one.
class NodesTest : public testing::Test {
 protected:
  static constexpr int kRanks = 4;

  NodesTest() : place_(NodesServer::instance().add(std::make_unique<NodesLedger>(pointers_, 2, kRanks))) {
    for (unsigned rank = 0; rank < kRanks; ++rank) {
      networks_.push_back(std::make_unique<BadNetwork>(own_address(), rank + 1));
    }
  }
  ~NodesTest() override { NodesServer::instance().forget(place_.token); }

  SocketAddress own_address() const { return place_.addresses[0]; }
  NodesPlace place_of(int rank) const {
    NodesPlace place = place_;
    place.address_count = 1;
    place.addresses[0] = networks_[static_cast<size_t>(rank)]->address();
    return place;
  }

  /// Runs `body(rank)` in a thread each.
  template <typename Body>
  static void on_all_ranks(Body body) {
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([=] { body(rank); });
    }
    for (std::thread& rank : ranks) {
      rank.join();
    }
  }

  std::atomic<int64_t> pointers_[2]{};
  NodesPlace place_;
  std::vector<std::unique_ptr<BadNetwork>> networks_;
};

int complete(NodesBoard& board, int64_t number) {
  int error_class = -1;
  for (int attempt = 0; !board.complete(number, error_class); ++attempt) {
    polite_pause(attempt);
  }
  return error_class;
}

// Returns how an operation ended on a node. One in eight fails, with another error on each node.
int outcome_of(int rank, int64_t number) {
  std::minstd_rand random(static_cast<unsigned>(number * 64 + rank + 1));
  random.discard(3);
  return random() % 8 == 0 ? 20 + rank : MPI_SUCCESS;
}

bool is_right(int error_class, int64_t number, int ranks) {
  bool some = false;
  for (int rank = 0; rank < ranks; ++rank) {
    const int outcome = outcome_of(rank, number);
    some = some || outcome != MPI_SUCCESS;
    if (outcome != MPI_SUCCESS && outcome == error_class) {
      return true;
    }
  }
  return !some && error_class == MPI_SUCCESS;
}

TEST_F(NodesTest, AddsEachOnce) {
  constexpr int kAdditions = 50;
  std::vector<std::atomic<int>> seen(kRanks * kAdditions);
  on_all_ranks([&](int rank) {
    NodesClient client(place_of(rank), rank);
    for (int i = 0; i < kAdditions; ++i) {
      const int64_t before = client.ask(NodesMessage::Kind::kAdd, {1, 10}).values[0];
      ++seen.at(static_cast<size_t>(before / 10));
    }
  });
  EXPECT_EQ(pointers_[0], 0);
  EXPECT_EQ(pointers_[1], 10 * kRanks * kAdditions);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; }));
}

TEST_F(NodesTest, TellsOfEveryFailureElsewhere) {
  on_all_ranks([&](int rank) {
    NodesBoard board(place_of(rank), rank, rank);
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<int64_t> numbers(10);
    int64_t asked = 0;
    for (int64_t first = 0; first < kOperations; first += 10) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = first + static_cast<int64_t>(i);
      }
      std::shuffle(numbers.begin(), numbers.end(), random);
      for (const int64_t number : numbers) {
        board.publish(number, outcome_of(rank, number));
      }
      for (int error_class = 0; asked < first && random() % 4 != 0 && board.complete(asked, error_class); ++asked) {
        EXPECT_TRUE(is_right(error_class, asked, kRanks)) << "operation " << asked << ": " << error_class;
      }
    }
    for (; asked < kOperations; ++asked) {
      const int error_class = complete(board, asked);
      EXPECT_TRUE(is_right(error_class, asked, kRanks)) << "operation " << asked << ": " << error_class;
    }
  });
}

// Ranks that aren't the first of their node report nothing, but hear the same.
TEST_F(NodesTest, TellsRanksThatDontReport) {
  const int64_t count = 20;
  on_all_ranks([&](int rank) {
    NodesBoard board(place_of(rank), rank, rank);
    NodesBoard neighbour(place_, kRanks + rank, -1);
    for (int64_t number = 0; number < count; ++number) {
      board.publish(number, MPI_ERR_IO);
      EXPECT_EQ(complete(board, number), MPI_ERR_IO);
      EXPECT_EQ(complete(neighbour, number), MPI_ERR_IO);
    }
  });
}

TEST_F(NodesTest, WaitsForTheLastNode) {
  std::atomic<int> published{0};
  on_all_ranks([&](int rank) {
    NodesBoard board(place_of(rank), rank, rank);
    int error_class = -1;
    if (rank + 1 < kRanks) {
      board.publish(0, MPI_SUCCESS);
      EXPECT_FALSE(board.complete(0, error_class));
      ++published;  // after the last look: then the last node publishes
    } else {
      for (int attempt = 0; published < kRanks - 1; ++attempt) {
        EXPECT_FALSE(board.complete(0, error_class));
        polite_pause(attempt);
      }
      board.publish(0, MPI_ERR_NO_SPACE);
    }
    EXPECT_EQ(complete(board, 0), MPI_ERR_NO_SPACE);
  });
}

// Calls again after a lack of memory, as the thread in the background does.
template <typename Call>
auto persist(const Call& call) {
  while (true) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

// Each allocation fails once, here and in the server's thread.
TEST_F(NodesTest, TellsAlthoughMemoryRunsOut) {
  constexpr int64_t kFew = 3;
  int64_t allocations = 1;
  for (int64_t failing = 0; failing < allocations; ++failing) {
    NodesServer::instance().forget(place_.token);
    place_ = NodesServer::instance().add(std::make_unique<NodesLedger>(pointers_, 2, 2));
    NodesBoard first(place_, 0, 0);
    NodesBoard second(place_, 1, 1);
    access::test::fail_allocation(failing);
    const access::test::Counting on(true);
    for (int64_t number = kFew; number-- > 0;) {
      persist([&] { first.publish(number, MPI_SUCCESS); });
      persist([&] { second.publish(number, number == 1 ? MPI_ERR_NO_SPACE : MPI_SUCCESS); });
    }
    for (NodesBoard* const board : {&first, &second}) {
      for (int64_t number = 0; number < kFew; ++number) {
        const int error_class = persist([&] { return complete(*board, number); });
        EXPECT_EQ(error_class, number == 1 ? MPI_ERR_NO_SPACE : MPI_SUCCESS) << "allocation " << failing;
      }
    }
    allocations = access::test::allocation_count();
  }
  access::test::fail_allocation(-1);
  EXPECT_GT(allocations, 5);
}

// The answer to a question that was given up comes first, by another address than the first.
TEST_F(NodesTest, ALateAnswerChoosesTheAddress) {
  NodesPlace place = place_;
  const DatagramSocket deaf(std::move(*DatagramSocket::bound_to(loopback())));
  place.address_count = 2;
  place.addresses[0] = deaf.address();
  place.addresses[1] = own_address();
  NodesClient client(place, 1);
  client.start(NodesMessage::Kind::kHello, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the answer comes
  EXPECT_TRUE(client.greet(std::chrono::seconds(20)).ok());
}

TEST_F(NodesTest, GreetsAtAnyAddress) {
  NodesPlace place = place_of(1);
  const DatagramSocket deaf(std::move(*DatagramSocket::bound_to(loopback())));
  place.address_count = 3;
  place.addresses[2] = place.addresses[0];
  place.addresses[0] = deaf.address();
  place.addresses[1] = SocketAddress();  // no address at all
  NodesClient client(place, 1);
  EXPECT_TRUE(client.greet(std::chrono::seconds(20)).ok());
}

TEST_F(NodesTest, SaysWhereItLookedInVain) {
  NodesPlace place = place_of(1);
  const DatagramSocket deaf(std::move(*DatagramSocket::bound_to(loopback())));
  place.addresses[0] = deaf.address();
  NodesClient client(place, 1);
  const Status status = client.greet(std::chrono::milliseconds(50));
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find(deaf.address().text()), std::string::npos) << status.message();
  place.address_count = 0;
  EXPECT_FALSE(NodesClient(place, 1).greet(std::chrono::milliseconds(50)).ok());
}

TEST_F(NodesTest, IsDeafToStrangers) {
  NodesPlace place = place_of(1);
  place.token.words[1] ^= 1;
  EXPECT_FALSE(NodesClient(place, 1).greet(std::chrono::milliseconds(300)).ok());
  NodesLedger ledger(pointers_, 2, 1);
  EXPECT_FALSE(ledger.add(0, 1, 2, 5));
  EXPECT_FALSE(ledger.add(0, 1, -1, 5));
  NodesReport report;
  report.node = 1;
  report.finished = 5;
  EXPECT_FALSE(ledger.take(report));
}

}  // namespace
}  // namespace stria::mpiio
