// Tests what every storage driver must do: the same tests run on each driver and each kind of
// directory. The oracle is a vector of bytes.
#include "storage/conformance_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <utility>

#include "storage/driver.hpp"
#include "stria/datatype.hpp"
#include "support/rounds.hpp"

namespace stria::storage {
namespace {

using testing::AlignedBytes;
using testing::DriverCase;
using testing::DriverTest;

/// Returns a random list of at most `count` disjoint segments in [0, end_unit), in random order.
/// Their data are slices of `memory`.
std::vector<WriteSegment> random_disjoint_list(std::mt19937_64& random, int64_t end_unit, int64_t unit, size_t count,
                                               AlignedBytes& memory) {
  std::vector<int64_t> cuts;
  for (size_t i = 0; i < 2 * count; ++i) {
    cuts.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(end_unit + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<WriteSegment> segments;
  int64_t used = 0;
  // A third of them touch their neighbour.
  for (size_t i = 0; i + 1 < cuts.size(); i += random() % 3 == 0 ? 1 : 2) {
    const int64_t bytes = (cuts[i + 1] - cuts[i]) * unit;
    segments.push_back({cuts[i] * unit, memory.data() + used, bytes});
    used += bytes;
  }
  std::shuffle(segments.begin(), segments.end(), random);
  return segments;
}

void apply(std::vector<std::byte>& model, const std::vector<WriteSegment>& segments) {
  for (const WriteSegment& segment : segments) {
    if (segment.bytes == 0) {
      continue;
    }
    const size_t end = static_cast<size_t>(segment.offset + segment.bytes);
    if (model.size() < end) {
      model.resize(end, std::byte{0});
    }
    std::copy_n(segment.data, segment.bytes, model.begin() + segment.offset);
  }
}

/// Reads random segments that overlap, some past the end, and compares with the model. Memory for
/// bytes past the end must stay as it was.
void check_random_reads(File& file, const std::vector<std::byte>& model, int64_t unit, std::mt19937_64& random) {
  const int64_t size = static_cast<int64_t>(model.size());
  AlignedBytes memory(static_cast<size_t>(8 * 20 * unit));
  std::fill_n(memory.data(), memory.size(), std::byte{0x5A});
  std::vector<ReadSegment> segments;
  int64_t used = 0;
  int64_t expected_total = 0;
  for (int i = 0; i < 8; ++i) {
    const int64_t offset = static_cast<int64_t>(random() % static_cast<uint64_t>(size / unit + 5)) * unit;
    const int64_t bytes = static_cast<int64_t>(random() % 20) * unit;
    segments.push_back({offset, memory.data() + used, bytes});
    used += bytes;
    expected_total += std::clamp<int64_t>(size - offset, 0, bytes);
  }
  const auto total = file.read(segments);
  ASSERT_TRUE(total.ok()) << total.status().message();
  EXPECT_EQ(*total, expected_total);
  for (const ReadSegment& segment : segments) {
    for (int64_t i = 0; i < segment.bytes; ++i) {
      const std::byte expected = segment.offset + i < size ? model[static_cast<size_t>(segment.offset + i)] : std::byte{0x5A};
      ASSERT_EQ(segment.data[i], expected) << "at file offset " << segment.offset + i << " of " << size;
    }
  }
}

TEST_P(DriverTest, RandomListsMatchTheModel) {
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(25); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto file = open("random", OpenOptions::Mode::kCreate);
    std::vector<std::byte> model;
    for (int step = 0; step < 10; ++step) {
      AlignedBytes memory(static_cast<size_t>(100 * unit()));
      memory.fill_random(random);
      const auto segments = random_disjoint_list(random, 100, unit(), 1 + random() % 12, memory);
      if (step % 2 == 0) {
        STRIA_EXPECT_OK(file->write(segments));
      } else {
        STRIA_EXPECT_OK(file->start_write(segments)->wait());
      }
      apply(model, segments);
      if (random() % 4 == 0) {
        model.resize(static_cast<size_t>(random() % 110) * static_cast<size_t>(unit()), std::byte{0});
        STRIA_EXPECT_OK(file->resize(static_cast<int64_t>(model.size())));
      }
      const auto size = file->size();
      ASSERT_TRUE(size.ok());
      ASSERT_EQ(*size, static_cast<int64_t>(model.size()));
      check_random_reads(*file, model, unit(), random);
    }
    STRIA_EXPECT_OK(file->close());
  }
}

// Pieces of 24 bytes in rows of 40. A storage that takes descriptions moves them; any
// other refuses.
TEST_P(DriverTest, DatatypesAreTakenOrRefused) {
  const auto file = open("types", OpenOptions::Mode::kCreate);
  const Datatype type = Datatype::vector(3000, 24, 40, Datatype::bytes(1)).value();
  const ByteRange window{12, type.size() - 5};
  std::mt19937_64 random(11);
  AlignedBytes data(static_cast<size_t>(window.size()));
  data.fill_random(random);
  const Status written = file->write_type({type, 77, window}, data.data());
  AlignedBytes back(data.size());
  if (!file->capabilities().native_types) {
    EXPECT_EQ(written.code(), ErrorCode::kUnsupported);
    EXPECT_NE(written.message().find("types"), std::string::npos) << written.message();
    EXPECT_EQ(file->read_type({type, 77, window}, back.data()).status().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(file->size().value(), 0);
    return;
  }
  STRIA_EXPECT_OK(written);
  EXPECT_EQ(file->size().value(), 77 + 2999 * 40 + 24 - 5);
  EXPECT_EQ(file->read_type({type, 77, window}, back.data()).value(), window.size());
  EXPECT_EQ(std::memcmp(back.data(), data.data(), data.size()), 0);
  std::vector<std::byte> row(24);
  const ReadSegment fifth{77 + 5 * 40, row.data(), 24};
  EXPECT_EQ(file->read({&fifth, 1}).value(), 24);
  EXPECT_EQ(std::memcmp(row.data(), data.data() + 5 * 24 - 12, 24), 0);
  STRIA_EXPECT_OK(file->resize(77 + 10 * 40 + 3));
  EXPECT_EQ(file->read_type({type, 77, window}, back.data()).value(), 10 * 24 + 3 - 12) << "short where the file ends";
}

TEST_P(DriverTest, ShortAtAnOddEnd) {
  const auto file = open("odd", OpenOptions::Mode::kCreate);
  AlignedBytes data(static_cast<size_t>(2 * block()));
  std::fill_n(data.data(), data.size(), std::byte{7});
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, data.data(), 2 * block()}}));
  STRIA_EXPECT_OK(file->resize(block() + 13));
  AlignedBytes back(static_cast<size_t>(3 * block()));
  std::fill_n(back.data(), back.size(), std::byte{0x5A});
  const auto total = file->read(std::vector<ReadSegment>{{0, back.data(), 3 * block()}});
  ASSERT_TRUE(total.ok()) << total.status().message();
  EXPECT_EQ(*total, block() + 13);
  EXPECT_EQ(back.data()[block() + 12], std::byte{7});
  EXPECT_EQ(back.data()[block() + 13], std::byte{0x5A});
  EXPECT_EQ(back.data()[3 * block() - 1], std::byte{0x5A});
}

