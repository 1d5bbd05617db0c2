// Ranks that are a node each, whose threads publish operations in random order while the ranks ask for them.
#include "nodes_board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <random>
#include <thread>

#include "comm/pause.hpp"

namespace stria::mpiio {
namespace {

constexpr int64_t kOperations = 300;

/// A board of all ranks, in a window of their own.
class NodesBoardTest : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count_);
    NodesBoard::Exposed* exposed = nullptr;
    MPI_Win_allocate(sizeof(NodesBoard::Exposed), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    new (exposed) NodesBoard::Exposed();
    MPI_Win_sync(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> others;
    for (int rank = 0; rank < rank_count_; ++rank) {
      if (rank != rank_) {
        others.push_back(rank);
      }
    }
    board_ = std::make_unique<NodesBoard>(window_, 0, exposed, others);
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  int complete(int64_t number) {
    int error_class = -1;
    for (int attempt = 0; !board_->complete(number, error_class); ++attempt) {
      polite_pause(attempt);
    }
    return error_class;
  }

  int rank_ = 0;
  int rank_count_ = 1;
  MPI_Win window_ = MPI_WIN_NULL;
  std::unique_ptr<NodesBoard> board_;
};

// How an operation ended on a node: one in eight fails, each node in its way.
int outcome_of(int rank, int64_t number) {
  std::minstd_rand random(static_cast<unsigned>(number * 64 + rank + 1));
  random.discard(3);
  return random() % 8 == 0 ? 20 + rank : MPI_SUCCESS;
}

TEST_F(NodesBoardTest, TellsOfEveryFailureElsewhere) {
  std::thread publisher([&] {
    std::mt19937 random(static_cast<unsigned>(rank_));
    std::vector<int64_t> numbers;
    for (int64_t first = 0; first < kOperations; first += 10) {
      numbers.clear();
      for (int64_t i = 0; i < 10; ++i) {
        numbers.push_back(first + i);
      }
      std::shuffle(numbers.begin(), numbers.end(), random);
      for (const int64_t number : numbers) {
        board_->publish(number, outcome_of(rank_, number));
        polite_pause(random() % 2 == 0 ? 0 : 400);
      }
    }
  });
  int failures = 0;
  for (int64_t number = 0; number < kOperations; ++number) {
    std::vector<int> wanted;
    for (int rank = 0; rank < rank_count_; ++rank) {
      if (rank != rank_ && outcome_of(rank, number) != MPI_SUCCESS) {
        wanted.push_back(outcome_of(rank, number));
      }
    }
    const int error_class = complete(number);
    const bool told = std::find(wanted.begin(), wanted.end(), error_class) != wanted.end();
    EXPECT_TRUE(wanted.empty() ? error_class == MPI_SUCCESS : told) << "operation " << number << ": " << error_class;
    failures += wanted.empty() ? 0 : 1;
  }
  publisher.join();
  EXPECT_TRUE(rank_count_ == 1 || failures > kOperations / 20);
}

TEST_F(NodesBoardTest, NeverTakesAForgottenFailureForASuccess) {
  for (int64_t number = 0; number < kOperations; ++number) {
    board_->publish(number, 20 + rank_);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int64_t number = 0; number < kOperations; ++number) {
    const int error_class = complete(number);
    EXPECT_TRUE(rank_count_ == 1 || error_class == MPI_ERR_IO || error_class >= 20)
        << "operation " << number << ": " << error_class;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  board_->publish(kOperations, MPI_SUCCESS);
  EXPECT_EQ(complete(kOperations), MPI_SUCCESS);
}

}  // namespace
}  // namespace stria::mpiio
