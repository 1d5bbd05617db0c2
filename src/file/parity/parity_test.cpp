// Files with parity, on simulated ranks: whatever of them is lost within what the parity makes up
// for is read, and put back byte for byte; more is an error that says what is gone.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "file/background/partial_file.hpp"
#include "file/parity/homecoming.hpp"
#include "file/parity/parity_set.hpp"
#include "file/parity/repair.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "support/rounds.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;
using Files = std::map<std::string, Bytes>;

Setting random_setting(uint64_t seed) {
  std::mt19937_64 random(seed);
  Setting setting;
  setting.seed = seed;
  constexpr int kRanks[] = {1, 2, 3, 7};
  setting.ranks = kRanks[random() % 4];
  setting.ranks_per_node = static_cast<int>(1 + random() % static_cast<uint64_t>(setting.ranks));
  setting.hints.method = random() % 2 == 0 ? access::Method::kListIo : access::Method::kTwoPhase;
  setting.hints.collective_buffer_bytes = 64 << 10;
  setting.hints.subfile_count = seed % 3 == 0 ? 0 : static_cast<int64_t>(1 + random() % 6);
  setting.hints.parity_count = static_cast<int64_t>(1 + random() % 3);
  setting.flushes = static_cast<int>(random() % 2);
  setting.compressed = seed % 4 == 1;
  return setting;
}

Setting of(int parts, int parities, int ranks = 2) {
  Setting setting;
  setting.ranks = ranks;
  setting.hints.subfile_count = parts;
  setting.hints.parity_count = parities;
  return setting;
}

void write_whole(const Setting& setting, storage::MemoryDriver& memory) {
  on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(write_file(setting, comm, borrow(memory)).message(), ""); });
}

Files files_in(storage::MemoryDriver& memory, const std::string& directory = ".") {
  Files files;
  for (const std::string& name : memory.list_directory(directory).value()) {
    files[name] = content_of(memory, directory == "." ? name : directory + "/" + name);
  }
  return files;
}

/// Returns what reading on one rank says, and whether it has said that parity was needed.
std::string read_alone(storage::MemoryDriver& memory, const Setting& written) {
  Setting setting = written;
  setting.ranks = setting.ranks_per_node = 1;
  const auto comm = make_self_comm();
  return compare_file(setting, *comm, borrow(memory), {.verify = true});
}

/// What a disk does leaves no trace in the times of files: the parity is written once more.
void as_by_a_disk(storage::MemoryDriver& memory) {
  for (const std::string& name : memory.list_directory(".").value()) {
    if (parity_generation_of("run.h5", name)) {
      set_content(memory, name, content_of(memory, name));
    }
  }
}

std::string repaired(storage::MemoryDriver& memory, const std::string& path = "run.h5") {
  const auto verdict = repair_file(borrow(memory), path, {});
  return verdict.ok() ? "" : verdict.status().message();
}

/// Returns where a file differs; -1: nowhere. What pads a parity file to whole pages, and its mark,
/// are not looked at.
int64_t first_difference(const std::string& name, const Bytes& content, const Bytes& wanted) {
  const bool is_parity = parity_generation_of("run.h5", name).has_value();
  const ParityHead head = is_parity ? decode_head(wanted, name).value().head : ParityHead{};
  const auto is_padding = [&](int64_t at) {
    const int64_t head_end = static_cast<int64_t>(head.encode(0).size());
    const int64_t records_end = head.records_begin() + head.stripe_count() * head.record_bytes();
    return (at >= 8 && at < 16) || (at >= head_end && at < head.records_begin()) ||
           (at >= records_end && at < head.units_begin());
  };
  for (size_t at = 0; at < wanted.size(); ++at) {
    const bool differs = at >= content.size() || content[at] != wanted[at];
    if (differs && !(is_parity && is_padding(static_cast<int64_t>(at)))) {
      return static_cast<int64_t>(at);
    }
  }
  return content.size() == wanted.size() ? -1 : static_cast<int64_t>(wanted.size());
}

