// One server's part of a file: its bytes against a vector. Also what checksums find: flipped bytes,
// lost sums, writes that a kill or a loss of power cut off.
#include "server/objects/object.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/hash.hpp"
#include "server/objects/one_object_test.hpp"
#include "storage/conformance_test.hpp"
#include "support/rounds.hpp"

namespace {

/// This program has synced these directories.
std::vector<std::string> synced_directories;

}  // namespace

// Takes the place of the C library's.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  if (!error && std::filesystem::is_directory(path, error)) {
    synced_directories.push_back(path);
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace stria::server {
namespace {

using Bytes = std::vector<std::byte>;

class ObjectTest : public testing::OneObjectTest {
 protected:
  std::string data_path() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data())) {
      if (entry.is_regular_file() && entry.path().extension() != ".sums") {
        return entry.path();
      }
    }
    return "";
  }
  std::string sums_path() const { return data_path() + ".sums"; }

  void fill(int64_t bytes, uint64_t seed) {
    model_.resize(static_cast<size_t>(bytes));
    std::mt19937_64 random(seed);
    for (std::byte& byte : model_) {
      byte = static_cast<std::byte>(random() >> 30);
    }
    STRIA_EXPECT_OK(write_range({0, bytes}, model_.data()));
  }
  Status write_range(ByteRange range, const std::byte* data) {
    const PieceRow row{range.begin, range.size(), 0, 1};
    return object_->write({&row, 1}, data);
  }
  Status read(ByteRange range, Bytes& bytes) {
    bytes.assign(static_cast<size_t>(range.size()), std::byte{0xEE});
    const PieceRow row{range.begin, range.size(), 0, 1};
    return object_->read({&row, range.empty() ? size_t{0} : size_t{1}}, bytes.data());
  }
  void check_all() {
    ASSERT_EQ(object_->bytes(), static_cast<int64_t>(model_.size()));
    Bytes bytes;
    STRIA_EXPECT_OK(read({0, object_->bytes()}, bytes));
    ASSERT_TRUE(bytes == model_);
  }
  /// Everything that a scrub finds.
  std::vector<wire::Scrubbed::Bad> scrub(bool accept = false) {
    std::vector<wire::Scrubbed::Bad> bad;
    wire::Scrubbed part;
    while (!part.done) {
      part = object_->scrub({kFile, {}, part.next_block, accept}).value();
      bad.insert(bad.end(), part.bad.begin(), part.bad.end());
    }
    return bad;
  }
  /// Changes bytes behind the server's back.
  static void alter(const std::string& path, int64_t offset, std::byte with) {
    const int descriptor = ::open(path.c_str(), O_RDWR);
    std::byte byte{};
    ASSERT_EQ(pread(descriptor, &byte, 1, offset), 1);
    byte ^= with;
    ASSERT_EQ(pwrite(descriptor, &byte, 1, offset), 1);
    ::close(descriptor);
  }

  Bytes model_;
};

// Journaling file systems keep a new name with the file's own sync, so that a loss of power there
// does not show whether the folder is synced.
TEST_F(ObjectTest, TheFirstSyncAfterAKillSyncsTheFolderOfNamesThatTheServerHadMade) {
  fill(100000, 17);
  const std::string folder = std::filesystem::path(data_path()).parent_path();
  open();  // killed before it synced
  synced_directories.clear();
  STRIA_EXPECT_OK(objects_->sync(kFile));
  EXPECT_EQ(synced_directories, std::vector<std::string>{folder});
  STRIA_EXPECT_OK(objects_->sync(kFile));
  EXPECT_EQ(synced_directories.size(), 1u) << "once";
  constexpr uint64_t kBeside = kFile + 256;  // in the same folder
  ASSERT_NE(objects_->find(kBeside, true).value(), nullptr);
  STRIA_EXPECT_OK(objects_->sync(kBeside));
  EXPECT_EQ(synced_directories, (std::vector<std::string>{folder, folder})) << "a new name";
}

TEST_F(ObjectTest, EachShortWriteChangesTheTime) {
  const std::byte one{1};
  for (int i = 0; i < 10; ++i) {
    STRIA_EXPECT_OK(write_range({10, 11}, &one));  // after the first few, the file is mapped
  }
  int64_t before = 0;
  for (int round = 0; round < 3; ++round) {  // a page that is mapped and dirty already
    STRIA_EXPECT_OK(write_range({10, 11}, &one));
    const int64_t now = object_->extent().modified_ns;
    EXPECT_GT(now, before) << "round " << round;
    before = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // clocks of files are coarse
  }
  open();
  EXPECT_EQ(object_->extent().modified_ns, before);
}

