// Files kept in several, on simulated ranks: what is written comes back on any ranks, and what
// goes wrong leaves the old file whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "comm/self/self_comm.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/parts_table.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/parted/parted_file.hpp"

namespace stria::file::test {
namespace {

Setting random_setting(uint64_t seed) {
  std::mt19937_64 random(seed);
  Setting setting;
  setting.seed = seed;
  setting.ranks = static_cast<int>(1 + random() % 7);
  setting.ranks_per_node = static_cast<int>(1 + random() % static_cast<uint64_t>(setting.ranks));
  setting.hints.method = random() % 2 == 0 ? access::Method::kListIo : access::Method::kTwoPhase;
  setting.hints.collective_buffer_bytes = 64 << (10 + random() % 4);
  setting.hints.alignment_bytes = random() % 2 == 0 ? 4096 : 1;
  setting.hints.subfile_count =
      seed % 6 == 0 ? access::ResolvedHints::kSubfileForEachNode : static_cast<int64_t>(1 + random() % 9);
  setting.flushes = static_cast<int>(random() % 3);
  setting.compressed = seed % 5 == 0;
  setting.checksums = seed % 4 != 0;
  return setting;
}

Setting of_parts(int parts, int ranks = 3) {
  Setting setting;
  setting.ranks = ranks;
  setting.hints.subfile_count = parts;
  return setting;
}

void write_whole(const Setting& setting, storage::MemoryDriver& memory) {
  on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(write_file(setting, comm, borrow(memory)).message(), ""); });
}

/// Returns what reading the file on one rank says, all of it compared with what was written.
std::string read_alone(const std::string& path, storage::MemoryDriver& memory, const Setting& written) {
  Setting setting = written;
  setting.ranks = setting.ranks_per_node = 1;
  setting.path = path;
  const auto comm = make_self_comm();
  return compare_file(setting, *comm, borrow(memory), {});
}

std::vector<std::string> part_files(storage::MemoryDriver& memory) {
  std::vector<std::string> names = memory.list_directory(".").value();
  std::erase_if(names, [](const std::string& name) { return !generation_of("run.h5", name); });
  return names;
}

TEST(PartMap, EveryByteIsFoundWhereItsRowLies) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    storage::PartMap map;
    map.parts.resize(1 + random() % 6);
    storage::PartedArray array{.address = storage::PartMap::kFirstAddress + static_cast<int64_t>(random() % 100),
                               .row_count = static_cast<int64_t>(1 + random() % 20),
                               .row_bytes = static_cast<int64_t>(1 + random() % 9),
                               .offsets = {}};
    std::vector<std::pair<int, int64_t>> expected;  // one for each byte
    for (int part = 0; part < map.part_count(); ++part) {
      array.offsets.push_back(static_cast<int64_t>(random() % 1000));
      const int64_t rows = array.row_count / map.part_count() + (part < array.row_count % map.part_count() ? 1 : 0);
      for (int64_t byte = 0; byte < rows * array.row_bytes; ++byte) {
        expected.emplace_back(part, array.offsets.back() + byte);
      }
    }
    map.arrays = {array};
    for (size_t at = 0; at < expected.size();) {
      const auto bytes = static_cast<int64_t>(1 + random() % (expected.size() - at));
      const storage::PartedStretch stretch = map.stretch_at(array.address + static_cast<int64_t>(at), bytes);
      ASSERT_GT(stretch.bytes, 0);
      ASSERT_LE(stretch.bytes, bytes);
      for (int64_t byte = 0; byte < stretch.bytes; ++byte, ++at) {
        ASSERT_EQ(expected[at], std::pair(stretch.part, stretch.offset + byte));
      }
    }
    EXPECT_EQ(map.stretch_at(array.end(), 1).bytes, 0);
    storage::PartedArray next = array;
    next.address = array.end() + 10;
    map.arrays.push_back(next);
    EXPECT_EQ(map.stretch_at(array.end() + 3, 100).part, storage::PartedStretch::kGap);
    EXPECT_EQ(map.stretch_at(array.end() + 3, 100).bytes, 7);
    EXPECT_EQ(map.stretch_at(storage::PartMap::kFirstAddress - 1, 5).part, storage::PartedStretch::kMaster);
    EXPECT_EQ(map.stretch_at(storage::PartMap::kFirstAddress - 1, 5).bytes, 1);
  }
}