/// Files other than the one that is named, which must be there.
std::vector<std::string> names_beside(const Files& files) {
  std::vector<std::string> names;
  for (const auto& [name, content] : files) {
    if (name != "run.h5") {
      names.push_back(name);
    }
  }
  return names;
}

/// Removes a file, cuts it, flips a bit of it or gives it the content of another.
void damage(storage::MemoryDriver& memory, const std::string& name, std::mt19937_64& random) {
  Bytes content = content_of(memory, name);
  switch (content.empty() ? 0 : random() % 4) {
    case 0:
      ASSERT_TRUE(memory.remove(name).ok());
      return;
    case 1:
      content.resize(random() % content.size());
      break;
    case 2:
      content[random() % content.size()] ^= static_cast<std::byte>(1 << random() % 8);
      break;
    default:
      for (std::byte& byte : content) {
        byte = static_cast<std::byte>(random());
      }
  }
  set_content(memory, name, content);
}

TEST(Parity, WhateverIsLostIsReadAndPutBackByteForByte) {
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(48); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Setting setting = random_setting(seed);
    storage::MemoryDriver memory;
    write_whole(setting, memory);
    const Files whole = files_in(memory);
    const auto verdict = check_parity(borrow(memory), "run.h5");
    ASSERT_TRUE(verdict.ok()) << verdict.status().message();
    ASSERT_EQ(in_words(verdict->troubles), "");
    std::vector<std::string> names = names_beside(whole);
    ASSERT_EQ(names.size(), static_cast<size_t>(setting.hints.subfile_count + setting.hints.parity_count));
    std::mt19937_64 random(seed);
    std::shuffle(names.begin(), names.end(), random);
    // One parity file is left, to tell what is wrong; the file itself may be damaged instead.
    int left = static_cast<int>(setting.hints.parity_count);
    for (const std::string& name : names) {
      const bool is_parity = name.find(".parity-") != std::string::npos;
      if (left > (is_parity ? 1 : 0)) {
        damage(memory, name, random);
        --left;
      }
    }
    if (left > 0) {
      Bytes content = content_of(memory, "run.h5");
      content[random() % content.size()] ^= std::byte{16};
      set_content(memory, "run.h5", content);
    }
    as_by_a_disk(memory);
    Setting reading = random_setting(seed + 1000);
    on_ranks(reading, [&](Comm& comm) { EXPECT_EQ(compare_file(reading, comm, borrow(memory), {.verify = true}), ""); });
    ASSERT_EQ(repaired(memory), "");
    for (const auto& [name, content] : files_in(memory)) {
      ASSERT_EQ(first_difference(name, content, whole.at(name)), -1) << name << " of " << content.size();
    }
    ASSERT_EQ(files_in(memory).size(), whole.size());
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Parity, AFlippedBitAnywhereIsPutBack) {
  for (const int parts : {0, 2}) {
    storage::MemoryDriver memory;
    write_whole(of(parts, 1), memory);
    const Files whole = files_in(memory);
    std::mt19937_64 random(static_cast<uint64_t>(parts));
    for (const auto& [name, content] : whole) {
      for (int round = 0; round < rounds(40); ++round) {
        Bytes flipped = content;
        const size_t at = random() % content.size();
        flipped[at] ^= static_cast<std::byte>(1 << random() % 8);
        set_content(memory, name, flipped);
        as_by_a_disk(memory);
        ASSERT_EQ(read_alone(memory, of(parts, 1)), "") << name << " at " << at;
        const std::string said = repaired(memory);
        const bool is_head = parity_generation_of("run.h5", name) && at < 4096;
        ASSERT_TRUE(said.empty() || (is_head && said.find("says nothing") != std::string::npos)) << said << ", at " << at;
        ASSERT_TRUE(is_head || first_difference(name, content_of(memory, name), content) < 0) << name << " at " << at;
      }
      set_content(memory, name, content);
    }
  }
}