TEST_F(ObjectTest, AChangeAfterItsTimeWasToldHasALaterOne) {
  const std::byte one{1};
  STRIA_EXPECT_OK(write_range({0, 1}, &one));
  for (int round = 0; round < 20; ++round) {  // much quicker than the clock of a file system
    const int64_t before = object_->extent().modified_ns;
    STRIA_EXPECT_OK(round % 2 == 0 ? write_range({10, 11}, &one) : object_->resize(20 + round));
    EXPECT_GT(object_->extent().modified_ns, before) << "round " << round;
  }
}

// What is sent from the system's cache: compared with its sums, and not used after a write between.
TEST_F(ObjectTest, ViewsAreWhatWasWrittenUntilTheNextWrite) {
  fill(300000, 11);
  const ByteRange run{5000, 290001};
  auto view = object_->view(run).value();
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(std::equal(view->bytes.begin(), view->bytes.end(), model_.begin() + run.begin, model_.begin() + run.end));
  EXPECT_EQ(view->sum, hash_bytes(view->bytes));
  object_->sent(*view);
  EXPECT_FALSE(object_->view({0, object_->bytes() + 1}).value().has_value()) << "beyond the end";
  // The mapping grows, and the old one stays as long as it is used.
  const int64_t grown = int64_t{300} << 20;
  STRIA_EXPECT_OK(object_->resize(grown));
  const auto hole = object_->view({grown - 100000, grown}).value();
  ASSERT_TRUE(hole.has_value());
  EXPECT_EQ(hole->bytes.back(), std::byte{0});
  EXPECT_EQ(view->sum, hash_bytes(view->bytes));
  object_->sent(*hole);
  EXPECT_TRUE(object_->view(run).value().has_value());
  object_->sent(*view);
  EXPECT_FALSE(object_->view(run).value().has_value()) << "it was cut while the view was sent";
}

TEST_F(ObjectTest, ViewsFindDamage) {
  fill(100000, 13);
  alter(data_path(), 50000, std::byte{4});
  EXPECT_EQ(object_->view({0, 100000}).status().code(), ErrorCode::kCorrupted);
  EXPECT_TRUE(object_->view({0, 49152}).value().has_value());
  // Somebody else has cut the file: the pages are gone, and a system call says so.
  ASSERT_EQ(truncate(data_path().c_str(), 0), 0);
  EXPECT_FALSE(object_->view({0, 49152}).value().has_value());
}

/// Places that are sorted or not, dense, sparse, regular, long, beyond the end; without overlap.
std::vector<ByteRange> random_places(std::mt19937_64& random, int64_t end) {
  const auto up_to = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  std::vector<ByteRange> places;
  const int64_t longest = random() % 3 == 0 ? 60000 : random() % 2 == 0 ? 700 : 12;
  int64_t at = up_to(end + 20000);
  for (int64_t i = 1 + up_to(40); i > 0; --i) {
    at += random() % 3 == 0 ? 0 : up_to(random() % 4 == 0 ? 9000 : 30);
    if (random() % 4 == 0) {  // a row, also of whole words
      const int64_t unit = random() % 2 == 0 ? 8 : 1;
      at = align_up(at, unit);
      const int64_t bytes = unit * (1 + up_to(random() % 2 == 0 ? 3 : 200));
      const int64_t gap = unit * up_to(random() % 2 == 0 ? 20 : 900);
      for (int64_t j = up_to(100); j > 0; --j) {
        places.push_back({at, at + bytes});
        at += bytes + gap;
      }
    }
    places.push_back({at, at + 1 + up_to(longest)});
    at = places.back().end;
  }
  if (random() % 4 == 0) {
    std::shuffle(places.begin(), places.end(), random);
  }
  return places;
}

std::vector<PieceRow> rows_of(const std::vector<ByteRange>& places) {
  std::vector<PieceRow> rows;
  for (const ByteRange& place : places) {
    append(rows, {place.begin, place.size(), 0, 1});
  }
  return rows;
}

