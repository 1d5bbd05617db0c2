// A rank leaves a file: something threw, it returned early, or there is no reason. The others'
// next collective call says so soon, nothing of the file stays, and the next file
// is not affected.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "comm/mpi/mpi_comm.hpp"
#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

constexpr double kBoundSeconds = 10;  // a hundred times what an idle machine takes

class Leaving : public test::NodesTest {
 protected:
  Dataset define(File& file) const { return file.create_dataset("dens", ElementType::kFloat64, {4 * ranks_}); }
  void put(Dataset dataset) {
    numbers_.assign(4, rank_);
    dataset.put({{4 * rank_}, {4}}, Memory(numbers_.data(), 4));
  }
  void write(const std::string& name) {
    File file = File::create(comm_, path(name));
    put(define(file));
    file.commit();
  }

  /// Returns what the call says, which is soon.
  std::string outcome(const std::function<void()>& call) const {
    const auto begin = std::chrono::steady_clock::now();
    std::string text;
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
      text = error.what();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(taken.count(), kBoundSeconds);
    return text;
  }
  void expect_left(const std::function<void()>& call, int rank, const std::string& reason) const {
    const std::string text = outcome(call);
    EXPECT_NE(text.find("rank " + std::to_string(rank) + " "), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
  }
  /// The partial file goes when rank 0 hears, and the old file is whole.
  void expect_only_the_old_file() {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(names(), std::vector<std::string>{"run.h5"});
    File file = File::open(comm_, path());
    std::vector<double> all(static_cast<size_t>(4 * ranks_));
    file.dataset("dens").get({{0}, {4 * ranks_}}, Memory(all.data(), 4 * ranks_));
    file.commit();
    EXPECT_EQ(all.back(), ranks_ - 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<double> numbers_;
};

TEST_P(Leaving, APutThatThrowsTellsTheOthers) {
  write("run.h5");
  for (int odd = 0; odd < ranks_; ++odd) {
    for (int flushes = 0; flushes < 3; ++flushes) {
      try {
        File file = File::create(comm_, path());
        Dataset dataset = define(file);
        for (int i = 0; i < flushes; ++i) {
          file.flush();
        }
        if (rank_ == odd) {
          dataset.put({{4 * ranks_}, {4}}, Memory(numbers_.data(), 4));
        }
        put(dataset);
        expect_left([&] { flushes == 1 ? file.flush() : file.commit(); }, odd, "passes the end at");
        EXPECT_NE(test::rank_of_world(), odd) << "put did not throw";
      } catch (const Error& error) {
        EXPECT_EQ(rank_, odd) << error.what();
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      }
      expect_only_the_old_file();
    }
  }
}

TEST_P(Leaving, ARankThatReturnsEarlyOrThrowsForItsOwnReasonsTellsTheOthers) {
  write("run.h5");
  for (int odd = 0; odd < ranks_; ++odd) {
    for (const bool throws : {false, true}) {
      std::optional<Dataset> kept;  // It must not keep the news.
      try {
        File file = File::create(comm_, path());
        kept = define(file);
        put(*kept);
        file.flush();
        if (rank_ != odd) {
          expect_left([&] { throws ? file.abandon() : file.commit(); }, odd, "gave the file up");
        } else if (throws) {
          throw std::runtime_error("of the program's own");
        }
      } catch (const std::runtime_error&) {
        EXPECT_EQ(rank_, odd);
      }
      EXPECT_THROW(kept->put({{0}, {4}}, Memory(numbers_.data(), 4)), Error);
      expect_only_the_old_file();
    }
  }
}

TEST_P(Leaving, AGetThatThrowsTellsTheOthers) {
  write("run.h5");
  const std::function<void(File&)> calls[] = {
      [](File& file) { file.commit(); },
      [](File& file) { file.verify(); },
      [](File& file) { static_cast<void>(file.read_strings("dens")); },
      [](File& file) { static_cast<void>(file.attribute("/", "none")); },
      [](File& file) {
        std::vector<Column> columns;
        int64_t row_bytes = 0;
        static_cast<void>(file.read_table("dens", &columns, &row_bytes));
      },
      [](File& file) { file.abandon(); },
  };
  for (int odd = 0; odd < ranks_; ++odd) {
    for (const auto& call : calls) {
      try {
        File file = File::open(comm_, path());
        std::vector<double> all(static_cast<size_t>(4 * ranks_));
        file.dataset("dens").get({{rank_ == odd ? 1 : 0}, {4 * ranks_}}, Memory(all.data(), 4 * ranks_));
        expect_left([&] { call(file); }, odd, "passes the end at");
        expect_left([&] { file.commit(); }, odd, "passes the end at");
      } catch (const Error& error) {
        EXPECT_EQ(rank_, odd) << error.what();
      }
    }
  }
  expect_only_the_old_file();
}

TEST_P(Leaving, SeveralMayLeaveAndInAnyOrder) {
  write("run.h5");
  for (int turn = 0; turn < 2 * ranks_; ++turn) {
    std::optional<File> first(File::create(comm_, path("first.h5"))), second(File::open(comm_, path()));
    File third = File::create(comm_, path("third.h5"));
    if ((rank_ + turn) % 2 == 0) {
      first.reset();
      second.reset();
    } else {
      second.reset();
      first.reset();
    }
    put(define(third));
    if ((rank_ + turn) % ranks_ >= 2) {
      EXPECT_NE(outcome([&] { third.commit(); }), "");
    }
  }
  expect_only_the_old_file();
}

TEST_P(Leaving, DifferentCallsAreAnErrorOnAll) {
  File file = File::create(comm_, path());
  put(define(file));
  const std::string text = test::error_of([&] { rank_ == 0 ? file.commit() : file.flush(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("rank 0 called commit() and rank 1 called flush()"), std::string::npos) << text;
  EXPECT_TRUE(names().empty());
}

// The news needs nothing more of a rank that computes, where its processor can't be
// taken away either. It computes until all others have heard, or may no longer hear in time.
TEST_P(Leaving, ARankThatComputesOnTellsTheOthersAtOnce) {
  write("run.h5");
  for (const int odd : {0, ranks_ - 1}) {
    const std::string heard = path("heard_" + std::to_string(odd) + "_");
    try {
      File file = File::create(comm_, path());
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == odd) {
        define(file).put({{4 * ranks_}, {4}}, Memory(numbers_.data(), 4));
      }
      put(define(file));
      expect_left([&] { file.commit(); }, odd, "passes the end at");
      std::ofstream(heard + std::to_string(rank_));
    } catch (const Error&) {
      EXPECT_EQ(rank_, odd);
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(1.3 * kBoundSeconds);
      for (int other = 0; other < ranks_ && std::chrono::steady_clock::now() < end;) {
        if (other == odd || std::filesystem::remove(heard + std::to_string(other))) {
          ++other;
        } else {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }
    }
    expect_only_the_old_file();
  }
}

// Each rank has another order, as an exception or a garbage collector makes it.
TEST_P(Leaving, CommunicatorsGoInAnyOrder) {
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Comm comms[2];
    std::optional<File> files[2];
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_dup(comm_, &comms[i]);
      files[i] = File::create(comms[i], path(std::to_string(i)));
      MPI_Comm_free(&comms[i]);
    }
    const size_t first = static_cast<size_t>(rank_ + turn) % 2;
    files[first].reset();
    files[1 - first].reset();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(names().empty());
}

INSTANTIATE_TEST_SUITE_P(Nodes, Leaving, testing::Values("0", "1", "2"));

}  // namespace
}  // namespace stria