TEST(PartNames, OnlyNamesOfPartsAreTakenForThem) {
  EXPECT_EQ(generation_of("run.h5", part_name("run.h5", 7, 12)), 7);
  for (const char* name :
       {"run.h5", "run.h5.part-", "run.h5.part-1", "run.h5.part-1-", "run.h5.part-x-1", "run.h5.part-1-2.bak",
        "other.h5.part-1-2", "run.h5.part--1-2", "run.h5.part-99999999999999999999-0"}) {
    EXPECT_EQ(generation_of("run.h5", name), std::nullopt) << name;
  }
}

TEST(Parts, WhatIsWrittenComesBackOnOtherRanks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Setting setting = random_setting(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    storage::MemoryDriver memory;
    write_whole(setting, memory);
    const int nodes = (setting.ranks + setting.ranks_per_node - 1) / setting.ranks_per_node;
    const int64_t wanted = setting.hints.subfile_count;
    EXPECT_EQ(part_files(memory).size(), static_cast<size_t>(wanted < 0 ? nodes : wanted));
    Setting reading = random_setting(seed + 1000);
    on_ranks(reading, [&](Comm& comm) {
      EXPECT_EQ(compare_file(reading, comm, borrow(memory), {.verify = seed % 2 == 0}), "");
      auto session = ReadSession::open(environment_of(comm, borrow(memory), reading.hints), setting.path, {});
      ASSERT_TRUE(session.ok()) << session.status().message();
      EXPECT_EQ(*read_strings(**session, "unknown names"), (std::vector<std::string>{"dens", "h1"}));
      if (setting.checksums) {
        std::vector<std::string> remarks;
        auto found = (*session)->verify(&remarks);
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_TRUE(found->empty());
        EXPECT_EQ(remarks, std::vector<std::string>());
      }
    });
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Parts, ANewFileReplacesThePartsOfTheOldOneAndWhatWasLeftBehind) {
  storage::MemoryDriver memory;
  const Setting setting = of_parts(3);
  write_whole(setting, memory);
  for (const char* name : {"run.h5.part-9-0", "run.h5.part-9-44"}) {
    ASSERT_TRUE(memory.open(name, {.mode = storage::OpenOptions::Mode::kCreate}).ok());
  }
  write_whole(of_parts(2), memory);
  EXPECT_EQ(part_files(memory), (std::vector<std::string>{"run.h5.part-10-0", "run.h5.part-10-1"}));
  EXPECT_EQ(read_alone("run.h5", memory, setting), "");
}

TEST(Parts, AFileIsRemovedWithItsPartsAndWhatWasLeftBehind) {
  storage::MemoryDriver memory;
  const Setting setting = of_parts(3);
  write_whole(setting, memory);
  Setting other = setting;
  other.path = "run.h5.part-1";  // a file whose name begins as one of a part
  write_whole(other, memory);
  const std::vector<std::string> of_other = memory.list_directory(".").value();
  storage::OpenOptions create;
  create.mode = storage::OpenOptions::Mode::kCreate;
  ASSERT_TRUE(memory.open("run.h5.part-7-0", create).ok());
  ASSERT_EQ(part_files(memory).size(), 4u);
  EXPECT_EQ(remove_with_parts(memory, "run.h5").message(), "");
  EXPECT_TRUE(part_files(memory).empty());
  EXPECT_EQ(memory.list_directory(".").value().size(), of_other.size() - 4);
  EXPECT_EQ(read_alone(other.path, memory, other), "");
  EXPECT_EQ(remove_with_parts(memory, "run.h5").code(), ErrorCode::kNotFound);
}

TEST(Parts, AFileThatIsGivenUpLeavesTheOldOneWhole) {
  storage::MemoryDriver memory;
  const Setting setting = of_parts(3);
  write_whole(setting, memory);
  const std::vector<std::string> before = part_files(memory);
  on_ranks(setting,
           [&](Comm& comm) { EXPECT_EQ(write_file(setting, comm, borrow(memory), &WriteSession::abandon).message(), ""); });
  EXPECT_EQ(part_files(memory), before);
  EXPECT_EQ(read_alone("run.h5", memory, setting), "");
}

TEST(Parts, EveryFailedOperationEndsEverywhereAndLeavesAWholeFile) {
  for (const access::Method method : {access::Method::kListIo, access::Method::kTwoPhase}) {
    Setting setting = of_parts(2, 3);
    setting.hints.method = method;
    storage::MemoryDriver memory;
    write_whole(setting, memory);
    for (int rank = 0; rank < setting.ranks; ++rank) {
      bool failed = true;
      int failures = 0;
      for (int nth = 1; failed && nth < 200; ++nth) {
        SCOPED_TRACE("operation " + std::to_string(nth) + " of rank " + std::to_string(rank));
        std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
        failed = write_with_failure(setting, &WriteSession::commit, memory, rank, nth, statuses) >= nth;
        failures += statuses[0].ok() ? 0 : 1;
        for (const Status& status : statuses) {
          ASSERT_EQ(status.message(), statuses[0].message());
        }
        ASSERT_EQ(read_alone("run.h5", memory, setting), "");
        ASSERT_FALSE(*memory.exists(partial_path("run.h5")));
      }
      EXPECT_GT(failures, 3);
    }
    write_whole(setting, memory);
    EXPECT_EQ(part_files(memory).size(), 2U);
  }
}

TEST(Parts, APowerLossAfterTheCommitCostsNothing) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    storage::MemoryDriver memory{{.track_unsynced = true}};
    const Setting setting = of_parts(3);
    write_whole(setting, memory);
    memory.crash(seed);
    ASSERT_EQ(read_alone("run.h5", memory, setting), "");
  }
}

