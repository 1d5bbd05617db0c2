// The striped driver with real servers in this process: the conformance suite, and what
// only a store has.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "datatype/cursor.hpp"
#include "server/cluster_test.hpp"
#include "storage/conformance_test.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"
#include "storage/striped/striped_driver.hpp"
#include "storage/striped/striped_file.hpp"
#include "support/naive_datatype.hpp"
#include "support/rounds.hpp"

namespace stria::storage {
namespace {

using server::testing::Cluster;
using testing::DriverCase;
using testing::DriverTest;

/// Ends a cluster before the program's static objects, which the servers' threads use.
class ClusterEnd : public ::testing::Environment {
 public:
  explicit ClusterEnd(std::shared_ptr<std::unique_ptr<Cluster>> cluster) : cluster_(std::move(cluster)) {}
  void TearDown() override { cluster_->reset(); }

 private:
  std::shared_ptr<std::unique_ptr<Cluster>> cluster_;
};

DriverCase on_cluster(const std::string& name, int servers, bool over_unix) {
  // Started by the first test that needs it.
  auto cluster = std::make_shared<std::unique_ptr<Cluster>>();
  ::testing::AddGlobalTestEnvironment(new ClusterEnd(cluster));
  auto count = std::make_shared<int>(0);
  DriverCase driver_case{name, [] { return make_driver("posix"); }, "", false, nullptr};
  driver_case.fresh_directory = [=] {
    if (*cluster == nullptr) {
      *cluster = std::make_unique<Cluster>(servers, over_unix);
    }
    return (*cluster)->url() + "/test" + std::to_string(++*count);
  };
  return driver_case;
}

INSTANTIATE_TEST_SUITE_P(Striped, DriverTest,
                         ::testing::Values(on_cluster("one_server", 1, false), on_cluster("four_servers", 4, false),
                                           on_cluster("three_over_unix_sockets", 3, true)),
                         testing::case_name);

/// Returns a file of a store as the driver makes it.
std::unique_ptr<StripedFile> open_striped(const std::string& path) {
  StripedDriver driver;
  auto file = driver.open(path, {.mode = OpenOptions::Mode::kCreate}).value();
  return std::unique_ptr<StripedFile>(dynamic_cast<StripedFile*>(file.release()));
}

/// Returns places and packed positions of the bytes of a window, one by one.
std::vector<std::pair<int64_t, size_t>> naive_places(const Datatype& type, int64_t displacement, ByteRange window) {
  std::vector<std::pair<int64_t, size_t>> places;
  Cursor cursor(type, displacement);
  for (cursor.seek(window.begin); cursor.stream_position() < window.end; cursor.advance(1)) {
    places.emplace_back(cursor.piece().begin, static_cast<size_t>(cursor.stream_position() - window.begin));
  }
  return places;
}

TEST(Striped, PathsOfAStoreAreAbsolute) {
  EXPECT_EQ(absolute_path("stria://h:1/x"), "stria://h:1/x");
}

TEST(Striped, AnotherFileOfTheNameIsToldApart) {
  const Cluster cluster(2);
  const std::string path = cluster.url() + "/name";
  StripedDriver driver;
  OpenOptions options;
  options.expected_number = open_striped(path)->identity().value().number;
  EXPECT_TRUE(driver.open(path, options).ok());
  STRIA_EXPECT_OK(driver.remove(path));
  EXPECT_NE(open_striped(path)->identity().value().number, options.expected_number) << "numbers are not used again";
  EXPECT_EQ(driver.open(path, options).status().code(), ErrorCode::kIo);
}

// Long runs are sent without a copy. If a write changes them on their way, they are sent again.
TEST(Striped, BytesThatAreWrittenWhileTheyAreReadAreNotTorn) {
  constexpr int64_t kBytes = 1 << 20;
  constexpr size_t kBlock = 4096;
  const Cluster cluster(2);
  const auto file = open_striped(cluster.url() + "/both");
  std::vector<std::byte> bytes(kBytes, std::byte{0});
  const WriteSegment written{0, bytes.data(), kBytes};
  STRIA_EXPECT_OK(file->write({&written, 1}));
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    StripedDriver driver;
    const auto other = driver.open(cluster.url() + "/both", {.mode = OpenOptions::Mode::kReadWrite}).value();
    std::vector<std::byte> data(kBytes);
    for (int value = 0; !ended; ++value) {
      std::fill(data.begin(), data.end(), static_cast<std::byte>(value));
      const WriteSegment all{0, data.data(), kBytes};
      STRIA_EXPECT_OK(other->write({&all, 1}));
      // Quiet for longer than views are withheld, now and then.
      std::this_thread::sleep_for(std::chrono::milliseconds(value % 50 == 49 ? 2500 : 1));
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < end) {
    const ReadSegment all{0, bytes.data(), kBytes};
    EXPECT_EQ(file->read({&all, 1}).value(), kBytes);
    for (size_t block = 0; block < bytes.size(); block += kBlock) {
      const auto begin = bytes.begin() + static_cast<ptrdiff_t>(block);
      ASSERT_TRUE(std::all_of(begin, begin + kBlock, [&](std::byte each) { return each == *begin; })) << block;
    }
  }
  ended = true;
  writer.join();
}

/// Returns what the manager knows about the places of a file's bytes.
wire::Opened place_of(const Cluster& cluster, const std::string& name) {
  const auto reply = Store::at(cluster.address()).value()->ask_manager(wire::Kind::kStat, wire::encode(wire::Path{name}));
  return wire::decode<wire::Attributes>(reply.value()).value().place;
}

std::vector<int64_t> servers_of(const wire::Opened& place) {
  std::vector<int64_t> indices;
  for (const wire::ServerPlace& slot : place.slots) {
    indices.push_back(slot.index);
  }
  return indices;
}

TEST(Striped, WhoMakesAFileSaysHowItIsStriped) {
  const Cluster cluster(4);
  StripedDriver driver;
  const auto striped = [&](const std::string& name, const Striping& striping) {
    const OpenOptions options{.mode = OpenOptions::Mode::kCreate, .striping = striping};
    const auto file = driver.open(cluster.url() + name, options).value();
    const wire::Opened place = place_of(cluster, name);
    EXPECT_EQ(file->capabilities().stripe_bytes, place.stripe_bytes);
    EXPECT_EQ(file->capabilities().stripe_count, static_cast<int>(place.slots.size()));
    return place;
  };
  const std::vector<int64_t> all = servers_of(striped("/unsaid", {}));
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(striped("/unit", {.unit_bytes = 65536}).stripe_bytes, 65536);
  EXPECT_EQ(servers_of(striped("/two", {.server_count = 2})).size(), 2u);
  EXPECT_EQ(servers_of(striped("/last", {.server_count = 3, .first_server = 3})), (std::vector<int64_t>{3, 0, 1}));
  EXPECT_EQ(servers_of(striped("/unit", {.unit_bytes = 1 << 20, .server_count = 1})).size(), 4u) << "one that is there";
  // An impossible wish gives the nearest possible value.
  EXPECT_EQ(striped("/tiny", {.unit_bytes = 1}).stripe_bytes, 4096);
  EXPECT_EQ(striped("/odd", {.unit_bytes = 10000}).stripe_bytes, 8192);
  EXPECT_EQ(striped("/huge", {.unit_bytes = int64_t{1} << 40}).stripe_bytes, 1 << 30);
  EXPECT_EQ(servers_of(striped("/many", {.server_count = 9, .first_server = 9})), (std::vector<int64_t>{0, 1, 2, 3}));
}

/// Writes a random window of the type and reads it back, also after a cut.
void check_type(StripedFile& file, const Datatype& type, std::mt19937_64& random) {
  const int64_t displacement = static_cast<int64_t>(random() % 300000) - type.true_lower_bound();
  const auto begin = static_cast<int64_t>(random() % static_cast<uint64_t>(type.size()));
  const ByteRange window{begin, begin + static_cast<int64_t>(random() % static_cast<uint64_t>(type.size() - begin + 1))};
  testing::AlignedBytes data(static_cast<size_t>(window.size()));
  data.fill_random(random);
  STRIA_EXPECT_OK(file.write_type({type, displacement, window}, data.data()));
  const auto places = naive_places(type, displacement, window);
  std::vector<std::byte> model(places.empty() ? 0 : static_cast<size_t>(std::ranges::max(places).first) + 1, std::byte{0});
  for (const auto& [place, at] : places) {
    model[static_cast<size_t>(place)] = data.data()[at];
  }
  ASSERT_EQ(file.size().value(), static_cast<int64_t>(model.size()));
  std::vector<std::byte> back(model.size());
  const ReadSegment all{0, back.data(), static_cast<int64_t>(back.size())};
  ASSERT_EQ(file.read({&all, 1}).value(), all.bytes);
  ASSERT_TRUE(back == model);
  // Read again after a cut: memory for what lies beyond stays untouched.
  const auto cut = static_cast<int64_t>(random() % (model.size() + 1));
  STRIA_EXPECT_OK(file.resize(cut));
  testing::AlignedBytes again(data.size());
  std::memset(again.data(), 0x5A, again.size());
  const auto count = std::count_if(places.begin(), places.end(), [&](const auto& entry) { return entry.first < cut; });
  ASSERT_EQ(file.read_type({type, displacement, window}, again.data()).value(), count);
  for (const auto& [place, at] : places) {
    ASSERT_EQ(again.data()[at], place < cut ? model[static_cast<size_t>(place)] : std::byte{0x5A}) << "at " << place;
  }
}

TEST(Striped, DatatypesMatchTheModel) {
  const Cluster cluster(3);
  int checked = 0;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test::seed_of(i)));
    std::mt19937_64 random(test::seed_of(i));
    // Elements have many bytes, so that types extend over several stripes.
    const Datatype type = test::TypeGenerator(test::seed_of(i), 1777).any(3).type;
    if (!type.is_sorted() || type.size() == 0 || type.true_upper_bound() - type.true_lower_bound() > 8 << 20) {
      continue;
    }
    ++checked;
    const auto file = open_striped(cluster.url() + "/type" + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(check_type(*file, type, random));
  }
  EXPECT_GT(checked, 20);
}