TEST(Parity, ABurstInAFileInOnePieceIsPutBack) {
  storage::MemoryDriver memory;
  write_whole(of(0, 2), memory);
  const Bytes whole = content_of(memory, "run.h5");
  for (size_t begin = 0; begin < whole.size(); begin += whole.size() / 7) {
    Bytes content = whole;
    const size_t bytes = std::min(whole.size() / 20, content.size() - begin);
    std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(begin), bytes, std::byte{0xee});
    set_content(memory, "run.h5", content);
    as_by_a_disk(memory);
    ASSERT_EQ(read_alone(memory, of(0, 2)), "");
    ASSERT_EQ(repaired(memory), "");
    ASSERT_TRUE(content_of(memory, "run.h5") == whole);
  }
}

TEST(Parity, TheFileItselfIsPutBackButNotOpenedUntilThen) {
  for (const int parts : {0, 3}) {
    storage::MemoryDriver memory;
    write_whole(of(parts, parts == 0 ? 16 : 1), memory);
    const Files whole = files_in(memory);
    ASSERT_TRUE(memory.remove("run.h5").ok());
    EXPECT_NE(read_alone(memory, of(parts, 1)), "");
    ASSERT_EQ(repaired(memory), "");
    EXPECT_TRUE(files_in(memory) == whole);
  }
}

TEST(Parity, MoreThanItMakesUpForIsAnErrorThatNamesWhatIsGone) {
  storage::MemoryDriver memory;
  const Setting setting = of(4, 1);
  write_whole(setting, memory);
  ASSERT_TRUE(memory.remove("run.h5.part-1-1").ok());
  ASSERT_TRUE(memory.remove("run.h5.part-1-3").ok());
  const Files before = files_in(memory);
  for (const std::string& said : {read_alone(memory, setting), repaired(memory)}) {
    EXPECT_NE(said.find("run.h5.part-1-1' is missing"), std::string::npos) << said;
    EXPECT_NE(said.find("run.h5.part-1-3' is missing"), std::string::npos) << said;
    EXPECT_NE(said.find("2 units of its stripe"), std::string::npos) << said;
    EXPECT_NE(said.find("makes up for 1"), std::string::npos) << said;
  }
  EXPECT_TRUE(files_in(memory) == before);
}

TEST(Parity, APartOfAnotherGenerationIsFoundAndReplaced) {
  storage::MemoryDriver memory, other;
  const Setting setting = of(3, 1);
  write_whole(setting, memory);
  Setting others = setting;
  others.seed = 77;
  write_whole(others, other);
  const Files whole = files_in(memory);
  set_content(memory, "run.h5.part-1-2", content_of(other, "run.h5.part-1-2"));
  EXPECT_EQ(read_alone(memory, setting), "");
  const std::string refused = repaired(memory);
  EXPECT_NE(refused.find("was written to after its parity was made"), std::string::npos) << refused;
  EXPECT_TRUE(repair_file(borrow(memory), "run.h5", {.force = true}).ok());
  EXPECT_TRUE(files_in(memory) == whole);
  // The parity of another file makes up for nothing, and changes nothing.
  set_content(memory, "run.h5.parity-1-0", content_of(other, "run.h5.parity-1-0"));
  EXPECT_EQ(read_alone(memory, setting), "");
}

TEST(Parity, ParityOfOlderFilesGoesWithThem) {
  storage::MemoryDriver memory;
  write_whole(of(2, 2), memory);
  write_whole(of(3, 1), memory);
  std::vector<std::string> names = names_beside(files_in(memory));
  EXPECT_EQ(names, (std::vector<std::string>{"run.h5.parity-2-0", "run.h5.part-2-0", "run.h5.part-2-1", "run.h5.part-2-2"}));
  write_whole(of(2, 0), memory);
  names = names_beside(files_in(memory));
  EXPECT_EQ(names, (std::vector<std::string>{"run.h5.part-3-0", "run.h5.part-3-1"}));
  write_whole(of(2, 1), memory);
  ASSERT_TRUE(remove_with_parts(memory, "run.h5").ok());
  EXPECT_TRUE(files_in(memory).empty());
}

const std::string kPlacedFile = "/data/run.h5";
const std::vector<std::string> kPlaces = {"/a", "/b", "/c"};

