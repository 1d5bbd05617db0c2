// Sessions on simulated ranks over a driver in memory: what is written comes back, whichever ranks
// write it, and failures end the same everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "file/session/session_case_test.hpp"
#include "support/rounds.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;

Setting random_setting(uint64_t seed) {
  std::mt19937_64 random(seed);
  Setting setting;
  setting.seed = seed;
  setting.ranks = static_cast<int>(1 + random() % (random() % 5 == 0 ? 20 : 7));
  setting.ranks_per_node = static_cast<int>(1 + random() % static_cast<uint64_t>(setting.ranks));
  setting.hints.method = random() % 3 == 0 ? access::Method::kListIo : access::Method::kTwoPhase;
  setting.hints.axes = seed % 4 == 1 ? access::Switch::kEnable : access::Switch::kAutomatic;
  setting.hints.aggregator_count = static_cast<int>(random() % 4);
  setting.hints.collective_buffer_bytes = 64 << (10 + random() % 4);
  setting.hints.staging_bytes = 4096 << (random() % 6);
  setting.hints.alignment_bytes = random() % 2 == 0 ? 4096 : 1;
  setting.flushes = static_cast<int>(random() % 3);
  return setting;
}

void write_whole(const Setting& setting, storage::MemoryDriver& memory) {
  on_ranks(setting, [&](Comm& comm) {
    Status status = write_file(setting, comm, borrow(memory));
    EXPECT_TRUE(status.ok()) << status.message();
  });
}

std::vector<Damage> verify_alone(storage::MemoryDriver& memory, const std::string& path, Status& status) {
  auto comm = make_self_comm();
  auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), path, {});
  auto found = session.ok() ? (*session)->verify() : Result<std::vector<Damage>>(session.status());
  status = found.status();
  return found.ok() ? *found : std::vector<Damage>();
}

TEST(Session, WhatIsWrittenComesBack) {
  for (uint64_t seed = access::test::first_seed(), end = seed + static_cast<uint64_t>(access::test::case_count(60)); seed < end;
       ++seed) {
    Setting setting = random_setting(seed);
    setting.compressed = seed % 3 == 0;
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed) + ": " + std::to_string(setting.ranks) + " ranks, " +
                 access::method_name(setting.hints.method));
    storage::MemoryDriver memory;
    write_whole(setting, memory);
    ASSERT_FALSE(*memory.exists(partial_path(setting.path)));
    Setting reading = random_setting(seed + 1000);
    OpenOptions options;
    options.verify = seed % 2 == 0;
    on_ranks(reading, [&](Comm& comm) { EXPECT_EQ(compare_file(reading, comm, borrow(memory), options), ""); });
    on_ranks(reading, [&](Comm& comm) {
      auto session = ReadSession::open(environment_of(comm, borrow(memory), reading.hints), setting.path, {});
      ASSERT_TRUE(session.ok()) << session.status().message();
      EXPECT_EQ(dataset_paths(**session).value().size(), contents({}).size() + 2);
      EXPECT_EQ(*read_number_attribute(**session, "/", "time"), 2.5);
      EXPECT_EQ(*read_strings(**session, "unknown names"), (std::vector<std::string>{"dens", "h1"}));
      auto found = (*session)->verify();
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_TRUE(found->empty());
    });
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Session, TheBytesDependNeitherOnTheRanksNorOnTheMethod) {
  for (int variant = 0; variant < 4; ++variant) {
    bool checksums = variant % 2 == 0;
    storage::MemoryDriver memory;
    Setting reference;
    reference.flushes = variant / 2;        // an object's place depends on the flush that made it
    reference.only_whole_rows = checksums;  // sums of slabs depend on which rank put what
    reference.checksums = checksums;
    write_whole(reference, memory);
    Bytes expected = content_of(memory, reference.path);
    for (uint64_t seed = 1; seed <= rounds<uint64_t>(24); ++seed) {
      Setting setting = random_setting(seed);
      setting.hints.alignment_bytes = reference.hints.alignment_bytes;
      setting.only_whole_rows = reference.only_whole_rows;
      setting.checksums = checksums;
      setting.flushes = reference.flushes;
      setting.path = "other.h5";
      write_whole(setting, memory);
      ASSERT_TRUE(content_of(memory, setting.path) == expected) << "seed " << seed << ", checksums " << checksums;
    }
  }
}

