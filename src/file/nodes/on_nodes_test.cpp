// Parts and parity on disks that only one node sees, on simulated ranks: each lies on its node's
// disk, is read on other nodes and on fewer, and is made again where a node is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "file/nodes/node_places.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/path.hpp"
#include "support/rounds.hpp"

namespace stria::file::test {
namespace {

using storage::MemoryDriver;

/// Shows what one node sees: storage that all share, and below /local a disk of its own.
class NodeView final : public storage::Driver {
 public:
  NodeView(MemoryDriver& shared, int disk) : shared_(shared), disk_(disk) {}

  static std::string place_of(int disk, const std::string& path) { return "/disk" + std::to_string(disk) + path; }

  const char* name() const override { return shared_.name(); }
  Result<std::unique_ptr<storage::File>> open(const std::string& path, const storage::OpenOptions& options) override {
    return shared_.open(seen(follow_links(path)), options);
  }
  Result<std::unique_ptr<storage::File>> open_again(const storage::File& file, const storage::OpenOptions& options) override {
    return shared_.open_again(file, options);
  }
  Result<storage::Identity> identity(const std::string& path) override { return shared_.identity(seen(follow_links(path))); }
  Result<storage::NameInfo> name_info(const std::string& path) override { return shared_.name_info(seen(path)); }
  std::string follow_links(const std::string& path) override { return path == seen(path) ? shared_.follow_links(path) : path; }
  Result<storage::Destination> find_destination(const std::string& path) override { return shared_.find_destination(path); }
  Status rename(const std::string& from, const std::string& to) override { return shared_.rename(seen(from), seen(to)); }
  Status remove(const std::string& path) override { return shared_.remove(seen(path)); }
  Status make_link(const std::string& target, const std::string& path) override { return shared_.make_link(target, path); }
  Result<bool> exists(const std::string& path) override { return shared_.exists(seen(follow_links(path))); }
  Status sync_directory(const std::string& path) override { return shared_.sync_directory(seen(path)); }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    return shared_.list_directory(seen(directory));
  }

 private:
  std::string seen(const std::string& path) const { return path.starts_with("/local") ? place_of(disk_, path) : path; }

  MemoryDriver& shared_;
  int disk_;
};

/// Returns the disk of the rank's node, where node i has disks[i].
std::shared_ptr<storage::Driver> view(MemoryDriver& memory, const Comm& comm, const std::vector<int>& disks) {
  const int node = comm.node_of_rank()[static_cast<size_t>(comm.rank())];
  return std::make_shared<NodeView>(memory, disks[static_cast<size_t>(node)]);
}

std::vector<int> own_disks(int count) {
  std::vector<int> disks(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    disks[static_cast<size_t>(i)] = i;
  }
  return disks;
}

Setting on_nodes(int nodes, int ranks_per_node, int parts, int parities) {
  Setting setting;
  setting.ranks = nodes * ranks_per_node;
  setting.ranks_per_node = ranks_per_node;
  setting.hints.subfile_count = parts;
  setting.hints.parity_count = parities;
  setting.hints.part_places = {"/local/{node}/run/"};
  setting.path = "/shared/run.h5";
  return setting;
}

void write_on(const Setting& setting, MemoryDriver& memory, const std::vector<int>& disks) {
  on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(write_file(setting, comm, view(memory, comm, disks)).message(), ""); });
}

/// Returns what is wrong with what ranks of these nodes read.
std::string read_on(Setting setting, MemoryDriver& memory, const std::vector<int>& disks, int ranks_per_node) {
  setting.ranks = static_cast<int>(disks.size()) * ranks_per_node;
  setting.ranks_per_node = ranks_per_node;
  setting.hints.part_places.clear();
  std::set<std::string> wrong;
  on_ranks(setting,
           [&](Comm& comm) { wrong.insert(compare_file(setting, comm, view(memory, comm, disks), {.verify = true})); });
  wrong.erase("");
  return wrong.empty() ? "" : *wrong.begin();
}

