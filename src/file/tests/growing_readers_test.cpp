// A process adds to a file as fast as it can, while this one opens, reads and verifies it. Whatever
// it meets is a whole file, old or new.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace stria {
namespace {

constexpr int kCommits = 300;
constexpr int64_t kColumns = 40;

std::vector<double> row_values(int64_t row) {
  std::vector<double> values;
  for (int64_t column = 0; column < kColumns; ++column) {
    values.push_back(static_cast<double>(1000 * row + column));
  }
  return values;
}

void append_row(const std::string& path, int64_t row) {
  const std::vector<double> values = row_values(row);
  File file = File::append(path, {.sync = false});
  file.append_rows("x", 1, Memory(values.data(), kColumns));
  file.commit();
}

class GrowingReaders : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    File file = File::create(path_, {.sync = false, .format = GetParam()});
    file.create_dataset("x", ElementType::kFloat64, {kUnlimited, kColumns});
    file.commit();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Returns how many rows there were.
  int64_t look(int64_t least_rows) {
    File file = File::open(path_, {.verify = true});
    EXPECT_TRUE(file.verify().empty());
    const int64_t rows = file.dataset("x").dims()[0];
    EXPECT_GE(rows, least_rows);
    if (rows > 0) {
      const auto values = file.read<double>("x");
      EXPECT_EQ(std::vector<double>(values.end() - kColumns, values.end()), row_values(rows - 1));
    }
    return rows;
  }

  std::string path_ = testing::TempDir() + "/stria_growing_readers." + std::to_string(getpid());
};

TEST_P(GrowingReaders, SeeAWholeFile) {
  const pid_t writer = fork();
  if (writer == 0) {
    try {
      for (int64_t row = 0; row < kCommits; ++row) {
        append_row(path_, row);
      }
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the writer: %s\n", error.what());
      _exit(1);
    }
  }
  int outcome = 0;
  int looks = 0;
  int failures = 0;
  int64_t rows = 0;
  while (waitpid(writer, &outcome, WNOHANG) == 0) {
    ++looks;
    try {
      rows = look(rows);
    } catch (const Error& error) {
      ++failures;
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(look(rows), kCommits);
  EXPECT_EQ(failures, 0) << "of " << looks;
}

INSTANTIATE_TEST_SUITE_P(Formats, GrowingReaders, ::testing::Values(Format::kHdf5, Format::kNetcdf),
                         [](const auto& format) { return format.param == Format::kHdf5 ? "Hdf5" : "Netcdf"; });

}  // namespace
}  // namespace stria