TEST(Session, ValueRangesAreThoseOfAllRanks) {
  storage::MemoryDriver memory;
  Setting setting = random_setting(5);
  setting.ranks = 5;
  write_whole(setting, memory);
  on_ranks(setting, [&](Comm& comm) {
    auto session = ReadSession::open(environment_of(comm, borrow(memory), {}), setting.path, {});
    ASSERT_TRUE(session.ok());
    for (const Content& content : contents({})) {
      if (!content.options.value_range) {
        continue;
      }
      double low = content.value(0), high = low;
      for (int64_t i = 0; i < content.element_count(); ++i) {
        low = std::min(low, content.value(i));
        high = std::max(high, content.value(i));
      }
      EXPECT_EQ(*read_number_attribute(**session, content.path, "minimum"), low) << content.path;
      EXPECT_EQ(*read_number_attribute(**session, content.path, "maximum"), high) << content.path;
    }
    EXPECT_EQ(read_number_attribute(**session, "velx", "minimum").status().code(), ErrorCode::kNotFound);
  });
}

/// Returns the raw data of every dataset: offset, bytes and path.
std::vector<std::tuple<int64_t, int64_t, std::string>> raw_data(storage::MemoryDriver& memory, const std::string& path) {
  auto file = memory.open(path, {}).value();
  auto reader = container::open_file(*file).value();
  std::vector<std::tuple<int64_t, int64_t, std::string>> places;
  for (const std::string& name : reader->list().value()) {
    if (name.back() != '/') {
      auto info = reader->dataset(name).value();
      if (info.data_offset >= 0) {
        places.emplace_back(info.data_offset, dataset_bytes(info.spec).value(), name);
      }
    }
  }
  return places;
}

TEST(Session, AFlippedByteOfRawDataIsFound) {
  storage::MemoryDriver memory;
  Setting setting = random_setting(3);
  setting.ranks = 3;
  setting.flushes = 1;
  write_whole(setting, memory);
  Bytes intact = content_of(memory, setting.path);
  std::mt19937_64 random(4);
  int flips = 0;
  for (const auto& [offset, bytes, name] : raw_data(memory, setting.path)) {
    bool own = name.rfind(".stria/", 0) == 0;
    for (int i = 0; i < 25 && bytes > 0; ++i, ++flips) {
      int64_t at = i == 0 ? 0 : i == 1 ? bytes - 1 : static_cast<int64_t>(random() % static_cast<uint64_t>(bytes));
      Bytes damaged = intact;
      damaged[static_cast<size_t>(offset + at)] ^= static_cast<std::byte>(1u << random() % 8);
      set_content(memory, setting.path, damaged);
      Status status;
      std::vector<Damage> found = verify_alone(memory, setting.path, status);
      if (own) {  // the sums themselves: noticed one way or another
        ASSERT_TRUE(!status.ok() || !found.empty()) << name << " byte " << at;
        continue;
      }
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(found.size(), 1u) << name << " byte " << at;
      ASSERT_EQ(found[0].dataset, name);
    }
  }
  EXPECT_GT(flips, 300);
}