/// Returns the names of the files on a disk.
std::vector<std::string> files_of(MemoryDriver& memory, int disk) {
  std::vector<std::string> found;
  for (const char* const node : {"", "-1", "-2", "-3", "-4", "-5", "-6"}) {
    const std::string directory = NodeView::place_of(disk, "/local/" + host_name() + node + "/run");
    const auto names = memory.list_directory(directory);
    for (size_t i = 0; names.ok() && i < names->size(); ++i) {
      found.push_back(directory + "/" + (*names)[i]);
    }
  }
  return found;
}

void lose(MemoryDriver& memory, int disk) {
  for (const std::string& path : files_of(memory, disk)) {
    EXPECT_TRUE(memory.remove(path).ok());
  }
}

TEST(OnNodes, EachPartLiesOnItsNodeAndIsReadOnOthers) {
  MemoryDriver memory;
  const Setting setting = on_nodes(4, 2, 3, 1);
  write_on(setting, memory, own_disks(4));
  for (int disk = 0; disk < 4; ++disk) {
    EXPECT_EQ(files_of(memory, disk).size(), 1U) << disk;
  }
  EXPECT_EQ(read_on(setting, memory, own_disks(4), 2), "");
  EXPECT_EQ(read_on(setting, memory, {3, 1, 0, 2}, 1), "") << "nodes in another order";
  EXPECT_EQ(read_on(setting, memory, {0, 1, 2, 3, 9, 9}, 2), "") << "more nodes";
}

TEST(OnNodes, ANodeFewerIsMadeUpForByParityAndTwoAreAnError) {
  for (int lost = 0; lost < 4; ++lost) {
    MemoryDriver memory;
    const Setting setting = on_nodes(4, 2, 3, 1);
    write_on(setting, memory, own_disks(4));
    std::vector<int> left = own_disks(4);
    left.erase(left.begin() + lost);
    EXPECT_EQ(read_on(setting, memory, left, 2), "") << lost;
    left.pop_back();
    const std::string wrong = read_on(setting, memory, left, 3);
    EXPECT_NE(wrong.find("run.h5"), std::string::npos) << lost << ": " << wrong;
    EXPECT_NE(wrong.find("is missing"), std::string::npos) << lost << ": " << wrong;
  }
}

TEST(OnNodes, ANodeThatComesBackWithAnEmptyDiskServesNothing) {
  for (int lost = 0; lost < 4; ++lost) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(std::to_string(lost) + ", seed " + std::to_string(seed));
      MemoryDriver memory;
      Setting setting = on_nodes(4, 2, 3, 1);
      setting.seed = seed;
      write_on(setting, memory, own_disks(4));
      lose(memory, lost);
      ASSERT_EQ(read_on(setting, memory, own_disks(4), 2), "");
    }
  }
}

TEST(OnNodes, AFileReplacesTheOneOfBeforeOnEveryDisk) {
  MemoryDriver memory;
  const Setting setting = on_nodes(3, 1, 2, 1);
  write_on(setting, memory, own_disks(3));
  write_on(setting, memory, own_disks(3));
  for (int disk = 0; disk < 3; ++disk) {
    EXPECT_EQ(files_of(memory, disk).size(), 1U) << disk;
  }
}

TEST(OnNodes, PartsAndParityAreDealtToNodes) {
  const Setting setting = on_nodes(4, 2, 3, 2);
  on_ranks(setting, [&](Comm& comm) {
    EXPECT_EQ(node_of_part(comm, 0, 3), 0);
    EXPECT_EQ(node_of_part(comm, 2, 3), 2);
    EXPECT_EQ(nodes_of_parity(comm, 3, 2), (std::vector<int>{3, 3}));
    EXPECT_EQ(warn_of_shared_nodes(comm, "f", 3, 2), "");
    EXPECT_NE(warn_of_shared_nodes(comm, "f", 7, 1), "");
  });
}