/// Returns what lies in places though no link leads to it.
std::vector<std::string> without_link(storage::MemoryDriver& memory) {
  std::set<std::string> linked;
  for (const std::string& name : memory.list_directory("/data").value()) {
    linked.insert(memory.follow_links("/data/" + name));
  }
  std::vector<std::string> found;
  for (const std::string& place : kPlaces) {
    for (const std::string& name : memory.list_directory(place).value()) {
      if (!linked.contains(place + "/" + name)) {
        found.push_back(place + "/" + name);
      }
    }
  }
  return found;
}

Setting in_places(Setting setting) {
  setting.hints.part_places = kPlaces;
  setting.path = kPlacedFile;
  return setting;
}

void lose_place(storage::MemoryDriver& memory, const std::string& place) {
  for (const std::string& name : memory.list_directory(place).value()) {
    ASSERT_TRUE(memory.remove(place + "/" + name).ok());
  }
}

TEST(ParityInPlaces, APlaceThatIsLostIsReadAndPutBack) {
  for (const int ranks : {1, 2, 7}) {
    for (const std::string& lost : kPlaces) {
      SCOPED_TRACE(lost + " on " + std::to_string(ranks));
      storage::MemoryDriver memory;
      const Setting setting = in_places(of(2, 1, ranks));
      write_whole(setting, memory);
      const Files whole = files_in(memory, "/data");
      ASSERT_EQ(whole.size(), 4U);
      for (const std::string& place : kPlaces) {
        ASSERT_EQ(memory.list_directory(place).value().size(), 1U);
      }
      lose_place(memory, lost);
      on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(compare_file(setting, comm, borrow(memory), {.verify = true}), ""); });
      if (lost == "/c") {  // It has the only parity: nothing of the file is lost.
        EXPECT_NE(repaired(memory, kPlacedFile).find("--renew"), std::string::npos);
        continue;
      }
      ASSERT_EQ(repaired(memory, kPlacedFile), "");
      EXPECT_EQ(memory.list_directory(lost).value().size(), 1U);
      for (const auto& [name, content] : files_in(memory, "/data")) {
        EXPECT_EQ(first_difference(name, content, whole.at(name)), -1) << name;
      }
      lose_place(memory, lost);
      ASSERT_EQ(repair_file(borrow(memory), kPlacedFile, {.place = "/d"}).status().message(), "");
      EXPECT_TRUE(memory.list_directory(lost).value().empty());
      EXPECT_EQ(memory.list_directory("/d").value().size(), 1U);
      EXPECT_EQ(files_in(memory, "/data").size(), 4U);
      EXPECT_EQ(in_words(check_parity(borrow(memory), kPlacedFile)->troubles), "");
      ASSERT_TRUE(remove_with_parts(memory, kPlacedFile).ok());
      EXPECT_TRUE(files_in(memory, "/data").empty());
      EXPECT_EQ(without_link(memory), std::vector<std::string>());
    }
  }
}

// A disk of another node is where its directory isn't found; one that is seen may lack the file.
TEST(ParityInPlaces, WhatLiesOnADiskOfAnotherNodeIsToldFromWhatIsMissing) {
  storage::MemoryDriver memory;
  write_whole(in_places(of(2, 1, 2)), memory);
  lose_place(memory, kPlaces[0]);
  const auto script = storage::FaultScript::parse("list_directory:count=all:path=" + kPlaces[0] + ":errno=ENOENT", 0).value();
  for (const bool is_unseen : {false, true}) {
    const std::shared_ptr<storage::Driver> driver =
        is_unseen ? std::make_shared<storage::FaultDriver>(borrow(memory), script) : borrow(memory);
    const auto verdict = check_parity(driver, kPlacedFile);
    ASSERT_TRUE(verdict.ok()) << verdict.status().message();
    ASSERT_EQ(verdict->troubles.size(), 1U);
    EXPECT_EQ(verdict->troubles[0].is_unseen, is_unseen) << verdict->troubles[0].words;
    const std::string words = is_unseen ? "which isn't seen here" : "is missing";
    EXPECT_NE(verdict->troubles[0].words.find(words), std::string::npos) << verdict->troubles[0].words;
  }
}