TEST(Session, GetWithVerifyFindsDamageInWhatItTouches) {
  storage::MemoryDriver memory;
  Setting setting = random_setting(6);
  setting.ranks = 4;
  write_whole(setting, memory);
  Bytes intact = content_of(memory, setting.path);
  OpenOptions options;
  options.verify = true;
  for (const auto& [offset, bytes, name] : raw_data(memory, setting.path)) {
    auto known = contents({});
    if (std::none_of(known.begin(), known.end(), [&, path = name](const Content& content) { return content.path == path; })) {
      continue;
    }
    for (int64_t at : {int64_t{0}, bytes / 2, bytes - 1}) {
      Bytes damaged = intact;
      damaged[static_cast<size_t>(offset + at)] ^= std::byte{16};
      set_content(memory, setting.path, damaged);
      for (int ranks : {1, 3}) {
        Setting reading = random_setting(static_cast<uint64_t>(at + ranks));
        reading.ranks = ranks;
        std::set<std::string> messages;
        on_ranks(reading, [&](Comm& comm) { messages.insert(compare_file(reading, comm, borrow(memory), options)); });
        ASSERT_EQ(messages.size(), 1u);
        ASSERT_NE(messages.begin()->find("dataset '" + name + "', rows"), std::string::npos)
            << *messages.begin() << " byte " << at;
      }
    }
  }
}

TEST(Session, AStridedGetVerifiesAllRowsThatItReads) {
  storage::MemoryDriver memory;
  Setting setting;
  setting.only_whole_rows = true;
  write_whole(setting, memory);
  Bytes damaged = content_of(memory, setting.path);
  for (const auto& [offset, bytes, name] : raw_data(memory, setting.path)) {
    if (name == "dens") {
      damaged[static_cast<size_t>(offset + 36 * 512 + 5)] ^= std::byte{1};
    }
  }
  set_content(memory, setting.path, damaged);
  auto comm = make_self_comm();
  OpenOptions options;
  options.verify = true;
  auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), setting.path, options).value();
  std::vector<double> values(2 * 64);
  ASSERT_TRUE(
      session->record(*session->find("dens"), {{0, 0, 0, 0}, {2, 4, 4, 4}, {36, 1, 1, 1}}, Memory(values.data(), 128)).ok());
  EXPECT_EQ(session->commit().code(), ErrorCode::kCorrupted);
}

TEST(Session, EveryFailedOperationEndsEverywhereAndLeavesTheOldFile) {
  Setting setting = random_setting(8);
  setting.ranks = 3;
  setting.ranks_per_node = 2;
  setting.flushes = 1;
  const Bytes old(1000, std::byte{42});
  using access::Method;
  for (const auto& [method, compressed] :
       {std::pair(Method::kListIo, false), std::pair(Method::kTwoPhase, false), std::pair(Method::kListIo, true)}) {
    setting.hints.method = method;
    setting.compressed = compressed;
    fail_every_operation(setting, &WriteSession::commit, old, [&](const Status& failure, const Bytes& after) {
      // The close and the sync of the directory alone come after the new name.
      const std::string& words = failure.message();
      ASSERT_TRUE(after == old || words.find("close") != std::string::npos || words.find("director") != std::string::npos)
          << words;
    });
  }
}

TEST(Session, APoisonedPutFailsOnEveryRankAlike) {
  for (uint64_t seed = 1; seed < 10; ++seed) {
    Setting setting = random_setting(seed);
    setting.ranks = static_cast<int>(1 + seed % 5);
    storage::MemoryDriver memory;
    std::set<std::string> messages;
    on_ranks(setting, [&](Comm& comm) {
      auto session = WriteSession::create(environment_of(comm, borrow(memory), setting.hints), setting.path, {}).value();
      container::DatasetSpec spec;
      spec.path = "dens";
      spec.dims = {10};
      ASSERT_TRUE(create_dataset(*session, spec, {}).ok());
      double number = 1;
      if (comm.rank() == comm.size() - 1) {
        EXPECT_EQ(session->record(0, {{10}, {1}}, Memory(&number, 1)).code(), ErrorCode::kInvalidArgument);
      }
      Status status = session->commit();
      EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
      messages.insert(status.message());
    });
    ASSERT_EQ(messages.size(), 1u);
    const std::string who = setting.ranks == 1 ? "was not written: " : "rank " + std::to_string(setting.ranks - 1) + ": ";
    EXPECT_NE(messages.begin()->find(who + "dataset 'dens': dimension 0"), std::string::npos) << *messages.begin();
    EXPECT_TRUE(memory.list_directory(".")->empty());
  }
}

