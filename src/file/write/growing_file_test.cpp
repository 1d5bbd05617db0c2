// Files that grow against a model of them: random additions by random ranks, killed anywhere, or
// without power.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "file/write/growing_case_test.hpp"
#include "file/write/mortal_driver_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;

bool is_long() {
  return std::getenv("STRIA_LONG") != nullptr;
}

Setting setting_of(const Addition& addition) {
  Setting setting;
  setting.ranks = addition.ranks;
  setting.ranks_per_node = addition.ranks_per_node;
  setting.seed = addition.seed;
  return setting;
}

void make(const Addition& addition, const Model& model, bool is_new, storage::Driver& driver) {
  on_ranks(setting_of(addition), [&](Comm& comm) {
    const Status status = carry_out(addition, model, is_new, comm, borrow(driver));
    EXPECT_TRUE(status.ok()) << status.message();
  });
}

std::string compare_alone(const Model& model, storage::Driver& driver) {
  const std::shared_ptr<Comm> comm = make_self_comm();
  return compare_with(model, *comm, borrow(driver));
}

TEST(GrowingFile, HoldsWhatEverySessionHasAdded) {
  const uint64_t seeds = is_long() ? 200 : 4;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    storage::MemoryDriver memory;
    Model model;
    for (uint64_t generation = 0; generation < 5; ++generation) {
      const Addition addition = add_at_random(seed * 100 + generation, model);
      make(addition, model, generation == 0, memory);
      on_ranks(setting_of(addition), [&](Comm& comm) { EXPECT_EQ(compare_with(model, comm, borrow(memory)), ""); });
      if (HasFailure()) {
        return;
      }
    }
  }
}

// A file of two generations, and what a third one would add.
struct Before {
  Model old_model, new_model;
  Addition addition;
  storage::MemoryDriver memory{{.track_unsynced = true}};

  explicit Before(uint64_t seed) {
    make(add_at_random(seed, old_model), old_model, true, memory);
    make(add_at_random(seed + 1, old_model), old_model, false, memory);
    new_model = old_model;
    addition = add_at_random(seed + 2, new_model);
  }
  /// Returns how many bytes the addition takes; after `bytes_left` of them it is killed.
  int64_t add(int64_t bytes_left) {
    Life life{.bytes_left = bytes_left};
    static_cast<void>(add(life));
    return bytes_left - life.bytes_left;
  }
  /// Returns the status of rank 0.
  Status add(Life& life) {
    MortalDriver driver(memory, life);
    Status status;
    on_ranks(setting_of(addition), [&](Comm& comm) {
      const Status own = carry_out(addition, new_model, false, comm, borrow(driver));
      status = comm.rank() == 0 ? own : status;
    });
    return status;
  }
};

// The file is the old one or the new one after a kill, and can grow on.
TEST(GrowingFile, KillsCostNothing) {
  int seen_old = 0;
  int seen_new = 0;
  for (int kill = 0; kill < (is_long() ? 200 : 12); ++kill) {
    const uint64_t seed = 1000 + 10 * static_cast<uint64_t>(kill);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int64_t all = Before(seed).add(Life::kForever);
    Before before(seed);
    // The last kills strike where the new content becomes valid.
    constexpr int64_t kFromEnd[] = {0, 1, 2, 30, 49, 50, 51, 300};
    const int64_t at = kill % 3 == 0 ? all - kFromEnd[kill / 3 % 8] : std::uniform_int_distribution<int64_t>(0, all)(random);
    before.add(at);
    if (kill % 2 == 0) {
      before.memory.crash(seed);  // without power, too
    }
    const bool is_new = compare_alone(before.new_model, before.memory).empty();
    (is_new ? seen_new : seen_old) += 1;
    const std::string wrong = is_new ? "" : compare_alone(before.old_model, before.memory);
    // What a kill leaves behind the end is worth a remark.
    ASSERT_TRUE(wrong.empty() || wrong.find("bytes follow its end") != std::string::npos) << wrong;
    Model model = is_new ? before.new_model : before.old_model;
    make(add_at_random(seed + 3, model), model, false, before.memory);
    ASSERT_EQ(compare_alone(model, before.memory), "");
  }
  EXPECT_GT(seen_old, 0);
  EXPECT_GT(seen_new, 0);
}

/// Whether the addition is committed in the background.
class GrowingFileFails : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Ways, GrowingFileFails, ::testing::Bool());