TEST_P(DriverTest, ReadsNeedNoAlignment) {
  const auto file = open("unaligned", OpenOptions::Mode::kCreate);
  AlignedBytes data(static_cast<size_t>(2 * block()));
  std::mt19937_64 random(5);
  data.fill_random(random);
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, data.data(), 2 * block()}}));
  AlignedBytes back(1000);
  ASSERT_EQ(*file->read(std::vector<ReadSegment>{{block() - 300, back.data() + 3, 900}}), 900);
  EXPECT_EQ(std::memcmp(back.data() + 3, data.data() + block() - 300, 900), 0);
}

TEST_P(DriverTest, HolesAreZeroBeyondFourGibibytes) {
  const auto file = open("sparse", OpenOptions::Mode::kCreate);
  const int64_t far = (int64_t{5} << 30) + 3 * block();
  AlignedBytes data(static_cast<size_t>(block()));
  std::fill_n(data.data(), data.size(), std::byte{9});
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{far, data.data(), block()}, {block(), data.data(), block()}}));
  EXPECT_EQ(*file->size(), far + block());
  AlignedBytes back(static_cast<size_t>(3 * block()));
  std::fill_n(back.data(), back.size(), std::byte{0x5A});
  const auto total = file->read(std::vector<ReadSegment>{{far - block(), back.data(), 3 * block()}});
  ASSERT_TRUE(total.ok()) << total.status().message();
  EXPECT_EQ(*total, 2 * block());
  EXPECT_EQ(back.data()[0], std::byte{0});
  EXPECT_EQ(back.data()[block() - 1], std::byte{0});
  EXPECT_EQ(back.data()[block()], std::byte{9});
  EXPECT_EQ(back.data()[2 * block()], std::byte{0x5A});
  STRIA_EXPECT_OK(file->resize(far + (int64_t{1} << 32)));
  EXPECT_EQ(*file->size(), far + (int64_t{1} << 32));
}