TEST(ParityInPlaces, ALinkOfOthersIsNoReasonToRemoveWhatItLeadsTo) {
  storage::MemoryDriver memory;
  set_content(memory, "/desk/thesis", Bytes(10));
  ASSERT_TRUE(memory.make_link("/desk/thesis", kPlacedFile + ".part-1-0").ok());
  write_whole(in_places(of(2, 1)), memory);
  EXPECT_EQ(content_of(memory, "/desk/thesis").size(), 10U);
}

// A killed program may leave both of a pair, or the link; so may a failure to remove.
TEST(ParityInPlaces, NothingLiesInAPlaceWithoutALink) {
  const Setting setting = in_places(of(3, 1, 2));
  storage::MemoryDriver memory;
  write_whole(setting, memory);
  for (int rank = 0; rank < setting.ranks; ++rank) {
    bool failed = true;
    for (int nth = 1 + rank % failure_step(); failed && nth < 300; nth += failure_step()) {
      const std::string fault = "any:nth=" + std::to_string(nth) + ":errno=EIO";
      SCOPED_TRACE(fault + " on rank " + std::to_string(rank));
      std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
      int64_t operations = 0;
      on_ranks(setting, [&](Comm& comm) {
        const auto script =
            storage::FaultScript::parse(comm.rank() == rank ? fault : "any:nth=100000:errno=EIO", comm.rank()).value();
        auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
        statuses[static_cast<size_t>(comm.rank())] = write_file(setting, comm, driver);
        operations = comm.rank() == rank ? script->operation_count() : operations;
      });
      failed = operations >= nth;
      ASSERT_EQ(statuses[0].message(), statuses[1].message());
      ASSERT_EQ(read_alone(memory, setting), "");
      ASSERT_EQ(without_link(memory), std::vector<std::string>());
      ASSERT_EQ(in_words(check_parity(borrow(memory), kPlacedFile)->troubles), "");
    }
  }
  write_whole(setting, memory);
  EXPECT_EQ(files_in(memory, "/data").size(), 5U);
}

TEST(ParityInPlaces, AFileWithoutAnyLeavesNothingOfTheOneThatItReplaces) {
  const std::function<Status(WriteSession&)> ends[] = {&WriteSession::commit, commit_and_wait};
  for (const auto& end : ends) {
    storage::MemoryDriver memory;
    write_whole(in_places(of(3, 2)), memory);
    Setting plain = of(0, 0);
    plain.path = kPlacedFile;
    on_ranks(plain, [&](Comm& comm) { EXPECT_EQ(write_file(plain, comm, borrow(memory), end).message(), ""); });
    EXPECT_EQ(files_in(memory, "/data").size(), 1U);
    EXPECT_EQ(without_link(memory), std::vector<std::string>());
    EXPECT_EQ(read_alone(memory, plain), "");
  }
}

TEST(Parity, PartsOfAnotherNameStayWhenACopyIsReplaced) {
  storage::MemoryDriver memory;
  write_whole(of(3, 0), memory);
  set_content(memory, "copy.h5", content_of(memory, "run.h5"));
  Setting plain = of(0, 0);
  plain.path = "copy.h5";
  write_whole(plain, memory);
  EXPECT_EQ(read_alone(memory, plain), "");
  EXPECT_EQ(read_alone(memory, of(3, 0)), "");
}

TEST(Parity, WhereTheReplacedFileCantBeLookedAtTheNewOneIsWhole) {
  for (const char* fault : {"list_directory:nth=1:errno=EACCES", "open:nth=2:errno=EIO", "remove:nth=1:errno=EIO"}) {
    storage::MemoryDriver memory;
    write_whole(of(2, 1), memory);
    const Setting plain = of(0, 0, 1);
    on_ranks(plain, [&](Comm& comm) {
      const auto script = storage::FaultScript::parse(fault, comm.rank()).value();
      EXPECT_EQ(write_file(plain, comm, std::make_shared<storage::FaultDriver>(borrow(memory), script)).message(), "") << fault;
    });
    EXPECT_EQ(read_alone(memory, plain), "") << fault;
  }
}

