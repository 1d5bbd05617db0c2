#include "limits/limit_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace stria::flash {
namespace {

class LimitFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("stria_limits_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    path_ = (directory_ / "file").string();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
  std::string path_;
};

/// Makes three ranks with 5, 2 and 3 blocks, run one after the other in this process.
std::vector<Unk> three_ranks(int64_t nxb) {
  std::vector<Unk> ranks;
  for (const auto& [first, local] : {std::pair<int64_t, int64_t>{0, 5}, {5, 2}, {7, 3}}) {
    auto unk = Unk::create({.nxb = nxb, .nvar = 6, .blocks_per_rank = local, .guard_cells = 2}, {local, first, 10});
    EXPECT_TRUE(unk.ok());
    ranks.push_back(std::move(*unk));
  }
  return ranks;
}

// The staging buffer holds two blocks of side 8, so a rank with an odd number of blocks has a
// short last batch.
constexpr int64_t kSmallStagingBytes = 2 * 512 * 6 * 8;

TEST_F(LimitFilesTest, EveryWayWritesEveryRanksValues) {
  for (const int64_t nxb : {5, 8}) {
    const std::vector<Unk> ranks = three_ranks(nxb);
    for (const LimitWay way :
         {LimitWay::kContig, LimitWay::kPackWhole, LimitWay::kPackStaged, LimitWay::kFilePerRank, LimitWay::kDirect}) {
      SCOPED_TRACE(static_cast<int>(way));
      for (const Unk& unk : ranks) {
        LimitFiles limit(unk, kSmallStagingBytes);
        LimitTimes times;
        const Status status = limit.write(way, path_, true, &times);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_GT(times.transfer_s, 0);
      }
      for (const Unk& unk : ranks) {
        EXPECT_EQ(check_file_runs(LimitFiles(unk).runs(way, path_), unk), "");
      }
      std::filesystem::remove_all(directory_);
      std::filesystem::create_directories(directory_);
    }
  }
}

TEST_F(LimitFilesTest, WritesPlotVariablesAsFloat) {
  const std::vector<Unk> ranks = three_ranks(8);
  const std::vector<int64_t> variables = {0, 5, 2};
  for (const Unk& unk : ranks) {
    LimitFiles limit(unk, 2 * 512 * 3 * 4);
    LimitTimes times;
    ASSERT_TRUE(limit.write_plot(variables, path_, false, &times).ok());
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 10u * 512 * 3 * 4);
  for (const Unk& unk : ranks) {
    EXPECT_EQ(check_file_runs(LimitFiles(unk).plot_runs(variables, path_), unk), "");
  }
}

TEST_F(LimitFilesTest, ReadsBackIntoGuardedBlocks) {
  std::vector<Unk> ranks = three_ranks(8);
  for (const Unk& unk : ranks) {
    LimitTimes times;
    ASSERT_TRUE(LimitFiles(unk).write(LimitWay::kPackWhole, path_, false, &times).ok());
  }
  for (Unk& unk : ranks) {
    LimitFiles limit(unk, kSmallStagingBytes);
    unk.poison();
    LimitTimes times;
    ASSERT_TRUE(limit.read(path_, &unk, &times).ok());
    EXPECT_EQ(unk.check_interior(), "");
    EXPECT_EQ(unk.check_guard_cells_untouched(), "");
  }
}

TEST_F(LimitFilesTest, TheCheckFindsAFlippedBit) {
  const std::vector<Unk> ranks = three_ranks(8);
  for (const Unk& unk : ranks) {
    LimitTimes times;
    ASSERT_TRUE(LimitFiles(unk).write(LimitWay::kPackStaged, path_, false, &times).ok());
  }
  const int64_t damaged_byte = (2 * 10 + 6) * 512 * 8 + 100 * 8;  // variable 2, block 6, cell 100
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(damaged_byte);
  const char byte = static_cast<char>(file.get());
  file.seekp(damaged_byte);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  EXPECT_EQ(check_file_runs(LimitFiles(ranks[0]).runs(LimitWay::kPackStaged, path_), ranks[0]), "");
  const std::string wrong = check_file_runs(LimitFiles(ranks[1]).runs(LimitWay::kPackStaged, path_), ranks[1]);
  EXPECT_NE(wrong.find("block 6, variable 2, cell i=4 j=4 k=1"), std::string::npos) << wrong;
}

TEST_F(LimitFilesTest, SaysWhyItCannotWrite) {
  const std::vector<Unk> ranks = three_ranks(5);
  LimitTimes times;
  const Status status = LimitFiles(ranks[0]).write(LimitWay::kContig, path_ + "/no/such", false, &times);
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("No such file"), std::string::npos);
  EXPECT_FALSE(LimitFiles(ranks[0]).read(path_, nullptr, &times).ok());
}

}  // namespace
}  // namespace stria::flash