TEST_P(DriverTest, NothingIsValidInput) {
  const auto file = open("empty", OpenOptions::Mode::kCreate);
  STRIA_EXPECT_OK(file->write({}));
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{int64_t{1} << 40, nullptr, 0}}));
  STRIA_EXPECT_OK(file->start_write({})->wait());
  EXPECT_EQ(*file->size(), 0);
  EXPECT_EQ(*file->read({}), 0);
  EXPECT_EQ(*file->read(std::vector<ReadSegment>{{0, nullptr, 0}}), 0);
  STRIA_EXPECT_OK(file->preallocate(0));
}

TEST_P(DriverTest, ManyNeighboursInOneList) {
  const auto file = open("neighbours", OpenOptions::Mode::kCreate);
  constexpr int64_t kCount = 2500;  // more than one vectored call takes
  AlignedBytes data(static_cast<size_t>(kCount * unit()));
  std::mt19937_64 random(11);
  data.fill_random(random);
  std::vector<WriteSegment> segments;
  std::vector<ReadSegment> reads;
  AlignedBytes back(data.size());
  for (int64_t i = 0; i < kCount; ++i) {
    segments.push_back({i * unit(), data.data() + (kCount - 1 - i) * unit(), unit()});
    reads.push_back({i * unit(), back.data() + (kCount - 1 - i) * unit(), unit()});
  }
  STRIA_EXPECT_OK(file->write(segments));
  EXPECT_EQ(*file->read(reads), kCount * unit());
  EXPECT_EQ(std::memcmp(back.data(), data.data(), data.size()), 0);
}

TEST_P(DriverTest, SeveralWritesUnderWay) {
  const auto file = open("concurrent", OpenOptions::Mode::kCreate);
  constexpr int kWrites = 7;
  const int64_t bytes = 64 * block();
  std::vector<AlignedBytes> data;
  std::vector<std::unique_ptr<PendingWrite>> pending;
  std::mt19937_64 random(3);
  for (int i = 0; i < kWrites; ++i) {
    data.emplace_back(static_cast<size_t>(bytes)).fill_random(random);
  }
  for (int i = 0; i < kWrites; ++i) {
    std::byte* memory = data[static_cast<size_t>(i)].data();
    // The list itself need not live until the write is over.
    pending.push_back(file->start_write(std::vector<WriteSegment>{{(2 * i + 1) * bytes / 2, memory + bytes / 2, bytes / 2},
                                                                  {2 * i * bytes / 2, memory, bytes / 2}}));
  }
  for (int i = kWrites - 1; i > 0; --i) {
    STRIA_EXPECT_OK(pending[static_cast<size_t>(i)]->wait());
    EXPECT_TRUE(pending[static_cast<size_t>(i)]->done());
  }
  pending.clear();  // the first is dropped without wait(), and must be over nevertheless
  AlignedBytes back(static_cast<size_t>(bytes));
  for (int i = 0; i < kWrites; ++i) {
    EXPECT_EQ(*file->read(std::vector<ReadSegment>{{i * bytes, back.data(), bytes}}), bytes);
    EXPECT_EQ(std::memcmp(back.data(), data[static_cast<size_t>(i)].data(), static_cast<size_t>(bytes)), 0) << i;
  }
  auto last = file->start_write(std::vector<WriteSegment>{{0, data[1].data(), bytes}});
  while (!last->done()) {
  }
  STRIA_EXPECT_OK(last->wait());
  STRIA_EXPECT_OK(file->close());
}

