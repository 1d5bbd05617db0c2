// Parts that are used once are read and written by system calls, and mapped where they are used for
// longer; neither way loses a byte or a sum.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/objects/blocks/block_sums.hpp"
#include "server/objects/one_object_test.hpp"
#include "support/rounds.hpp"

namespace stria::server {
namespace {

class ObjectMappingTest : public testing::OneObjectTest {
 protected:
  /// Makes the content that the part is to have.
  void make_content(int64_t bytes, int round) {
    content_.resize(static_cast<size_t>(bytes));
    std::mt19937_64 random(static_cast<uint64_t>(round));
    for (std::byte& byte : content_) {
      byte = static_cast<std::byte>(random() >> 30);
    }
  }
  /// Writes these bytes of the content.
  void write(ByteRange range) {
    const PieceRow row{range.begin, range.size(), 0, 1};
    STRIA_EXPECT_OK(object_->write({&row, 1}, content_.data() + range.begin));
  }
  /// What is read is the content, and fits the sums.
  void check_all() {
    std::vector<std::byte> bytes(content_.size());
    const PieceRow whole{0, static_cast<int64_t>(bytes.size()), 0, 1};
    STRIA_EXPECT_OK(object_->read({&whole, 1}, bytes.data()));
    EXPECT_TRUE(bytes == content_);
    EXPECT_EQ(object_->bytes(), static_cast<int64_t>(content_.size()));
    wire::Scrubbed part;
    while (!part.done) {
      part = object_->scrub({kFile, {}, part.next_block, false}).value();
      EXPECT_TRUE(part.bad.empty());
    }
  }
  /// Returns how many of the part's two files this process has mapped.
  int mapped_files() const {
    std::ifstream file("/proc/self/maps");
    const std::string maps((std::istreambuf_iterator<char>(file)), {});
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data())) {
      count += entry.is_regular_file() && maps.find(entry.path().string() + "\n") != std::string::npos ? 1 : 0;
    }
    return count;
  }

  std::vector<std::byte> content_;
};

TEST_F(ObjectMappingTest, APartThatIsUsedOnceIsNotMapped) {
  make_content(5000, 1);
  write({0, 5000});
  EXPECT_EQ(mapped_files(), 0);
  check_all();
  open();
  check_all();
  EXPECT_EQ(mapped_files(), 0);
  for (int64_t i = 0; i < 20; ++i) {
    content_[static_cast<size_t>(i) * 200] ^= std::byte{1};
    write({i * 200, i * 200 + 1});
  }
  EXPECT_EQ(mapped_files(), 2);
  check_all();
  open();
  check_all();
}

// The sums of some blocks come by calls, those of others when they have been mapped for a shorter
// part.
TEST_F(ObjectMappingTest, WritersOfANewPartLeaveOneAnothersSums) {
  constexpr int64_t kWriters = 4;
  constexpr int64_t kBlocksOfEach = 12;
  for (int round = 0; round < rounds(20); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    STRIA_EXPECT_OK(object_->resize(0));
    open();
    make_content(kWriters * kBlocksOfEach * kBlockBytes, round);
    std::vector<std::thread> writers;
    for (int64_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([this, writer] {
        for (int64_t i = 0; i < kBlocksOfEach; ++i) {
          const int64_t block = (writer % 2 == 0 ? i : kBlocksOfEach - 1 - i) * kWriters + writer;
          const int64_t middle = block * kBlockBytes + kBlockBytes / 2;
          write({block * kBlockBytes, middle});
          write({middle, (block + 1) * kBlockBytes});
        }
      });
    }
    for (std::thread& writer : writers) {
      writer.join();
    }
    check_all();
    open();
    check_all();
  }
}

// Room for the sums of a far block is left to calls; before they come, others map what is there.
TEST_F(ObjectMappingTest, SumsBehindWhatIsMappedGetTheirRoom) {
  constexpr uint64_t kRun = 7;
  constexpr int64_t kFar = 199;
  const std::string path = directory_ + "/alone.sums";
  const BlockSum stored{11, 12};
  BlockSum loaded;
  {
    const auto sums = BlockSums::open(path, kRun, 0).value();
    EXPECT_TRUE(sums->is_new());
    STRIA_EXPECT_OK(sums->reserve(kFar + 1));
    for (int i = 0; i < 20; ++i) {
      STRIA_EXPECT_OK(sums->store(0, {&stored, 1}));
      STRIA_EXPECT_OK(sums->load(0, {&loaded, 1}));
      EXPECT_EQ(loaded.next, stored.next);
    }
    EXPECT_TRUE(sums->in_place(0, [](const BlockSum&) {})) << "it is mapped";
    EXPECT_FALSE(sums->in_place(kFar, [](const BlockSum&) {}));
    STRIA_EXPECT_OK(sums->store(kFar, {&stored, 1}));
    STRIA_EXPECT_OK(sums->load(kFar, {&loaded, 1}));
    EXPECT_EQ(loaded.now, stored.now);
  }
  const auto again = BlockSums::open(path, kRun, (kFar + 1) * kBlockBytes).value();
  EXPECT_FALSE(again->is_new());
  STRIA_EXPECT_OK(again->load(kFar, {&loaded, 1}));
  EXPECT_EQ(loaded.next, stored.next);
  STRIA_EXPECT_OK(again->load(kFar - 1, {&loaded, 1}));
  EXPECT_EQ(loaded.next, 0U) << "a hole";
}

}  // namespace
}  // namespace stria::server
