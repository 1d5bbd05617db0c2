// The rados driver. STRIA_TEST_RADOS names a pool of a cluster for tests (tests/rados/ starts one);
// without it only what needs none is tested.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "storage/conformance_test.hpp"
#include "storage/path.hpp"
#include "storage/rados/rados_path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::storage {
namespace {

using testing::AlignedBytes;
using testing::DriverCase;
using testing::DriverTest;

const char* test_pool() {
  return std::getenv("STRIA_TEST_RADOS");
}

Result<std::shared_ptr<Driver>> make_for_pool() {
  return test_pool() == nullptr ? Status(ErrorCode::kUnsupported, "STRIA_TEST_RADOS names no pool") : make_driver("posix");
}

std::string fresh_directory() {
  static int count = 0;
  return "rados://" + std::string(test_pool()) + "/test" + std::to_string(getpid()) + "/" + std::to_string(++count);
}

INSTANTIATE_TEST_SUITE_P(Rados, DriverTest, ::testing::Values(DriverCase{"pool", make_for_pool, "", false, fresh_directory}),
                         testing::case_name);

TEST(RadosPath, IsTakenApart) {
  const RadosPath file = RadosPath::parse("rados://pool//runs/./2026/chk_0001").value();
  EXPECT_EQ(file.pool, "pool");
  EXPECT_EQ(file.directory, "/runs/2026");
  EXPECT_EQ(file.name, "chk_0001");
  EXPECT_EQ(file.as_directory(), "/runs/2026/chk_0001");
  for (const char* root : {"rados://pool", "rados://pool/"}) {
    EXPECT_EQ(RadosPath::parse(root).value().directory, "/");
    EXPECT_EQ(RadosPath::parse(root).value().name, "");
    EXPECT_EQ(RadosPath::parse(root).value().as_directory(), "/");
  }
  EXPECT_EQ(RadosPath::parse("rados://pool/f").value().directory, "/");
  for (const std::string& bad : {std::string("rados://"), std::string("rados:///f"), std::string("rados://pool/../f"),
                                 "rados://pool/" + std::string(300, 'x') + "/f"}) {
    EXPECT_EQ(RadosPath::parse(bad).status().code(), ErrorCode::kInvalidArgument) << bad;
  }
}

TEST(RadosPath, NumbersKeepTheirOrderAsText) {
  EXPECT_LT(hexadecimal(9), hexadecimal(10));
  EXPECT_LT(hexadecimal(255), hexadecimal(4096));
  EXPECT_EQ(from_hexadecimal(hexadecimal(0xFEDCBA9876543210)), 0xFEDCBA9876543210);
  EXPECT_EQ(from_hexadecimal("12x"), 0U);
}

TEST(RadosPath, StaysAsItIsInAnotherDirectory) {
  EXPECT_EQ(absolute_path("rados://pool/f"), "rados://pool/f");
  EXPECT_EQ(directory_of("rados://pool/runs/f"), "rados://pool/runs");
}

TEST(Rados, SaysWhereTheClusterIsLookedFor) {
  if (test_pool() != nullptr) {
    GTEST_SKIP() << "this process has a cluster";
  }
  setenv("CEPH_CONF", "/nowhere/ceph.conf", 1);
  const auto driver = make_driver("posix").value();
  const Status refused = driver->open("rados://pool/f", {.mode = OpenOptions::Mode::kCreate}).status();
  unsetenv("CEPH_CONF");
  EXPECT_NE(refused.message().find("rados://pool/f"), std::string::npos) << refused.message();
  if (refused.code() == ErrorCode::kUnsupported) {
    GTEST_SKIP() << refused.message();
  }
  EXPECT_EQ(refused.code(), ErrorCode::kNotFound) << refused.message();
  EXPECT_NE(refused.message().find("/nowhere/ceph.conf"), std::string::npos) << refused.message();
}

TEST(Rados, OtherStorageIsNotRenamedInto) {
  const auto driver = make_driver("posix").value();
  EXPECT_EQ(driver->rename("rados://pool/f", "/tmp/f").code(), ErrorCode::kUnsupported);
}

/// Tests of what only a pool has.
class RadosPool : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test_pool() == nullptr) {
      GTEST_SKIP() << "STRIA_TEST_RADOS names no pool";
    }
    directory_ = fresh_directory();
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::unique_ptr<File> open(const std::string& name, OpenOptions options = {.mode = OpenOptions::Mode::kCreate}) {
    return driver_->open(path(name), options).value();
  }

  std::shared_ptr<Driver> driver_ = make_driver("posix").value();
  std::string directory_;
};

