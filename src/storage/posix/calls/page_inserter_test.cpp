// Whole pages inserted into files on tmpfs: the bytes are those of write(), whatever other ranks
// write; and what happens when pages don't fit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "storage/conformance_test.hpp"
#include "storage/posix/posix_driver.hpp"

namespace stria::storage {
namespace {

using Mode = OpenOptions::Mode;

constexpr int64_t kInsertedPage = 4096;

// The real calls. Counts the bytes that go by write(), and fails or shortens
// transfers when told to.
class CountedCalls : public SystemCalls {
 public:
  ssize_t pwritev(int descriptor, const iovec* pieces, int count, int64_t offset) override {
    const ssize_t now = SystemCalls::pwritev(descriptor, pieces, count, offset);
    written_bytes += now > 0 ? now : 0;
    return now;
  }
  int admit_transfer(int, bool, int64_t, int64_t* bytes) override {
    *bytes = std::min<int64_t>(*bytes, most_bytes);
    return error_number;
  }

  std::atomic<int64_t> written_bytes{0};
  int64_t most_bytes = INT64_MAX;
  int error_number = 0;
};

class PageInsertion : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = "/dev/shm/stria-pages-" + std::to_string(getpid());
    file_ = open(Mode::kCreate);
    if (!file_->capabilities().parallel_writes) {
      GTEST_SKIP() << "pages can't be inserted here";
    }
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::unique_ptr<File> open(Mode mode) { return driver_.open(path_, {.mode = mode}).value(); }
  static Status write(File& file, int64_t offset, const std::vector<std::byte>& bytes) {
    return file.write(std::vector<WriteSegment>{{offset, bytes.data(), static_cast<int64_t>(bytes.size())}});
  }
  std::vector<std::byte> content() {
    std::vector<std::byte> bytes(std::filesystem::file_size(path_));
    const std::vector<ReadSegment> all{{0, bytes.data(), static_cast<int64_t>(bytes.size())}};
    EXPECT_EQ(open(Mode::kRead)->read(all).value(), static_cast<int64_t>(bytes.size()));
    return bytes;
  }
  static std::vector<std::byte> noise(int64_t bytes, uint32_t seed) {
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    std::mt19937 random(seed);
    for (std::byte& value : data) {
      value = static_cast<std::byte>(random());
    }
    return data;
  }

  CountedCalls calls_;
  PosixDriver driver_{calls_};
  std::string path_;
  std::unique_ptr<File> file_;
};

TEST_F(PageInsertion, MovesWholePagesPastWrite) {
  const auto data = noise(100 * kInsertedPage + 300, 1);
  STRIA_EXPECT_OK(write(*file_, 1000, data));
  EXPECT_LE(calls_.written_bytes, 3 * kInsertedPage) << "only the ends of the range are written";
  const auto found = content();
  ASSERT_EQ(found.size(), data.size() + 1000);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), found.begin() + 1000));
  EXPECT_EQ(std::count(found.begin(), found.begin() + 1000, std::byte{0}), 1000) << "the gap before it";
}

TEST_F(PageInsertion, ASoleWriterWritesPlainly) {
  auto sole = driver_.open(path_, {.mode = Mode::kReadWrite, .sole_writer = true}).value();
  EXPECT_FALSE(sole->capabilities().parallel_writes);
  const auto data = noise(100 * kInsertedPage, 1);
  STRIA_EXPECT_OK(write(*sole, 0, data));
  EXPECT_EQ(calls_.written_bytes, 100 * kInsertedPage);
  EXPECT_TRUE(content() == data);
}