/// Says what rank 2 of 4 says otherwise, and what every rank hears of it.
struct Difference {
  enum What { kName, kType, kShape, kMissing, kRange, kOrder, kMethod, kChecksums, kValue, kPath, kRows } what;
  const char* heard;
};

Status define_and_commit(const Difference& difference, Comm& comm, storage::MemoryDriver& memory) {
  const auto odd = [&](Difference::What what) { return comm.rank() == 2 && difference.what == what; };
  access::ResolvedHints hints;
  hints.method = odd(Difference::kMethod) ? access::Method::kTwoPhase : access::Method::kListIo;
  CreateOptions create;
  create.checksums = !odd(Difference::kChecksums);
  STRIA_ASSIGN_OR_RETURN(const auto session, WriteSession::create(environment_of(comm, borrow(memory), hints),
                                                                  odd(Difference::kPath) ? "other.h5" : "run.h5", create));
  container::DatasetSpec spec;
  spec.path = odd(Difference::kName) ? "pres" : "dens";
  spec.element = container::ElementSpec::of_number(odd(Difference::kType) ? ElementType::kFloat32 : ElementType::kFloat64);
  spec.dims = {odd(Difference::kShape) ? 11 : 10};
  DatasetOptions options;
  options.value_range = odd(Difference::kRange);
  options.big_endian = odd(Difference::kOrder);
  STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, options).status());
  container::DatasetSpec table;
  table.path = "rows";
  table.element = container::ElementSpec::of_number(ElementType::kInt8);
  table.dims = {1};
  STRIA_RETURN_IF_ERROR(create_table(*session, table, Bytes(1, odd(Difference::kRows) ? std::byte{1} : std::byte{})));
  if (!odd(Difference::kMissing)) {
    const Bytes value(1, odd(Difference::kValue) ? std::byte{3} : std::byte{});
    STRIA_RETURN_IF_ERROR(
        set_attribute(*session, {"/", "time", container::ElementSpec::of_number(ElementType::kInt8), {}, value}));
  }
  return session->commit();
}

TEST(Session, DifferentDefinitionsAreToldByCallArgumentAndRank) {
  const Difference differences[] = {
      {Difference::kName, "rank 0 calls create_dataset('dens') where rank 2 calls create_dataset('pres')"},
      {Difference::kType, "create_dataset('dens'): the element type is float64 on rank 0 and float32 on rank 2"},
      {Difference::kShape, "create_dataset('dens'): the shape is {10} on rank 0 and {11} on rank 2"},
      {Difference::kMissing, "set_attribute('/', 'time') is called by rank 0 and not by rank 2"},
      {Difference::kRange, "create_dataset('dens'): value_range is false on rank 0 and true on rank 2"},
      {Difference::kOrder, "the element type is float64 on rank 0 and float64 big-endian on rank 2"},
      {Difference::kMethod, "create(): the hint stria_method is 'list_io' on rank 0 and 'two_phase' on rank 2"},
      {Difference::kChecksums, "create(): checksums is true on rank 0 and false on rank 2"},
      {Difference::kValue, "set_attribute('/', 'time'): the value is 0 on rank 0 and 3 on rank 2"},
      {Difference::kPath, "create(): the path is 'run.h5' on rank 0 and 'other.h5' on rank 2"},
      {Difference::kRows, "create_table('rows'): the rows is data of hash"},
  };
  for (const Difference& difference : differences) {
    Setting setting;
    setting.ranks = 4;
    storage::MemoryDriver memory;
    std::set<std::string> messages;
    on_ranks(setting, [&](Comm& comm) {
      const Status status = define_and_commit(difference, comm, memory);
      EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << difference.heard;
      EXPECT_NE(status.message().find(difference.heard), std::string::npos) << status.message();
      messages.insert(status.message());
    });
    EXPECT_LE(messages.size(), difference.what == Difference::kPath ? 2u : 1u);
    EXPECT_TRUE(memory.list_directory(".")->empty());
  }
}