TEST_F(RadosPool, StripesAreAsAskedFor) {
  EXPECT_EQ(open("default")->capabilities().stripe_bytes, 4 << 20);
  OpenOptions options{.mode = OpenOptions::Mode::kCreate};
  options.striping.unit_bytes = (1 << 20) + 1000;
  EXPECT_EQ(open("hinted", options)->capabilities().stripe_bytes, 1 << 20);
  options.striping.unit_bytes = 1;
  EXPECT_EQ(open("hinted", options)->capabilities().stripe_bytes, 1 << 20) << "an existing file stays as it is";
  EXPECT_EQ(open("small", options)->capabilities().stripe_bytes, 64 << 10);
  EXPECT_EQ(open("small")->capabilities().stripe_count, 3) << "the cluster for tests has three servers";
}

// Pieces of 1 to 300 bytes with gaps, over many objects: several operations for each of them.
TEST_F(RadosPool, LongListsOverManyObjects) {
  OpenOptions options{.mode = OpenOptions::Mode::kCreate};
  options.striping.unit_bytes = 64 << 10;
  const auto file = open("list", options);
  std::mt19937_64 random(7);
  constexpr size_t kPieces = 5000;
  std::vector<std::byte> model;
  std::vector<WriteSegment> segments;
  AlignedBytes memory(kPieces * 300);
  memory.fill_random(random);
  for (size_t i = 0; i < kPieces; ++i) {
    const int64_t gap = static_cast<int64_t>(random() % 200);
    const int64_t bytes = 1 + static_cast<int64_t>(random() % 300);
    const int64_t offset = static_cast<int64_t>(model.size()) + gap;
    segments.push_back({offset, memory.data() + i * 300, bytes});
    model.resize(static_cast<size_t>(offset + bytes), std::byte{0});
    std::copy_n(segments.back().data, bytes, model.begin() + offset);
  }
  std::shuffle(segments.begin(), segments.end(), random);
  STRIA_EXPECT_OK(file->write(segments));
  std::vector<std::byte> back(model.size(), std::byte{0x5A});
  const ReadSegment whole{0, back.data(), static_cast<int64_t>(back.size())};
  EXPECT_EQ(file->read({&whole, 1}).value(), whole.bytes);
  EXPECT_TRUE(back == model);
  std::vector<ReadSegment> pieces;
  std::fill(back.begin(), back.end(), std::byte{0x5A});
  for (const WriteSegment& segment : segments) {
    pieces.push_back({segment.offset, back.data() + segment.offset, segment.bytes});
  }
  ASSERT_TRUE(file->read(pieces).ok());
  for (const WriteSegment& segment : segments) {
    ASSERT_TRUE(std::equal(segment.data, segment.data + segment.bytes, back.begin() + segment.offset)) << segment.offset;
  }
}

TEST_F(RadosPool, OtherHandlesSeeACut) {
  AlignedBytes data(100);
  std::fill_n(data.data(), data.size(), std::byte{1});
  const auto first = open("cut");
  const WriteSegment long_one{0, data.data(), 100};
  STRIA_EXPECT_OK(first->write({&long_one, 1}));
  const auto second = open("cut", {.mode = OpenOptions::Mode::kReadWrite});
  STRIA_EXPECT_OK(second->resize(10));
  // The first handle still remembers 100 bytes.
  const WriteSegment piece{50, data.data(), 10};
  STRIA_EXPECT_OK(first->write({&piece, 1}));
  EXPECT_EQ(second->size().value(), 60);
  std::vector<std::byte> back(100, std::byte{0x5A});
  const ReadSegment all{0, back.data(), 100};
  EXPECT_EQ(second->read({&all, 1}).value(), 60);
  EXPECT_EQ(back[9], std::byte{1});
  EXPECT_EQ(back[10], std::byte{0});
  EXPECT_EQ(back[50], std::byte{1});
  EXPECT_EQ(back[60], std::byte{0x5A});
}