TEST_F(PageInsertion, PagesThatAreThereAreWrittenOver) {
  STRIA_EXPECT_OK(write(*file_, 0, noise(64 * kInsertedPage, 2)));
  auto over = noise(96 * kInsertedPage, 3);
  STRIA_EXPECT_OK(write(*file_, 16 * kInsertedPage, over));
  const auto found = content();
  ASSERT_EQ(found.size(), static_cast<size_t>(112 * kInsertedPage));
  EXPECT_TRUE(std::equal(over.begin(), over.end(), found.begin() + 16 * kInsertedPage));
  calls_.written_bytes = 0;
  STRIA_EXPECT_OK(write(*open(Mode::kReadWrite), 200 * kInsertedPage, over));
  EXPECT_LE(calls_.written_bytes, 2 * kInsertedPage) << "past the old end there are no pages yet";
}

TEST_F(PageInsertion, WritersOfNeighboursDontDisturbEachOther) {
  constexpr int kWriters = 5;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    STRIA_EXPECT_OK(file_->resize(0));
    std::mt19937 random(seed);
    std::vector<int64_t> cuts{0};
    for (int i = 0; i < 40; ++i) {
      cuts.push_back(cuts.back() + 1 + static_cast<int64_t>(random() % (40 * kInsertedPage)));
    }
    const auto data = noise(cuts.back(), seed);
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        const auto file = open(Mode::kReadWrite);
        for (size_t i = static_cast<size_t>(writer); i + 1 < cuts.size(); i += kWriters) {
          const std::vector<WriteSegment> list{{cuts[i], data.data() + cuts[i], cuts[i + 1] - cuts[i]}};
          STRIA_EXPECT_OK(file->write(list));
        }
      });
    }
    for (std::thread& writer : writers) {
      writer.join();
    }
    EXPECT_EQ(content(), data);
  }
}

TEST_F(PageInsertion, FaultsAndShortTransfersAreThoseOfAWrite) {
  const auto data = noise(64 * kInsertedPage, 4);
  calls_.most_bytes = 10 * kInsertedPage + 5;
  STRIA_EXPECT_OK(write(*file_, 0, data));
  EXPECT_EQ(content(), data);
  calls_.error_number = EIO;
  const Status failed = write(*file_, 1000 * kInsertedPage, data);
  EXPECT_EQ(failed.code(), ErrorCode::kIo);
  EXPECT_NE(failed.message().find("write '" + path_ + "' at offset 4096000"), std::string::npos) << failed.message();
}

TEST_F(PageInsertion, AForkedChildWritesByItself) {
  const auto first = noise(32 * kInsertedPage, 5);
  const auto second = noise(32 * kInsertedPage, 6);
  STRIA_EXPECT_OK(write(*file_, 0, first));
  const pid_t child = fork();
  if (child == 0) {
    _exit(write(*file_, 64 * kInsertedPage, second).ok() ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  STRIA_EXPECT_OK(write(*file_, 128 * kInsertedPage, first));
  const auto found = content();
  EXPECT_TRUE(std::equal(second.begin(), second.end(), found.begin() + 64 * kInsertedPage));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), found.begin() + 128 * kInsertedPage));
}

TEST_F(PageInsertion, KeepsLittleOfTheFileInTheProcess) {
  const auto shared_bytes = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("RssShmem:")) {
        return std::stol(line.substr(9)) << 10;
      }
    }
    return -1L;
  };
  const int64_t before = shared_bytes();
  ASSERT_GE(before, 0);
  const auto data = noise(6 << 20, 7);
  for (int64_t i = 0; i < 4; ++i) {
    STRIA_EXPECT_OK(write(*file_, i * (6 << 20), data));
    EXPECT_LE(shared_bytes() - before, int64_t{5} << 20);
  }
}

TEST_F(PageInsertion, AChangeIsNotedInTheFilesTime) {
  STRIA_EXPECT_OK(file_->resize(64 * kInsertedPage));
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), old, 0), 0);
  STRIA_EXPECT_OK(write(*file_, 0, noise(64 * kInsertedPage, 8)));
  STRIA_EXPECT_OK(file_->close());
  struct stat details = {};
  ASSERT_EQ(stat(path_.c_str(), &details), 0);
  EXPECT_GT(details.st_mtim.tv_sec, 1000);
}

}  // namespace
}  // namespace stria::storage