// A full disk, or each operation of each rank that fails once: the file has all of the addition or
// nothing of it, every rank says the same, and it can grow then.
TEST_P(GrowingFileFails, AFullOrBrokenDiskCostsNothing) {
  Before before(2000);
  before.addition.in_background = GetParam();
  const Bytes whole = content_of(before.memory, kGrowingPath);
  int full = 0;
  int broken = 0;
  // Whether the rule made the addition fail.
  const auto fails_by = [&](const std::string& rule, int rank, ErrorCode expected) {
    SCOPED_TRACE(rule + " on rank " + std::to_string(rank));
    set_content(before.memory, kGrowingPath, whole);
    std::vector<Status> statuses(static_cast<size_t>(before.addition.ranks));
    on_ranks(setting_of(before.addition), [&](Comm& comm) {
      const std::string own = comm.rank() == rank ? rule : "any:nth=100000:errno=EIO";
      const auto script = storage::FaultScript::parse(own, comm.rank()).value();
      statuses[static_cast<size_t>(comm.rank())] =
          carry_out(before.addition, before.new_model, false, comm,
                    std::make_shared<storage::FaultDriver>(borrow(before.memory), script));
    });
    for (const Status& status : statuses) {
      EXPECT_EQ(status.message(), statuses[0].message());
    }
    const bool fails = !statuses[0].ok();
    const bool may_be_new = !fails || statuses[0].message().find("may have what was added") != std::string::npos;
    const std::string as_new = may_be_new ? compare_alone(before.new_model, before.memory) : "not compared";
    EXPECT_TRUE(as_new.empty() || fails) << as_new;
    if (fails) {
      EXPECT_EQ(statuses[0].code(), expected) << statuses[0].message();
      EXPECT_TRUE(as_new.empty() || compare_alone(before.old_model, before.memory).empty())
          << statuses[0].message() << compare_alone(before.old_model, before.memory);
    }
    return fails;
  };
  for (int rank = 0; rank < before.addition.ranks; ++rank) {
    for (const int64_t after : {0, 500, 3000, 12000}) {
      full += fails_by("write:after=" + std::to_string(after) + ":errno=ENOSPC", rank, ErrorCode::kNoSpace) ? 1 : 0;
    }
    for (int nth = 1; nth < 60; nth += is_long() ? 1 : 3) {
      broken += fails_by("any:nth=" + std::to_string(nth) + ":errno=EIO", rank, ErrorCode::kIo) ? 1 : 0;
    }
  }
  EXPECT_GT(full, 0);
  EXPECT_GT(broken, 5);
  ASSERT_TRUE(fails_by("write:after=0:errno=ENOSPC", 0, ErrorCode::kNoSpace));
  make(before.addition, before.new_model, false, before.memory);
  EXPECT_EQ(compare_alone(before.new_model, before.memory), "");
}

// The last write fails, and can be taken back, or not.
TEST_P(GrowingFileFails, ASuperblockThatCannotBeWrittenIsTold) {
  for (const int refused : {1, 2}) {
    Before before(47);
    before.addition.in_background = GetParam();
    const int64_t size = static_cast<int64_t>(content_of(before.memory, kGrowingPath).size());
    Life life{.bytes_left = Life::kForever, .dead = false, .refused_superblocks = refused};
    const Status status = before.add(life);
    EXPECT_EQ(status.code(), ErrorCode::kIo);
    const char* state = refused == 1 ? "was not changed" : "may have what was added";
    EXPECT_NE(status.message().find(state), std::string::npos) << status.message();
    EXPECT_EQ(static_cast<int64_t>(content_of(before.memory, kGrowingPath).size()) == size, refused == 1);
    const std::string wrong = compare_alone(before.old_model, before.memory);
    EXPECT_TRUE(wrong.empty() || refused == 2) << wrong;
  }
}

TEST(GrowingFile, WhatLiesBehindTheEndIsCleared) {
  Before before(57);
  Bytes content = content_of(before.memory, kGrowingPath);
  content.resize(content.size() + 100, std::byte{7});
  set_content(before.memory, kGrowingPath, content);
  EXPECT_NE(compare_alone(before.old_model, before.memory).find("100 bytes follow its end"), std::string::npos);
  const std::shared_ptr<Comm> comm = make_self_comm();
  auto session = WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->file().accounts.report().cleared_bytes, 100);
  EXPECT_TRUE((*session)->abandon().ok());
  EXPECT_EQ(content_of(before.memory, kGrowingPath), content);
  session = WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  ASSERT_TRUE(session.ok());
  const double number = 1;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
  EXPECT_TRUE(
      set_attribute(**session, {"/", "added", container::ElementSpec::of_number(ElementType::kFloat64), {}, {bytes, bytes + 8}})
          .ok());
  EXPECT_TRUE((*session)->commit().ok());
  EXPECT_EQ(compare_alone(before.old_model, before.memory), "");
}