TEST_F(RadosPool, FilesAreNotDirectories) {
  open("file");
  EXPECT_FALSE(driver_->open(path("file/below"), {.mode = OpenOptions::Mode::kCreate}).ok());
  EXPECT_FALSE(driver_->open(directory_, {.mode = OpenOptions::Mode::kCreate}).ok());
  EXPECT_FALSE(driver_->remove(directory_).ok());
  EXPECT_TRUE(driver_->exists(directory_).value());
  EXPECT_EQ(driver_->list_directory(path("none")).status().code(), ErrorCode::kNotFound);
  const Status moved = driver_->rename(path("file"), path("elsewhere/file"));
  EXPECT_EQ(moved.code(), ErrorCode::kUnsupported) << moved.message();
}

TEST_F(RadosPool, EmptyDirectoriesAreRemoved) {
  const std::string directory = path("some/deep");
  auto file = open("some/deep/file");
  EXPECT_EQ(driver_->remove(directory).code(), ErrorCode::kInvalidArgument);
  STRIA_EXPECT_OK(driver_->remove(path("some/deep/file")));
  EXPECT_EQ(driver_->remove(directory).code(), ErrorCode::kInvalidArgument) << "the file is still open";
  STRIA_EXPECT_OK(file->close());
  STRIA_EXPECT_OK(driver_->remove(directory));
  EXPECT_FALSE(driver_->exists(directory).value());
  EXPECT_EQ(driver_->remove(directory).code(), ErrorCode::kNotFound);
  EXPECT_EQ(driver_->list_directory(path("some")).value(), std::vector<std::string>());
  open("some/deep/file");
  EXPECT_EQ(driver_->list_directory(path("some")).value(), std::vector<std::string>{"deep"});
  EXPECT_FALSE(driver_->remove("rados://" + std::string(test_pool())).ok()) << "the root stays";
}

// Whatever comes between, a file that is there is in a directory that is there.
TEST_F(RadosPool, DirectoriesThatAreRemovedWhileTheyAreUsed) {
  const std::string directory = path("above/used");
  std::atomic<bool> ended = false;
  std::thread remover([&] {
    while (!ended) {
      static_cast<void>(driver_->remove(directory));
      static_cast<void>(driver_->remove(path("above")));
    }
  });
  for (int i = 0; i < 60; ++i) {
    const auto file = driver_->open(directory + "/file", {.mode = OpenOptions::Mode::kCreateNew});
    EXPECT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(driver_->list_directory(directory).value(), std::vector<std::string>{"file"});
    EXPECT_EQ(driver_->list_directory(path("above")).value(), std::vector<std::string>{"used"});
    EXPECT_EQ(driver_->list_directory(directory_).value(), std::vector<std::string>{"above"});
    STRIA_EXPECT_OK(driver_->remove(directory + "/file"));
  }
  ended = true;
  remover.join();
}

TEST_F(RadosPool, NamesThatBeginAlikeAreDifferent) {
  open("name_and_more");
  EXPECT_FALSE(driver_->exists(path("name")).value());
  open("name");
  STRIA_EXPECT_OK(driver_->remove(path("name")));
  EXPECT_TRUE(driver_->exists(path("name_and_more")).value());
}

TEST_F(RadosPool, AnUnknownPoolIsNamed) {
  const Status refused = driver_->open("rados://no_such_pool/f", {.mode = OpenOptions::Mode::kCreate}).status();
  EXPECT_EQ(refused.code(), ErrorCode::kNotFound);
  EXPECT_NE(refused.message().find("'no_such_pool'"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find(test_pool()), std::string::npos) << "it says which there are: " << refused.message();
}

}  // namespace
}  // namespace stria::storage