TEST_F(ObjectTest, RandomWorkMatchesTheModel) {
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(400); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto end = static_cast<int64_t>(model_.size());
    const auto choice = random() % 10;
    if (choice < 6) {
      const auto places = random_places(random, end);
      int64_t bytes = 0;
      int64_t most = end;
      for (const ByteRange& place : places) {
        bytes += place.size();
        most = std::max(most, place.end);
      }
      storage::testing::AlignedBytes data(static_cast<size_t>(bytes));
      data.fill_random(random);
      STRIA_EXPECT_OK(object_->write(rows_of(places), data.data()));
      model_.resize(static_cast<size_t>(most));
      const std::byte* from = data.data();
      for (const ByteRange& place : places) {
        std::memcpy(model_.data() + place.begin, from, static_cast<size_t>(place.size()));
        from += place.size();
      }
      Bytes back(static_cast<size_t>(bytes));
      STRIA_EXPECT_OK(object_->read(rows_of(places), back.data()));
      ASSERT_EQ(std::memcmp(back.data(), data.data(), back.size()), 0);
    } else if (choice < 8) {
      const auto bytes = static_cast<int64_t>(random() % static_cast<uint64_t>(end + 30000));
      STRIA_EXPECT_OK(object_->resize(bytes));
      model_.resize(static_cast<size_t>(bytes));
    } else if (choice == 8) {
      STRIA_EXPECT_OK(object_->sync());
    } else {
      STRIA_EXPECT_OK(object_->reserve(end + 5000));
      model_.resize(static_cast<size_t>(end + 5000));
      open();
    }
    ASSERT_NO_FATAL_FAILURE(check_all());
    if (seed % 20 == 0) {
      ASSERT_TRUE(scrub().empty());
    }
    if (model_.size() > 3000000) {
      STRIA_EXPECT_OK(object_->resize(1000));
      model_.resize(1000);
    }
  }
}

TEST_F(ObjectTest, EveryFlippedByteIsFound) {
  std::mt19937_64 random(3);
  for (int round = 0; round < rounds(60); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    fill(200001, static_cast<uint64_t>(round));
    STRIA_EXPECT_OK(object_->sync());
    open();
    const auto at = static_cast<int64_t>(random() % model_.size());
    const int64_t block = at / kBlockBytes;
    alter(data_path(), at, static_cast<std::byte>(1 << random() % 8));
    const auto bad = scrub();
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].block, block);
    EXPECT_EQ(bad[0].fault, wire::BlockFault::kDamaged);
    Bytes bytes;
    for (const ByteRange range : {ByteRange{0, 200001}, ByteRange{at, at + 1}, ByteRange{block * kBlockBytes, at + 1}}) {
      const Status told = read(range, bytes);
      EXPECT_EQ(told.code(), ErrorCode::kCorrupted);
      EXPECT_NE(told.message().find("block " + std::to_string(block) + " "), std::string::npos) << told.message();
      EXPECT_NE(told.message().find("damaged"), std::string::npos) << told.message();
    }
    if (at >= kBlockBytes) {
      STRIA_EXPECT_OK(read({0, block * kBlockBytes}, bytes));
    }
    // Writing a part of the block, even the damaged part, doesn't make the rest good.
    for (const int64_t begin : {block * kBlockBytes, at}) {
      const ByteRange part{begin, begin + 1};
      STRIA_EXPECT_OK(write_range(part, model_.data() + begin));
      EXPECT_EQ(read(part, bytes).code(), ErrorCode::kCorrupted);
      ASSERT_EQ(scrub().size(), 1u);
    }
    const ByteRange whole{block * kBlockBytes, (block + 1) * kBlockBytes};
    model_.resize(static_cast<size_t>(std::max<int64_t>(200001, whole.end)));
    STRIA_EXPECT_OK(write_range(whole, model_.data() + whole.begin));
    check_all();
    EXPECT_TRUE(scrub().empty());
    STRIA_EXPECT_OK(object_->resize(0));
  }
}

TEST_F(ObjectTest, DamagedSumsAreFoundToo) {
  fill(100000, 1);
  STRIA_EXPECT_OK(object_->sync());
  open();
  alter(sums_path(), 4096 + 16 * 3, std::byte{1});
  alter(sums_path(), 4096 + 16 * 3 + 8, std::byte{1});
  Bytes bytes;
  EXPECT_EQ(read({3 * kBlockBytes, 3 * kBlockBytes + 5}, bytes).code(), ErrorCode::kCorrupted);
  EXPECT_EQ(scrub().size(), 1u);
  object_ = nullptr;
  objects_ = nullptr;
  alter(sums_path(), 9, std::byte{1});
  objects_ = Objects::open(paths()).value();
  EXPECT_EQ(objects_->find(kFile, true).status().code(), ErrorCode::kCorrupted);
  EXPECT_EQ(objects_->remove({&kFile, 1}).size(), 1U);
}