TEST(ParityInPlaces, AllComesHome) {
  storage::MemoryDriver memory;
  const Setting setting = in_places(of(3, 1));
  write_whole(setting, memory);
  const Bytes part = content_of(memory, "/data/run.h5.part-1-1");
  // What a live program makes stays.
  const std::string live = placed_path(kPlaces, 0, "/data/run.h5.part-2-0");
  ASSERT_TRUE(memory.make_link(live, "/data/run.h5.part-2-0").ok());
  set_content(memory, live, Bytes(10));
  std::vector<std::string> brought;
  Status failure;
  for (const std::string& place : kPlaces) {
    for (const std::string& path : bring_parts_home(memory, place, failure)) {
      brought.push_back(path);
    }
  }
  EXPECT_EQ(failure.message(), "");
  EXPECT_EQ(brought.size(), 4U);
  EXPECT_EQ(memory.list_directory("/a").value().size(), 1U);
  EXPECT_TRUE(memory.list_directory("/b").value().empty());
  EXPECT_TRUE(memory.list_directory("/c").value().empty());
  EXPECT_EQ(memory.follow_links("/data/run.h5.part-1-1"), "/data/run.h5.part-1-1");
  EXPECT_TRUE(content_of(memory, "/data/run.h5.part-1-1") == part);
  ASSERT_TRUE(memory.remove("/data/run.h5.part-1-1").ok());
  EXPECT_EQ(read_alone(memory, setting), "");
  ASSERT_TRUE(repair_file(borrow(memory), kPlacedFile, {}).ok());  // no part seems younger
  EXPECT_TRUE(content_of(memory, "/data/run.h5.part-1-1") == part);
}

// The parity that is found is the file's own, whichever commit the file is of by now.
TEST(Parity, EveryFailedOperationLeavesAWholeFileWithItsParityOrNone) {
  for (const int parts : {0, 2}) {
    Setting setting = of(parts, 1, 3);
    storage::MemoryDriver memory;
    write_whole(setting, memory);
    for (int rank = 0; rank < setting.ranks; ++rank) {
      bool failed = true;
      int failures = 0;
      for (int nth = 1 + rank % failure_step(); failed && nth < 300; nth += failure_step()) {
        SCOPED_TRACE("operation " + std::to_string(nth) + " of rank " + std::to_string(rank));
        std::vector<Status> statuses(static_cast<size_t>(setting.ranks));
        failed = write_with_failure(setting, &WriteSession::commit, memory, rank, nth, statuses) >= nth;
        failures += statuses[0].ok() ? 0 : 1;
        for (const Status& status : statuses) {
          ASSERT_EQ(status.message(), statuses[0].message());
        }
        ASSERT_EQ(read_alone(memory, setting), "");
        ASSERT_FALSE(*memory.exists(partial_path("run.h5")));
        const auto verdict = check_parity(borrow(memory), "run.h5");
        ASSERT_TRUE(verdict.ok()) << verdict.status().message();
        ASSERT_EQ(in_words(verdict->troubles), "");
      }
      EXPECT_GT(failures, 3);
    }
    write_whole(setting, memory);
    EXPECT_EQ(names_beside(files_in(memory)).size(), static_cast<size_t>(parts + 1));
  }
}

TEST(Parity, APowerLossAfterTheCommitLeavesIt) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    storage::MemoryDriver memory{{.track_unsynced = true}};
    write_whole(of(3, 1), memory);
    memory.crash(seed);
    ASSERT_EQ(read_alone(memory, of(3, 1)), "");
    const auto verdict = check_parity(borrow(memory), "run.h5");
    ASSERT_TRUE(verdict.ok()) << verdict.status().message();
    ASSERT_EQ(in_words(verdict->troubles), "");
  }
}