TEST(Parts, APartThatIsMissingOrCutIsNamed) {
  storage::MemoryDriver memory;
  const Setting setting = of_parts(3);
  write_whole(setting, memory);
  const std::string part = part_files(memory)[1];
  {
    auto file = memory.open(part, {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
    ASSERT_TRUE(file->resize(file->size().value() - 70000).ok());
  }
  const std::string cut = read_alone("run.h5", memory, setting);
  EXPECT_NE(cut.find(part + "', which is cut short"), std::string::npos) << cut;
  ASSERT_TRUE(memory.remove(part).ok());
  const std::string missing = read_alone("run.h5", memory, setting);
  EXPECT_NE(missing.find(part + "', which is missing"), std::string::npos) << missing;
}

TEST(Parts, SuchAFileCannotGrow) {
  storage::MemoryDriver memory;
  const Setting setting = of_parts(2);
  write_whole(setting, memory);
  on_ranks(setting, [&](Comm& comm) {
    const auto session = WriteSession::append(environment_of(comm, borrow(memory), {}), setting.path, {});
    EXPECT_EQ(session.status().code(), ErrorCode::kUnsupported);
    EXPECT_NE(session.status().message().find("stria join"), std::string::npos) << session.status().message();
  });
  EXPECT_EQ(read_alone("run.h5", memory, setting), "");
}

TEST(PartsTable, DamageIsAnErrorAndNothingElse) {
  storage::PartMap map;
  map.parts = {{.path = "a.part-1-0", .least_bytes = 100, .mark_offset = 76},
               {.path = "a.part-1-1", .least_bytes = 200, .mark_offset = 176}};
  map.arrays = {{.address = storage::PartMap::kFirstAddress, .row_count = 3, .row_bytes = 40, .offsets = {20, 100}}};
  const std::vector<std::string> paths = {"dens"};
  const Bytes content = encode_parts(map, paths);
  const auto table = decode_parts(content, "dir/a");
  ASSERT_TRUE(table.ok()) << table.status().message();
  EXPECT_EQ(table->map.parts[1].path, "dir/a.part-1-1");
  EXPECT_EQ(table->paths, paths);
  for (size_t at = 0; at < content.size(); ++at) {
    Bytes damaged = content;
    damaged[at] ^= std::byte{4};
    EXPECT_FALSE(decode_parts(damaged, "a").ok()) << at;
  }
  for (const storage::PartedArray& wrong : std::initializer_list<storage::PartedArray>{
           {.address = 5, .row_count = 3, .row_bytes = 40, .offsets = {20, 100}},
           {.address = storage::PartMap::kFirstAddress, .row_count = -3, .row_bytes = 40, .offsets = {20, 100}},
           {.address = storage::PartMap::kFirstAddress, .row_count = INT64_MAX, .row_bytes = 40, .offsets = {20, 100}},
           {.address = storage::PartMap::kFirstAddress, .row_count = 3, .row_bytes = 40, .offsets = {21, 100}},
           {.address = storage::PartMap::kFirstAddress, .row_count = 3, .row_bytes = 40, .offsets = {-1, 100}},
           {.address = storage::PartMap::kFirstAddress, .row_count = 3, .row_bytes = 40, .offsets = {20}}}) {
    map.arrays = {wrong};
    EXPECT_EQ(decode_parts(encode_parts(map, paths), "a").status().code(), ErrorCode::kFormat);
  }
  map.arrays.clear();
  map.parts[0].path = "..";
  // The part is a directory, which can't be opened as a file.
  EXPECT_TRUE(decode_parts(encode_parts(map, {}), "a").ok());
  map.parts.clear();
  EXPECT_EQ(decode_parts(encode_parts(map, {}), "a").status().code(), ErrorCode::kFormat);
}

}  // namespace
}  // namespace stria::file::test