TEST_P(DriverTest, PlacesThatNoFileHasAreRefused) {
  const auto file = open("bad", OpenOptions::Mode::kCreate);
  AlignedBytes data(static_cast<size_t>(block()));
  for (const auto& [offset, bytes] : {std::pair<int64_t, int64_t>{-1, 1}, {0, -1}, {std::numeric_limits<int64_t>::max(), 2}}) {
    const Status written = file->write(std::vector<WriteSegment>{{0, data.data(), block()}, {offset, data.data(), bytes}});
    EXPECT_EQ(written.code(), ErrorCode::kInvalidArgument) << written.message();
    EXPECT_FALSE(file->start_write(std::vector<WriteSegment>{{offset, data.data(), bytes}})->wait().ok());
    EXPECT_EQ(file->read(std::vector<ReadSegment>{{offset, data.data(), bytes}}).status().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(file->resize(-1).ok());
  EXPECT_EQ(*file->size(), 0) << "a refused list writes nothing";
}

TEST_P(DriverTest, ClosedFilesSayNo) {
  const auto file = open("closed", OpenOptions::Mode::kCreate);
  STRIA_EXPECT_OK(file->close());
  AlignedBytes data(static_cast<size_t>(block()));
  EXPECT_FALSE(file->write(std::vector<WriteSegment>{{0, data.data(), block()}}).ok());
  EXPECT_FALSE(file->start_write(std::vector<WriteSegment>{{0, data.data(), block()}})->wait().ok());
  EXPECT_FALSE(file->read(std::vector<ReadSegment>{{0, data.data(), block()}}).ok());
  EXPECT_FALSE(file->size().ok());
  EXPECT_FALSE(file->resize(1).ok());
  EXPECT_FALSE(file->preallocate(1).ok());
  EXPECT_FALSE(file->sync().ok());
  EXPECT_FALSE(file->close().ok());
}

TEST_P(DriverTest, ModesDoWhatTheySay) {
  EXPECT_EQ(try_open("mode", OpenOptions::Mode::kRead).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(try_open("mode", OpenOptions::Mode::kReadWrite).status().code(), ErrorCode::kNotFound);
  write_block("mode", std::byte{1}, OpenOptions::Mode::kCreateNew);
  const auto again = try_open("mode", OpenOptions::Mode::kCreateNew);
  EXPECT_EQ(again.status().code(), ErrorCode::kAlreadyExists);
  EXPECT_NE(again.status().message().find(path("mode")), std::string::npos) << again.status().message();
  EXPECT_EQ(*open("mode", OpenOptions::Mode::kReadWrite)->size(), block());
  AlignedBytes data(static_cast<size_t>(block()));
  const auto reader = open("mode", OpenOptions::Mode::kRead);
  EXPECT_FALSE(reader->write(std::vector<WriteSegment>{{0, data.data(), block()}}).ok());
  EXPECT_EQ(*open("mode", OpenOptions::Mode::kCreate)->size(), 0);
}

TEST_P(DriverTest, NamesAreReplacedAtOnce) {
  write_block("old", std::byte{1}, OpenOptions::Mode::kCreate);
  write_block("new", std::byte{2}, OpenOptions::Mode::kCreate);
  const auto held = open("old", OpenOptions::Mode::kRead);
  STRIA_EXPECT_OK(driver().rename(path("new"), path("old")));
  STRIA_EXPECT_OK(driver().sync_directory(path("old")));
  EXPECT_FALSE(*driver().exists(path("new")));
  EXPECT_TRUE(*driver().exists(path("old")));
  EXPECT_EQ(first_byte(*held), std::byte{1}) << "an open file stays what it was";
  EXPECT_EQ(first_byte(*open("old", OpenOptions::Mode::kRead)), std::byte{2});
  write_block("another", std::byte{3}, OpenOptions::Mode::kCreate);
  const auto names = driver().list_directory(directory());
  ASSERT_TRUE(names.ok()) << names.status().message();
  EXPECT_EQ(*names, (std::vector<std::string>{"another", "old"}));
  STRIA_EXPECT_OK(driver().remove(path("old")));
  EXPECT_EQ(driver().remove(path("old")).code(), ErrorCode::kNotFound);
  EXPECT_EQ(driver().rename(path("old"), path("x")).code(), ErrorCode::kNotFound);
  EXPECT_FALSE(*driver().exists(path("old")));
}

TEST_P(DriverTest, ANameTellsWhoseItIsAndWhenItChanged) {
  EXPECT_EQ(driver().name_info(path("f")).status().code(), ErrorCode::kNotFound);
  write_block("f", std::byte{1}, OpenOptions::Mode::kCreate);
  const auto before = driver().name_info(path("f"));
  ASSERT_TRUE(before.ok()) << before.status().message();
  EXPECT_TRUE(before->is_plain_file && before->is_mine);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // clocks of files are coarse
  write_block("f", std::byte{2}, OpenOptions::Mode::kReadWrite);
  const auto after = driver().name_info(path("f"));
  ASSERT_TRUE(after.ok()) << after.status().message();
  ASSERT_EQ(before->changed_ns.has_value(), after->changed_ns.has_value());
  if (after->changed_ns) {
    EXPECT_GT(*after->changed_ns, *before->changed_ns);
  }
  EXPECT_TRUE(driver().open(path("f"), {.mode = OpenOptions::Mode::kReadWrite, .mine_only = true}).ok());
}

TEST_P(DriverTest, AFileKeepsTheModeOfTheOneThatItReplaces) {
  EXPECT_FALSE(driver().find_destination(path("new")).value().replaced);
  write_block("old", std::byte{1}, OpenOptions::Mode::kCreate);
  EXPECT_EQ(driver().follow_links(path("old")), path("old"));
  Destination found = driver().find_destination(path("old")).value();
  EXPECT_EQ(found.path, path("old"));
  if (!found.replaced) {
    return;  // a storage without modes
  }
  EXPECT_EQ(driver().find_destination(directory()).status().code(), ErrorCode::kInvalidArgument);
  found.replaced->mode = 0640;
  const auto made = driver().open(path("new"), {.mode = OpenOptions::Mode::kCreateNew, .permissions = 0600}).value();
  EXPECT_EQ(driver().find_destination(path("new")).value().replaced->mode, 0600U);
  STRIA_EXPECT_OK(driver().set_attributes(*made, *found.replaced));
  STRIA_EXPECT_OK(driver().rename(path("new"), path("old")));
  EXPECT_EQ(driver().find_destination(path("old")).value().replaced->mode, 0640U);
}

TEST_P(DriverTest, ALinkLeadsToAFileOrIsRefused) {
  const std::string target = path("target");
  const std::string link = path("link");
  const Status made = driver().make_link(target, link);
  if (made.code() == ErrorCode::kUnsupported) {
    EXPECT_FALSE(driver().exists(link).value());
    return;
  }
  ASSERT_TRUE(made.ok()) << made.message();
  EXPECT_EQ(driver().follow_links(link), target);
  EXPECT_EQ(driver().open(link, {}).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(driver().make_link(target, link).code(), ErrorCode::kAlreadyExists);
  ASSERT_TRUE(driver().open(target, {.mode = OpenOptions::Mode::kCreate}).ok());
  EXPECT_TRUE(driver().open(link, {}).ok());
  EXPECT_EQ(driver().open(link, {.mode = OpenOptions::Mode::kReadWrite, .plain_only = true}).status().code(),
            ErrorCode::kPermissionDenied);
  EXPECT_FALSE(driver().name_info(link)->is_plain_file);
  const std::string other = path("other");
  ASSERT_TRUE(driver().rename(link, other).ok());
  EXPECT_EQ(driver().follow_links(other), target);
  EXPECT_FALSE(driver().exists(link).value());
  ASSERT_TRUE(driver().rename(other, link).ok());
  ASSERT_TRUE(driver().remove(link).ok());
  EXPECT_TRUE(driver().exists(target).value());
  EXPECT_FALSE(driver().exists(link).value());
}

TEST_P(DriverTest, OpenAgainMeansTheOpenFile) {
  write_block("first", std::byte{1}, OpenOptions::Mode::kCreate);
  const auto held = open("first", OpenOptions::Mode::kReadWrite);
  STRIA_EXPECT_OK(driver().rename(path("first"), path("moved")));
  write_block("first", std::byte{2}, OpenOptions::Mode::kCreate);
  const OpenOptions options{.mode = OpenOptions::Mode::kReadWrite, .direct = GetParam().direct};
  auto again = driver().open_again(*held, options);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ((*again)->path(), path("first")) << "messages know the file by the name that the program gave it";
  AlignedBytes data(static_cast<size_t>(block()));
  std::memset(data.data(), 3, data.size());
  STRIA_EXPECT_OK((*again)->write(std::vector<WriteSegment>{{0, data.data(), block()}}));
  STRIA_EXPECT_OK((*again)->start_write(std::vector<WriteSegment>{{block(), data.data(), block()}})->wait());
  EXPECT_EQ(first_byte(*held), std::byte{3});
  EXPECT_EQ(*held->size(), 2 * block());
  EXPECT_EQ(first_byte(*open("moved", OpenOptions::Mode::kRead)), std::byte{3});
  EXPECT_EQ(first_byte(*open("first", OpenOptions::Mode::kRead)), std::byte{2});
  // Each handle works to its own end, even when the file has no name left.
  STRIA_EXPECT_OK(driver().remove(path("moved")));
  STRIA_EXPECT_OK((*again)->close());
  const auto third = driver().open_again(*held, {.mode = OpenOptions::Mode::kRead, .direct = GetParam().direct});
  ASSERT_TRUE(third.ok()) << third.status().message();
  STRIA_EXPECT_OK(held->close());
  EXPECT_EQ(first_byte(**third), std::byte{3});
  EXPECT_FALSE((*third)->write(std::vector<WriteSegment>{{0, data.data(), block()}}).ok()) << "opened for reading";
}

TEST_P(DriverTest, OpenAgainIsAHandleOfItsOwn) {
  write_block("own", std::byte{1}, OpenOptions::Mode::kCreate);
  const auto first = open("own", OpenOptions::Mode::kReadWrite);
  OpenOptions options{.mode = OpenOptions::Mode::kReadWrite, .direct = GetParam().direct};
  const auto second = driver().open_again(*first, options);
  ASSERT_TRUE(second.ok()) << second.status().message();
  auto held = first->lock({0, 10}, LockMode::kExclusive);
  ASSERT_TRUE(held.ok()) << held.status().message();
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE((*second)->lock({5, 6}, LockMode::kExclusive).ok());
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(entered) << "the two must exclude each other";
  *held = nullptr;
  waiter.join();
  options.exclusive_lock = true;
  EXPECT_EQ(driver().open_again(*first, options).status().code(), ErrorCode::kInvalidArgument);
  options = {.mode = OpenOptions::Mode::kCreate, .direct = GetParam().direct};
  EXPECT_EQ(driver().open_again(*first, options).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(*first->size(), block()) << "nothing was cut";
  STRIA_EXPECT_OK(first->close());
  EXPECT_FALSE(driver().open_again(*first, {.mode = OpenOptions::Mode::kRead, .direct = GetParam().direct}).ok());
}

TEST_P(DriverTest, IdentitiesTellFilesApart) {
  write_block("one", std::byte{1}, OpenOptions::Mode::kCreate);
  write_block("two", std::byte{2}, OpenOptions::Mode::kCreate);
  const auto one = open("one", OpenOptions::Mode::kRead);
  const auto held = one->identity();
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(*held, *driver().identity(path("one")));
  EXPECT_NE(*held, *driver().identity(path("two")));
  STRIA_EXPECT_OK(driver().rename(path("two"), path("one")));
  EXPECT_NE(*held, *driver().identity(path("one"))) << "the name means another file now";
  EXPECT_EQ(*held, *one->identity());
  EXPECT_EQ(driver().identity(path("two")).status().code(), ErrorCode::kNotFound);
}

TEST_P(DriverTest, LocksKeepOthersOut) {
  write_block("locked", std::byte{4}, OpenOptions::Mode::kCreate);
  auto holder = try_open("locked", OpenOptions::Mode::kReadWrite, true);
  ASSERT_TRUE(holder.ok()) << holder.status().message();
  for (const auto mode : {OpenOptions::Mode::kReadWrite, OpenOptions::Mode::kCreate}) {
    const auto second = try_open("locked", mode, true);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), ErrorCode::kAlreadyExists);
    EXPECT_NE(second.status().message().find("in use by another program"), std::string::npos) << second.status().message();
  }
  EXPECT_EQ(*(*holder)->size(), block()) << "a refused kCreate must not cut the file";
  EXPECT_EQ(first_byte(*open("locked", OpenOptions::Mode::kRead)), std::byte{4}) << "the lock is advisory";
  STRIA_EXPECT_OK((*holder)->close());
  auto next = try_open("locked", OpenOptions::Mode::kCreate, true);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(*(*next)->size(), 0);
}

TEST_P(DriverTest, RangeLocksExcludeOtherHandles) {
  write_block("ranges", std::byte{6}, OpenOptions::Mode::kCreate);
  const auto first = open("ranges", OpenOptions::Mode::kReadWrite);
  const auto second = open("ranges", OpenOptions::Mode::kReadWrite);
  auto held = first->lock({100, 200}, LockMode::kExclusive);
  ASSERT_TRUE(held.ok()) << held.status().message();
  // A range that doesn't overlap is free, even past the end of the file.
  EXPECT_TRUE(second->lock({0, 100}, LockMode::kExclusive).ok());
  EXPECT_TRUE(second->lock({200, int64_t{1} << 40}, LockMode::kShared).ok());
  std::atomic<bool> entered{false};
  std::thread waiter([&] {
    EXPECT_TRUE(second->lock({199, 300}, LockMode::kShared).ok());
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(entered);
  *held = nullptr;
  waiter.join();
  EXPECT_TRUE(entered);
  const auto one = first->lock({0, 50}, LockMode::kShared);
  const auto two = second->lock({0, 50}, LockMode::kShared);
  EXPECT_TRUE(one.ok() && two.ok()) << "two may share";
}

TEST_P(DriverTest, RangeLocksAreTriedAndAskedFor) {
  write_block("tried", std::byte{6}, OpenOptions::Mode::kCreate);
  const auto first = open("tried", OpenOptions::Mode::kReadWrite);
  const auto second = open("tried", OpenOptions::Mode::kReadWrite);
  const int64_t far = int64_t{1} << 62;
  auto shared = first->try_lock({far, far + 10}, LockMode::kShared);
  ASSERT_TRUE(shared.ok() && *shared != nullptr);
  EXPECT_TRUE(*second->is_locked_elsewhere({far + 9, far + 20}));
  EXPECT_FALSE(*second->is_locked_elsewhere({far + 10, far + 20}));
  EXPECT_FALSE(*first->is_locked_elsewhere({0, far + 20})) << "its own doesn't count";
  const auto also = second->try_lock({far, far + 10}, LockMode::kShared);
  EXPECT_TRUE(also.ok() && *also != nullptr);
  const auto refused = second->try_lock({far - 1, far + 1}, LockMode::kExclusive);
  EXPECT_TRUE(refused.ok() && *refused == nullptr);
  *shared = nullptr;
  EXPECT_FALSE(*second->is_locked_elsewhere({far, far + 10}));
}

TEST_P(DriverTest, LockedWritesAreWrittenUnderTheLock) {
  write_block("gated", std::byte{6}, OpenOptions::Mode::kCreate);
  const auto file = open("gated", OpenOptions::Mode::kReadWrite);
  const auto other = open("gated", OpenOptions::Mode::kReadWrite);
  AlignedBytes data(static_cast<size_t>(block()));
  data.data()[0] = std::byte{8};
  const auto pending = file->start_locked_write(std::vector<WriteSegment>{{0, data.data(), block()}}, [&] {
    return file->lock({0, block()}, LockMode::kShared);
  });
  STRIA_EXPECT_OK(pending->wait());
  EXPECT_FALSE(*other->is_locked_elsewhere({0, block()}));
  EXPECT_EQ(first_byte(*other), std::byte{8});
  const auto refused = file->start_locked_write(std::vector<WriteSegment>{{0, data.data(), block()}},
                                                [] { return Status(ErrorCode::kIo, "no lock"); });
  EXPECT_EQ(refused->wait().code(), ErrorCode::kIo);
}

TEST_P(DriverTest, SyncsAndReserves) {
  write_block("synced", std::byte{5}, OpenOptions::Mode::kCreate);
  const auto file = open("synced", OpenOptions::Mode::kReadWrite);
  STRIA_EXPECT_OK(file->sync());
  const Status reserved = file->preallocate(10 * block());
  if (reserved.code() != ErrorCode::kUnsupported) {
    STRIA_EXPECT_OK(reserved);
    EXPECT_EQ(*file->size(), 10 * block());
    STRIA_EXPECT_OK(file->preallocate(block()));
    EXPECT_EQ(*file->size(), 10 * block()) << "reserving less must not cut";
  }
  EXPECT_EQ(first_byte(*file), std::byte{5});
  STRIA_EXPECT_OK(file->close());
}

TEST_P(DriverTest, CapabilitiesMakeSense) {
  const auto file = open("able", OpenOptions::Mode::kCreate);
  const Capabilities& able = file->capabilities();
  EXPECT_GT(able.block_bytes, 0);
  EXPECT_GT(able.lock_unit_bytes, 0);
  EXPECT_GE(able.stripe_count, 1);
  EXPECT_EQ(able.direct_align_bytes & (able.direct_align_bytes - 1), 0);
  EXPECT_EQ(file->path(), path("able"));
  if (GetParam().direct) {
    EXPECT_GT(able.direct_align_bytes, 0);
  }
}

}  // namespace
}  // namespace stria::storage