TEST(Parity, ACommitInTheBackgroundMakesIt) {
  for (const int ranks : {1, 3}) {
    Setting setting = in_places(of(0, 2, ranks));
    storage::MemoryDriver memory;
    write_whole(setting, memory);  // the second generation replaces the first
    on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(write_file(setting, comm, borrow(memory), commit_and_wait).message(), ""); });
    EXPECT_EQ(names_beside(files_in(memory, "/data")), (std::vector<std::string>{"run.h5.parity-2-0", "run.h5.parity-2-1"}));
    EXPECT_EQ(without_link(memory), std::vector<std::string>());
    const auto verdict = check_parity(borrow(memory), kPlacedFile);
    ASSERT_TRUE(verdict.ok()) << verdict.status().message();
    EXPECT_EQ(in_words(verdict->troubles), "");
    ASSERT_TRUE(memory.remove(kPlacedFile).ok());
    // A file in one piece is more than two of its sixteen stretches; but it had its name.
    EXPECT_NE(repaired(memory, kPlacedFile).find("can't be made whole"), std::string::npos);
  }
}

TEST(Parity, AFailureInTheBackgroundLeavesNone) {
  const Setting setting = of(0, 1, 2);
  for (const char* fault : {"rename:nth=1:errno=EIO", "list_directory:nth=2:errno=EIO", "resize:nth=1:errno=EIO"}) {
    storage::MemoryDriver memory;
    bool failed = false;
    on_ranks(setting, [&](Comm& comm) {
      const auto script =
          storage::FaultScript::parse(comm.rank() == 0 ? fault : "any:nth=100000:errno=EIO", comm.rank()).value();
      const auto driver = std::make_shared<storage::FaultDriver>(borrow(memory), script);
      const bool is_done = write_file(setting, comm, driver, commit_and_wait).ok();
      failed = comm.rank() == 0 ? !is_done : failed;
    });
    EXPECT_TRUE(failed ? files_in(memory).empty() : files_in(memory).size() == 2) << fault;
  }
}

TEST(Parity, ThatOfAFileWithoutANameIsNothing) {
  storage::MemoryDriver memory;
  on_ranks(of(2, 1), [&](Comm& comm) {
    const std::string fault = "rename:nth=1:errno=EIO";
    auto script = storage::FaultScript::parse(comm.rank() == 0 ? fault : "any:nth=100000:errno=EIO", comm.rank()).value();
    EXPECT_FALSE(write_file(of(2, 1), comm, std::make_shared<storage::FaultDriver>(borrow(memory), script)).ok());
  });
  EXPECT_TRUE(files_in(memory).empty());
  // What a program leaves that is killed there: all but the name and the mark.
  write_whole(of(2, 1), memory);
  ASSERT_TRUE(memory.remove("run.h5").ok());
  Bytes parity = content_of(memory, "run.h5.parity-1-0");
  std::fill_n(parity.begin() + ParityHead::kMarkOffset, 8, std::byte{0});
  set_content(memory, "run.h5.parity-1-0", parity);
  const auto refused = repair_file(borrow(memory), "run.h5", {});
  EXPECT_EQ(refused.status().code(), ErrorCode::kNotFound);
  EXPECT_NE(refused.status().message().find("never got this name"), std::string::npos);
}

TEST(ParityHead, DamageIsAnErrorAndNothingElse) {
  ParityHead head{
      .file_name = "a.h5", .generation = 3, .parities = 2, .members = {{"a.h5.part-3-0", 0, 100000}, {"a.h5", 0, 5000}}};
  const Bytes encoded = head.encode(1);
  const auto read = decode_head(encoded, "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->head == head);
  EXPECT_EQ(read->number, 1);
  EXPECT_FALSE(read->is_committed);
  for (size_t at = 0; at < encoded.size(); ++at) {
    Bytes damaged = encoded;
    damaged[at] ^= std::byte{8};
    const bool is_mark = at >= 8 && at < 16;
    EXPECT_EQ(decode_head(damaged, "x").ok(), is_mark) << at;
    EXPECT_FALSE(decode_head(std::span(encoded).first(at), "x").ok());
  }
  for (const char* name : {"", "..", "a/b"}) {
    head.members[0].name = name;
    EXPECT_EQ(decode_head(head.encode(0), "x").status().code(), ErrorCode::kFormat) << name;
  }
}

}  // namespace
}  // namespace stria::file::test