TEST(Session, CreatingOnOneRankAndOpeningOnAnotherIsAnErrorOnAll) {
  for (int ranks : {2, 3, 5}) {
    for (int odd = 0; odd < ranks; ++odd) {
      Setting setting;
      setting.ranks = ranks;
      storage::MemoryDriver memory;
      write_whole(setting, memory);
      std::set<std::string> messages;
      on_ranks(setting, [&](Comm& comm) {
        const auto open = [&] {
          return ReadSession::open(environment_of(comm, borrow(memory), {}), setting.path, {}).status();
        };
        const auto create = [&] {
          return WriteSession::create(environment_of(comm, borrow(memory), {}), "new.h5", {}).status();
        };
        const Status status = comm.rank() == odd ? create() : open();
        EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << status.message();
        EXPECT_NE(status.message().find(odd == 0 ? "rank 0 called create() and rank 1 called open()"
                                                 : "rank 0 called open() and rank " + std::to_string(odd) + " called create()"),
                  std::string::npos)
            << status.message();
        EXPECT_TRUE(open().ok()) << "the next file is well";
      });
      EXPECT_EQ(*memory.list_directory("."), std::vector<std::string>{setting.path});
    }
  }
}

TEST(Session, CallsAfterTheEndAreRefused) {
  Setting setting;
  setting.ranks = 3;
  storage::MemoryDriver memory;
  for (bool commits : {true, false}) {
    on_ranks(setting, [&](Comm& comm) {
      auto session = WriteSession::create(environment_of(comm, borrow(memory), setting.hints), setting.path, {}).value();
      container::DatasetSpec spec;
      spec.path = "dens";
      spec.dims = {10};
      ASSERT_TRUE(create_dataset(*session, spec, {}).ok());
      EXPECT_TRUE((commits ? session->commit() : session->abandon()).ok());
      double number = 1;
      EXPECT_EQ(session->record(0, {{0}, {1}}, Memory(&number, 1)).code(), ErrorCode::kInvalidArgument) << "it would be lost";
      EXPECT_EQ(session->flush().code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(session->commit().code(), ErrorCode::kInvalidArgument);
      EXPECT_TRUE(session->abandon().ok());
    });
    EXPECT_EQ(*memory.exists(setting.path), true) << "committed in the first turn, untouched by the second";
    EXPECT_FALSE(*memory.exists(partial_path(setting.path)));
  }
}

TEST(Session, AnAttributeOfSeveralNumbersIsNoNumber) {
  storage::MemoryDriver memory;
  auto comm = make_self_comm();
  auto session = WriteSession::create(environment_of(*comm, borrow(memory), {}), "a.h5", {}).value();
  ASSERT_TRUE(
      set_attribute(*session, {"/", "three", container::ElementSpec::of_number(ElementType::kFloat64), {3}, Bytes(24)}).ok());
  ASSERT_TRUE(
      set_attribute(*session, {"/", "none", container::ElementSpec::of_number(ElementType::kFloat64), {0}, Bytes()}).ok());
  ASSERT_TRUE(session->commit().ok());
  auto reading = ReadSession::open(environment_of(*comm, borrow(memory), {}), "a.h5", {}).value();
  EXPECT_EQ(read_number_attribute(*reading, "/", "three").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_number_attribute(*reading, "/", "none").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_number_attribute(*reading, "/", "four").status().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stria::file::test