// A power loss may take a part without a trace before it was synced; after that it may not. Whoever
// looks at it meanwhile goes on with the same object.
TEST_F(ObjectTest, TheTimeOfAPartIsSetWhetherItIsOpenOrNot) {
  constexpr int64_t kLongAgoNs = 1'000'000'000'000'000'000;
  fill(1000, 1);
  EXPECT_GT(object_->extent().modified_ns, kLongAgoNs);
  STRIA_EXPECT_OK(objects_->set_modified(kFile, kLongAgoNs));
  EXPECT_EQ(objects_->find(kFile, false).value(), object_) << "not opened a second time";
  EXPECT_EQ(object_->extent().modified_ns, kLongAgoNs);
  open();
  EXPECT_EQ(object_->extent().modified_ns, kLongAgoNs);
  fill(1000, 2);
  EXPECT_GT(object_->extent().modified_ns, kLongAgoNs);
  object_ = nullptr;
  objects_ = Objects::open(paths()).value();
  STRIA_EXPECT_OK(objects_->set_modified(kFile, kLongAgoNs));
  object_ = objects_->find(kFile, false).value();
  EXPECT_EQ(object_->extent().modified_ns, kLongAgoNs);
  check_all();
}

TEST_F(ObjectTest, APartIsInTheRecordFromItsSyncToItsRemoval) {
  const std::string record = directory_ + "/parts/" + part_name(kFile);
  fill(1000, 1);
  EXPECT_FALSE(std::filesystem::exists(record));
  STRIA_EXPECT_OK(objects_->sync(kFile));
  EXPECT_TRUE(std::filesystem::exists(record));
  EXPECT_EQ(objects_->remove({&kFile, 1}).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(record));
  EXPECT_EQ(objects_->sync(kFile).code(), ErrorCode::kCorrupted);
  EXPECT_FALSE(std::filesystem::exists(record));
}

TEST_F(ObjectTest, WhatWasRemovedIsKnownForAllTimeAndIsNoHole) {
  const uint64_t start = uint64_t{1764183200} << 31;
  const std::vector<uint64_t> removed{start + 2, kFile, start + 5, start + (uint64_t{1} << 31) - 1, start + 70000};
  EXPECT_EQ(objects_->remove(removed), removed);
  EXPECT_EQ(objects_->remove(removed), removed) << "as the manager asks again, had it not heard";
  for (int run = 0; run < 2; ++run) {
    for (const uint64_t file : removed) {
      for (const bool create : {false, true}) {
        const Status told = objects_->find(file, create).status();
        EXPECT_EQ(told.code(), ErrorCode::kCorrupted) << file;
        EXPECT_NE(told.message().find("was removed on the server"), std::string::npos) << told.message();
      }
    }
    for (const uint64_t file : {start + 3, start + 4, start + 6, start + 69999, start + 70001, start + (uint64_t{1} << 31)}) {
      const auto object = objects_->find(file, false);
      ASSERT_TRUE(object.ok()) << object.status().message();
      EXPECT_EQ(*object, nullptr);
    }
    object_ = nullptr;
    objects_ = nullptr;
    objects_ = Objects::open(paths()).value();
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_ + "/removed"), {}), 2);
}

TEST_F(ObjectTest, WhatCannotBeNotedAsRemovedStays) {
  fill(1000, 1);
  std::filesystem::remove_all(directory_ + "/removed");
  EXPECT_TRUE(objects_->remove({&kFile, 1}).empty());
  check_all();
  std::filesystem::create_directory(directory_ + "/removed");
  EXPECT_EQ(objects_->remove({&kFile, 1}).size(), 1U);
  EXPECT_EQ(data_path(), "");
}

TEST_F(ObjectTest, AnObjectThatGrewShorterIsFound) {
  fill(100000, 1);
  STRIA_EXPECT_OK(object_->sync());
  object_ = nullptr;
  objects_ = nullptr;
  std::filesystem::resize_file(data_path(), 50000);
  objects_ = Objects::open(paths()).value();
  const Status told = objects_->find(kFile, false).status();
  EXPECT_EQ(told.code(), ErrorCode::kCorrupted);
  EXPECT_NE(told.message().find("was left with 100000"), std::string::npos) << told.message();
}