// Regular pieces of any size and distance: over many messages, cut by stripes and blocks, also of
// which one overlaps the next.
TEST(Striped, VectorsMatchTheModel) {
  const Cluster cluster(3);
  for (int i = 0; i < rounds(24); ++i) {
    SCOPED_TRACE("seed " + std::to_string(test::seed_of(i)));
    std::mt19937_64 random(test::seed_of(i));
    const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
    const int64_t unit = i % 3 == 0 ? 8 : 1;
    const int64_t piece = unit * up_to(i % 4 == 0 ? 900 : 5);
    const int64_t stride = i % 6 == 5 ? up_to(piece) : piece + unit * up_to(i % 2 == 0 ? 4 : 300);
    const int64_t count = std::min<int64_t>(1500000 / piece, (8 << 20) / stride);
    const Datatype type = Datatype::vector(count, piece, stride, Datatype::bytes(1)).value();
    const auto file = open_striped(cluster.url() + "/vector" + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(check_type(*file, type, random));
  }
}

// The case for Ching's list I/O: many small pieces in one request; here 70,000 of 8 bytes, more
// than one message holds.
TEST(Striped, VeryManySmallPieces) {
  const Cluster cluster(4);
  const auto file = open_striped(cluster.url() + "/pieces");
  constexpr int64_t kCount = 70000;
  constexpr int64_t kStride = 24;
  testing::AlignedBytes data(kCount * 8);
  std::mt19937_64 random(9);
  data.fill_random(random);
  std::vector<WriteSegment> segments;
  for (int64_t i = 0; i < kCount; ++i) {
    segments.push_back({i * kStride, data.data() + i * 8, 8});
  }
  for (int round = 0; round < 2; ++round) {  // first into nothing, then through mappings
    STRIA_EXPECT_OK(file->write(segments));
    std::vector<std::byte> back(static_cast<size_t>(kCount * kStride), std::byte{1});
    const ReadSegment all{0, back.data(), kCount * kStride};
    ASSERT_EQ(file->read({&all, 1}).value(), (kCount - 1) * kStride + 8);
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(std::memcmp(back.data() + i * kStride, data.data() + i * 8, 8), 0) << i;
      ASSERT_TRUE(i + 1 == kCount || back[static_cast<size_t>(i * kStride + 8)] == std::byte{0});
    }
    STRIA_EXPECT_OK(file->resize((kCount - 1) * kStride + 8));
    std::reverse(segments.begin(), segments.end());
  }
}

}  // namespace
}  // namespace stria::storage
