// Holds what the tests of the public API share: a directory that all ranks use, and errors that
// must be the same everywhere.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "stria/file.hpp"

namespace stria::test {

inline int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// A directory that all ranks use; removed after the test.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[64] = "";
    if (rank_ == 0) {
      std::strcpy(name, "/tmp/stria_file_test_XXXXXX");
      ASSERT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    directory_ = name;
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      std::filesystem::remove_all(directory_);
    }
  }

  std::string path(const std::string& name = "run.h5") const { return directory_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      found.push_back(entry.path().filename());
    }
    return found;
  }

  /// Returns the rows of this rank of `total`: uneven, the last rank of three or more has none.
  std::pair<int64_t, int64_t> rows(int64_t total) const {
    int64_t sharing = ranks_ > 2 ? ranks_ - 1 : ranks_;
    int64_t first = std::min<int64_t>(rank_, sharing) * total / sharing;
    int64_t last = std::min<int64_t>(rank_ + 1, sharing) * total / sharing;
    return {first, last - first};
  }

  int rank_ = rank_of_world();
  int ranks_ = world_size();
  std::string directory_;
};

/// The same, and a communicator with so many ranks per node; "0": as it is.
class NodesTest : public FileTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    FileTest::SetUp();
    setenv("STRIA_RANKS_PER_NODE", GetParam(), 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  }
  void TearDown() override {
    MPI_Comm_free(&comm_);
    unsetenv("STRIA_RANKS_PER_NODE");
    FileTest::TearDown();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Expects the same error on every rank. Returns its text, or "" when there was none.
template <typename Call>
std::string error_of(Call&& call, ErrorCode code) {
  std::string text;
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    text = error.what();
  }
  int64_t size = static_cast<int64_t>(text.size());
  MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  std::string first = text;
  first.resize(static_cast<size_t>(size));
  MPI_Bcast(first.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(text, first);
  return text;
}

}  // namespace stria::test