TEST_F(ObjectTest, HolesStayHoles) {
  const ByteRange far{int64_t{3} << 30, (int64_t{3} << 30) + 10};
  const Bytes data(10, std::byte{7});
  STRIA_EXPECT_OK(write_range(far, data.data()));
  Bytes bytes;
  STRIA_EXPECT_OK(read({1 << 30, (1 << 30) + 100000}, bytes));
  EXPECT_TRUE(bytes == Bytes(100000, std::byte{0}));
  alter(data_path(), (1 << 30) + 5, std::byte{1});
  EXPECT_EQ(read({1 << 30, (1 << 30) + 1}, bytes).code(), ErrorCode::kCorrupted) << "a byte in a hole";
  STRIA_EXPECT_OK(object_->sync());
}

/// Makes what a machine has after a loss of power: each page of both files as it was at one moment
/// or another, in any order.
class PowerLoss : public ObjectTest {
 protected:
  static Bytes contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  void remember() {
    data_versions_.push_back(contents(data_path()));
    sums_versions_.push_back(contents(sums_path()));
  }
  /// Takes each page from one of the versions.
  static void mix(const std::string& path, const std::vector<Bytes>& versions, std::mt19937_64& random) {
    Bytes mixed = versions.back();
    for (size_t at = 0; at < mixed.size(); at += 4096) {
      const Bytes& from = versions[random() % versions.size()];
      const size_t bytes = std::min<size_t>(4096, mixed.size() - at);
      std::memset(mixed.data() + at, 0, bytes);
      if (at < from.size()) {
        std::memcpy(mixed.data() + at, from.data() + at, std::min(bytes, from.size() - at));
      }
    }
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(mixed.data()), static_cast<int>(mixed.size()));
  }
  std::vector<Bytes> data_versions_;
  std::vector<Bytes> sums_versions_;
};

TEST_F(PowerLoss, WhatWasSyncedIsThereAndWhatWasInFlightIsTold) {
  int told = 0;
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    open();
    STRIA_EXPECT_OK(object_->resize(0));
    fill(300000, seed);
    STRIA_EXPECT_OK(object_->sync());
    if (seed % 2 == 0) {
      open();  // rests as clean
    }
    data_versions_.clear();
    sums_versions_.clear();
    const auto touched_from = static_cast<int64_t>(random() % 60) * kBlockBytes;
    for (int write = 0; write < 4; ++write) {
      const Bytes data(5000, static_cast<std::byte>(write));
      const int64_t at = touched_from + static_cast<int64_t>(random() % 30000);
      const ByteRange place{at, at + 5000};
      STRIA_EXPECT_OK(write_range(place, data.data()));
      remember();
    }
    object_ = nullptr;
    objects_ = nullptr;
    // The head said dirty, on the disk, before the first of these writes.
    mix(data_path(), data_versions_, random);
    mix(sums_path(), sums_versions_, random);
    open();
    Bytes bytes;
    if (touched_from > 0) {
      STRIA_EXPECT_OK(read({0, touched_from}, bytes));
      ASSERT_EQ(std::memcmp(bytes.data(), model_.data(), bytes.size()), 0);
    }
    const int64_t behind = align_up(touched_from + 35000, kBlockBytes);
    STRIA_EXPECT_OK(read({behind, 300000}, bytes));
    ASSERT_EQ(std::memcmp(bytes.data(), model_.data() + behind, bytes.size()), 0);
    const auto bad = scrub();
    for (const wire::Scrubbed::Bad& each : bad) {
      ++told;
      EXPECT_EQ(each.fault, wire::BlockFault::kInFlight);
      EXPECT_TRUE((ByteRange{touched_from, behind}).contains(each.block * kBlockBytes));
      const Status status = read({each.block * kBlockBytes, each.block * kBlockBytes + 10}, bytes);
      EXPECT_EQ(status.code(), ErrorCode::kCorrupted);
      EXPECT_NE(status.message().find("--accept"), std::string::npos) << status.message();
    }
    EXPECT_EQ(scrub(true).size(), bad.size());
    EXPECT_TRUE(scrub().empty());
    STRIA_EXPECT_OK(read({0, object_->bytes()}, bytes));
    alter(data_path(), 7, std::byte{1});
    ASSERT_EQ(scrub().size(), 1u);
    EXPECT_EQ(scrub()[0].fault, wire::BlockFault::kDamaged) << "the doubt is over";
  }
  EXPECT_GT(told, rounds(60) / 3);
}

