// A file whose small accesses are gathered, beside a vector of bytes.
#include "storage/small/gathered_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/rounds.hpp"

namespace stria::storage {
namespace {

constexpr int64_t kGatheredBytes = 1 << 20;

/// Lies behind the file: a vector that may be full.
struct Disk {
  std::vector<std::byte> bytes;
  int requests = 0;
  bool is_full = false;
};

class DiskFile final : public File {
 public:
  explicit DiskFile(Disk& disk) : disk_(disk) {}
  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const WriteSegment> segments) override {
    ++disk_.requests;
    if (disk_.is_full) {
      return Status(ErrorCode::kNoSpace, "'disk' is full");
    }
    for (const WriteSegment& segment : segments) {
      disk_.bytes.resize(std::max(disk_.bytes.size(), static_cast<size_t>(segment.offset + segment.bytes)));
      std::copy_n(segment.data, segment.bytes, disk_.bytes.begin() + segment.offset);
    }
    return {};
  }
  Result<int64_t> read(std::span<const ReadSegment> segments) override {
    ++disk_.requests;
    int64_t all = 0;
    for (const ReadSegment& segment : segments) {
      const int64_t bytes = std::clamp<int64_t>(static_cast<int64_t>(disk_.bytes.size()) - segment.offset, 0, segment.bytes);
      std::copy_n(disk_.bytes.begin() + (bytes > 0 ? segment.offset : 0), bytes, segment.data);
      all += bytes;
    }
    return all;
  }
  Result<int64_t> size() override { return static_cast<int64_t>(disk_.bytes.size()); }
  Status resize(int64_t bytes) override {
    disk_.bytes.resize(static_cast<size_t>(bytes));
    return {};
  }
  Status preallocate(int64_t) override { return Status(ErrorCode::kUnsupported, "a vector"); }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  Disk& disk_;
  std::string path_ = "disk";
  Capabilities capabilities_{.stripe_bytes = 16 << 10};
};

/// Any access, and what it must give.
class Player {
 public:
  explicit Player(unsigned seed) : random_(seed), file_(gather_small(std::make_unique<DiskFile>(disk_), kGatheredBytes)) {}

  void step() {
    at_ = below(6) == 0 ? below(kFileBytes) : at_;
    switch (below(14)) {
      case 0:
        EXPECT_EQ(file_->size().value(), static_cast<int64_t>(expected_.size()));
        break;
      case 1:
        expected_.resize(static_cast<size_t>(below(kFileBytes)));
        EXPECT_TRUE(file_->resize(static_cast<int64_t>(expected_.size())).ok());
        break;
      case 2:
        EXPECT_TRUE(file_->sync().ok());
        EXPECT_EQ(disk_.bytes, expected_);
        break;
      case 3:
        write({piece(40'000), piece(50)});
        break;
      case 4:
        read(below(100'000));
        break;
      case 5:
      case 6:
      case 7:
        read(1 + below(2000));
        break;
      default:
        write({piece(1 + below(1500))});
    }
  }
  void close() {
    EXPECT_TRUE(file_->close().ok());
    EXPECT_EQ(disk_.bytes, expected_);
  }

 private:
  static constexpr int64_t kFileBytes = 700'000;

  std::vector<std::byte> piece(int64_t bytes) {
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    std::generate(data.begin(), data.end(), [&] { return static_cast<std::byte>(random_()); });
    return data;
  }
  void write(const std::vector<std::vector<std::byte>>& pieces) {
    std::vector<WriteSegment> list;
    for (const auto& data : pieces) {
      const auto bytes = static_cast<int64_t>(data.size());
      list.push_back({at_, data.data(), bytes});
      expected_.resize(std::max(expected_.size(), static_cast<size_t>(at_ + bytes)));
      std::copy(data.begin(), data.end(), expected_.begin() + at_);
      at_ += bytes + below(2) * below(300);
    }
    EXPECT_TRUE(file_->write(list).ok());
  }
  void read(int64_t bytes) {
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    const ReadSegment segment{at_, data.data(), bytes};
    const auto got = file_->read({&segment, 1});
    const int64_t there = std::clamp<int64_t>(static_cast<int64_t>(expected_.size()) - at_, 0, bytes);
    ASSERT_EQ(got.value(), there);
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + there, expected_.begin() + (there > 0 ? at_ : 0)));
    at_ += bytes;
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  std::mt19937_64 random_;
  Disk disk_;
  std::vector<std::byte> expected_;
  std::unique_ptr<File> file_;
  int64_t at_ = 0;
};

TEST(GatheredFile, AnyAccessesGiveTheBytesOfAVector) {
  for (unsigned seed = 0; seed < rounds(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Player player(seed);
    for (int step = 0; step < 400 && !HasFailure(); ++step) {
      player.step();
    }
    player.close();
    ASSERT_FALSE(HasFailure());
  }
}

TEST(GatheredFile, SmallWritesMakeFewRequestsAndAreToldWhenTheyFail) {
  for (const bool by_sync : {false, true}) {
    Disk disk;
    const auto file = gather_small(std::make_unique<DiskFile>(disk), kGatheredBytes);
    const std::byte value{1};
    for (int64_t at = 0; at < 1000; ++at) {
      const WriteSegment segment{at, &value, 1};
      ASSERT_TRUE(file->write({&segment, 1}).ok());
    }
    EXPECT_EQ(disk.requests, 0);
    disk.is_full = true;
    EXPECT_EQ((by_sync ? file->sync() : file->close()).code(), ErrorCode::kNoSpace);
    EXPECT_EQ(disk.requests, 1);
    EXPECT_TRUE(!by_sync || file->close().ok()) << "told once";
  }
}

TEST(GatheredFile, TooLittleMemoryGathersNothing) {
  Disk disk;
  const auto file = gather_small(std::make_unique<DiskFile>(disk), 1000);
  const std::byte value{1};
  const WriteSegment segment{5, &value, 1};
  EXPECT_TRUE(file->write({&segment, 1}).ok());
  EXPECT_EQ(disk.bytes.size(), 6U);
}

}  // namespace
}  // namespace stria::storage