// Rank 0 alone looks at the old file, and sees its own node's disk.
TEST(OnNodes, NothingIsAddedToSuchAFileAndItsParityStays) {
  MemoryDriver memory;
  const Setting setting = on_nodes(4, 2, 3, 1);
  write_on(setting, memory, own_disks(4));
  for (const std::vector<std::string>& places : {std::vector<std::string>(), setting.hints.part_places}) {
    std::vector<std::string> messages(static_cast<size_t>(setting.ranks));
    on_ranks(setting, [&](Comm& comm) {
      Environment environment = environment_of(comm, view(memory, comm, own_disks(4)), setting.hints);
      environment.hints.part_places = places;
      const auto session = WriteSession::append(std::move(environment), setting.path, {});
      EXPECT_EQ(session.status().code(), ErrorCode::kUnsupported);
      messages[static_cast<size_t>(comm.rank())] = session.status().message();
    });
    for (const std::string& message : messages) {
      EXPECT_EQ(message, messages[0]);
      EXPECT_NE(message.find("its data lie in several files, which can't grow"), std::string::npos) << message;
    }
  }
  for (int lost = 0; lost < 4; ++lost) {
    std::vector<int> left = own_disks(4);
    left.erase(left.begin() + lost);
    EXPECT_EQ(read_on(setting, memory, left, 2), "") << lost;
  }
}

// Each operation of each rank fails once, its own and those that it does for others.
TEST(OnNodes, AnyFailureIsEveryRanksAndLeavesTheFileOfBefore) {
  const Setting setting = on_nodes(3, 1, 2, 1);
  constexpr int kMostOperations = 300;
  for (int rank = 0; rank < setting.ranks; ++rank) {
    bool was_there = true;
    int failures = 0;
    for (int nth = 1 + rank % failure_step(); was_there; nth += failure_step()) {
      ASSERT_LT(nth, kMostOperations);
      SCOPED_TRACE("operation " + std::to_string(nth) + " of rank " + std::to_string(rank));
      MemoryDriver memory;
      write_on(setting, memory, own_disks(3));
      std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
      on_ranks(setting, [&](Comm& comm) {
        const bool fails = comm.rank() == rank;
        const std::string fault = "any:nth=" + std::to_string(fails ? nth : 100000) + ":errno=EIO";
        const auto script = storage::FaultScript::parse(fault, comm.rank()).value();
        const auto driver = std::make_shared<storage::FaultDriver>(view(memory, comm, own_disks(3)), script);
        statuses[static_cast<size_t>(comm.rank())] = write_file(setting, comm, driver);
        was_there = fails ? script->operation_count() >= nth : was_there;
      });
      for (const Status& status : statuses) {
        ASSERT_EQ(status.message(), statuses[0].message());
      }
      failures += statuses[0].ok() ? 0 : 1;
      ASSERT_EQ(read_on(setting, memory, own_disks(3), 1), "") << statuses[0].message();
    }
    EXPECT_GT(failures, 5);
  }
}

TEST(OnNodes, RandomFilesAreReadWhateverNodeIsLost) {
  for (int round = 0; round < rounds(60); ++round) {
    const auto seed = static_cast<uint64_t>(round + 1);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int nodes = static_cast<int>(2 + random() % 5);
    const int parities = static_cast<int>(1 + random() % 2);
    const int parts = std::max(1, nodes - parities);
    Setting setting = on_nodes(nodes, static_cast<int>(1 + random() % 3), parts, std::min(parities, nodes - parts));
    setting.seed = seed;
    setting.flushes = static_cast<int>(random() % 2);
    setting.compressed = random() % 4 == 0;
    MemoryDriver memory;
    write_on(setting, memory, own_disks(nodes));
    std::vector<int> left = own_disks(nodes);
    std::shuffle(left.begin(), left.end(), random);
    for (int64_t lost = 0; lost < setting.hints.parity_count; ++lost) {
      lose(memory, left.back());
      left.pop_back();
    }
    ASSERT_EQ(read_on(setting, memory, left, static_cast<int>(1 + random() % 3)), "");
  }
}

}  // namespace
}  // namespace stria::file::test