TEST_F(PowerLoss, ScrubsOfSomeBlocksDontEndTheDoubtOfOthers) {
  constexpr int64_t kBlocks = 6000;  // a scrub's request looks at 4,096
  fill(kBlocks * kBlockBytes, 1);
  open();  // un-synced when the server ended
  alter(data_path(), 10 * kBlockBytes, std::byte{1});
  const auto fault = [&] {
    Bytes bytes;
    const std::string told = read({10 * kBlockBytes, 10 * kBlockBytes + 1}, bytes).message();
    return told.find("--accept") != std::string::npos ? wire::BlockFault::kInFlight : wire::BlockFault::kDamaged;
  };
  const wire::Scrubbed end = object_->scrub({kFile, {}, 4096, false}).value();
  EXPECT_TRUE(end.done && end.bad.empty());
  EXPECT_EQ(fault(), wire::BlockFault::kInFlight) << "nobody has looked at the block";
  // Two scrubs in turn.
  for (const int64_t first : {0, 4096, 0, 4096, 4096}) {
    EXPECT_EQ(object_->scrub({kFile, {}, first, false}).value().bad.size(), first == 0 ? 1u : 0u);
  }
  EXPECT_EQ(fault(), wire::BlockFault::kInFlight) << "it was found, and is still there";
  EXPECT_EQ(scrub(true).size(), 1u);
  EXPECT_TRUE(scrub().empty());
  alter(data_path(), 10 * kBlockBytes, std::byte{1});
  EXPECT_EQ(fault(), wire::BlockFault::kDamaged) << "the doubt is over";
}

TEST_F(PowerLoss, AcceptingBesideWritersTakesNothingFromThem) {
  constexpr int64_t kBytes = 300 * kBlockBytes;
  fill(kBytes, 1);
  open();  // un-synced when the server ended: every block is in doubt
  std::atomic<int> writing = 2;
  const auto write = [&](int64_t parity) {  // every other stretch of 1,000 bytes
    std::mt19937_64 random(static_cast<uint64_t>(parity) + 2);
    for (int round = 0; round < 20; ++round) {
      for (int64_t at = parity * 1000; at + 1000 <= kBytes; at += 2000) {
        const Bytes data(1000, static_cast<std::byte>(random()));
        const ByteRange place{at, at + 1000};
        STRIA_EXPECT_OK(write_range(place, data.data()));
        std::copy(data.begin(), data.end(), model_.begin() + at);
      }
    }
    --writing;
  };
  std::thread even(write, 0);
  std::thread odd(write, 1);
  while (writing > 0) {
    EXPECT_TRUE(scrub(true).empty()) << "nothing was torn";
  }
  even.join();
  odd.join();
  check_all();
  EXPECT_TRUE(scrub().empty());
}

TEST_F(PowerLoss, AWriteThatAKillCutOffIsMadeGoodByItsRepetition) {
  fill(100000, 1);
  const Bytes data(3000, std::byte{9});
  const ByteRange place{20000, 23000};
  remember();
  STRIA_EXPECT_OK(write_range(place, data.data()));
  remember();
  for (const size_t cut : {0, 1, 1500, 2999, 3000}) {
    for (const bool repeats : {false, true}) {
      // The block has two sums while the data are on their way: the old one and the new one.
      object_ = nullptr;
      objects_ = nullptr;
      Bytes mixed = data_versions_[0];
      std::copy_n(data.begin(), cut, mixed.begin() + 20000);
      Bytes sums = sums_versions_[1];
      for (const size_t block : {4, 5}) {
        std::copy_n(sums_versions_[0].begin() + 4096 + static_cast<int64_t>(16 * block), 8,
                    sums.begin() + 4096 + static_cast<int64_t>(16 * block));
      }
      std::ofstream(data_path(), std::ios::binary).write(reinterpret_cast<const char*>(mixed.data()), 100000);
      std::ofstream(sums_path(), std::ios::binary)
          .write(reinterpret_cast<const char*>(sums.data()), static_cast<int>(sums.size()));
      open();
      model_ = mixed;
      if (repeats) {
        STRIA_EXPECT_OK(write_range(place, data.data()));
        std::copy(data.begin(), data.end(), model_.begin() + 20000);
      }
      const bool torn = !repeats && cut != 0 && cut != 3000;
      if (!torn) {
        check_all();
        EXPECT_TRUE(scrub().empty());
      } else {
        Bytes bytes;
        EXPECT_EQ(read({0, 100000}, bytes).code(), ErrorCode::kCorrupted) << cut;
        EXPECT_FALSE(scrub().empty());
      }
    }
  }
}

}  // namespace
}  // namespace stria::server