TEST(GrowingFile, ASecondWriterIsRefused) {
  Before before(7);
  const std::shared_ptr<Comm> comm = make_self_comm();
  auto first = WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  ASSERT_TRUE(first.ok()) << first.status().message();
  auto second = WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  EXPECT_EQ(second.status().code(), ErrorCode::kAlreadyExists) << second.status().message();
  EXPECT_NE(second.status().message().find("was not changed"), std::string::npos) << second.status().message();
  EXPECT_TRUE((*first)->abandon().ok());
  EXPECT_TRUE(WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {}).ok());
}

// A reader that has the file open sees what it was, whatever is added.
TEST(GrowingFile, AReaderSeesWhatItOpened) {
  Before before(17);
  const std::shared_ptr<Comm> comm = make_self_comm();
  auto reader = ReadSession::open(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  before.add(Life::kForever);
  for (const auto& [path, dataset] : before.old_model.datasets) {
    std::vector<double> values(dataset.values.size(), -1);
    const auto number = (*reader)->find(path);
    ASSERT_TRUE(number.ok());
    ASSERT_EQ((*reader)->file().catalog[*number].spec.dims, dataset.dims);
    Status status = (*reader)->record(*number, {std::vector<int64_t>(dataset.dims.size(), 0), dataset.dims},
                                      Memory(values.data(), static_cast<int64_t>(values.size())));
    status.update((*reader)->commit());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(values, dataset.values) << path;
  }
  EXPECT_EQ(compare_alone(before.new_model, before.memory), "");
}

TEST(GrowingFile, WhatIsThereStays) {
  Before before(27);
  Model& model = before.old_model;
  const std::shared_ptr<Comm> comm = make_self_comm();
  auto session = WriteSession::append(environment_of(*comm, borrow(before.memory), {}), kGrowingPath, {});
  ASSERT_TRUE(session.ok());
  container::DatasetSpec spec;
  spec.path = model.datasets.begin()->first;
  spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
  spec.dims = {1};
  EXPECT_EQ(create_dataset(**session, spec, {}).status().code(), ErrorCode::kAlreadyExists);
  for (const auto& [path, dataset] : model.datasets) {
    const auto number = append_rows(**session, path, 1);
    if (!dataset.extendable) {
      EXPECT_EQ(number.status().code(), ErrorCode::kUnsupported) << path;
      continue;
    }
    ASSERT_TRUE(number.ok()) << number.status().message();
    if (dataset.dims[0] > 0) {
      std::vector<double> row(static_cast<size_t>(dataset.row_elements()));
      Hyperslab last{std::vector<int64_t>(dataset.dims.size(), 0), dataset.dims};
      last.start[0] = dataset.dims[0] - 1;
      last.count[0] = 1;
      EXPECT_EQ((*session)->record(*number, last, Memory(row.data(), static_cast<int64_t>(row.size()))).code(),
                ErrorCode::kInvalidArgument);
    }
  }
  EXPECT_FALSE((*session)->commit().ok());
  EXPECT_EQ(compare_alone(model, before.memory), "");
}

// Damage that nobody could tell afterwards is told before; other damage can be told afterwards.
TEST(GrowingFile, DamageIsTold) {
  for (const bool has_grown : {false, true}) {
    storage::MemoryDriver memory;
    Model model;
    for (uint64_t seed = 37; seed <= (has_grown ? 38 : 37); ++seed) {
      const Addition addition = add_at_random(seed, model);
      make(addition, model, seed == 37, memory);
    }
    const Bytes right = content_of(memory, kGrowingPath);
    Bytes content = right;
    content[60] ^= std::byte{1};  // in the first header, no longer used where it has grown
    set_content(memory, kGrowingPath, content);
    const Addition addition = add_at_random(39, model);
    const std::shared_ptr<Comm> comm = make_self_comm();
    if (!has_grown) {
      const auto session = WriteSession::append(environment_of(*comm, borrow(memory), {}), kGrowingPath, {});
      EXPECT_EQ(session.status().code(), ErrorCode::kCorrupted) << session.status().message();
      EXPECT_EQ(content_of(memory, kGrowingPath), content);
      continue;
    }
    make(addition, model, false, memory);
    EXPECT_EQ(compare_alone(model, memory), "verify: damage in ''");
  }
}

}  // namespace
}  // namespace stria::file::test
