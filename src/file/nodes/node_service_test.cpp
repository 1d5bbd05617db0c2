// Ranks that ask each other for files, while memory runs out on one of them at every moment in
// turn: each question is answered, by its own answer, whatever became of the one before.
#include "file/nodes/node_service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access/failing_new_test.hpp"
#include "base/out_of_memory.hpp"
#include "comm/simulated/simulated_comm.hpp"
#include "file/nodes/nodes_driver.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::file::test {
namespace {

using access::test::Counting;

constexpr int kRanks = 3;
constexpr int kAnswerTag = 32041;

/// A communicator whose own allocations never fail. An answer that finds no room stays the next one
/// to be taken, as with MPI.
class RoomyComm final : public access::test::SureComm {
 public:
  explicit RoomyComm(Comm& inner) : SureComm(inner), inner_(inner) {}
  std::optional<int> take_message(int tag, std::vector<std::byte>& content) override {
    Counting off(false);
    if (tag == kAnswerTag && waiting_from_) {
      content = waiting_;
      return std::exchange(waiting_from_, std::nullopt);
    }
    if (tag == kAnswerTag && lacks_room_) {
      waiting_from_ = inner_.take_message(tag, waiting_);
      lacks_room_ = !waiting_from_;
      if (waiting_from_) {
        throw std::bad_alloc();
      }
      return std::nullopt;
    }
    return inner_.take_message(tag, content);
  }
  void lack_room_for_an_answer() { lacks_room_ = true; }
  void park(std::unique_ptr<CommRequest>&& request) override {
    access::test::quietly([&] { inner_.park(std::move(request)); });
  }
  Comm& innermost() override { return *this; }

 private:
  Comm& inner_;
  bool lacks_room_ = false;
  std::optional<int> waiting_from_;
  std::vector<std::byte> waiting_;
};

/// Serves, with its allocations counted.
class CountedAttendant final : public Attendant {
 public:
  explicit CountedAttendant(NodeService& service) : service_(service) {}
  void attend() noexcept override {
    Counting on(true);
    service_.attend();
  }

 private:
  NodeService& service_;
};

/// Has files of its own in `/of<rank>`, and asks the others for theirs.
struct Rank {
  Rank(Comm& simulated, storage::MemoryDriver& memory)
      : inner(simulated),
        comm(simulated),
        own(&memory, [](storage::Driver*) {}),
        service(std::make_shared<NodeService>(comm, own)),
        driver(own, service, routes()) {
    inner.set_attendant(std::make_shared<CountedAttendant>(*service));
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void serve_to_the_end() {
    service->settle();
    inner.barrier();
    inner.set_attendant(nullptr);
  }
  NodeRoutes routes() const {
    NodeRoutes all;
    for (int rank = 0; rank < comm.size(); ++rank) {
      if (rank != comm.rank()) {
        all.of_directories["/of" + std::to_string(rank)] = rank;
      }
    }
    return all;
  }

  Comm& inner;
  RoomyComm comm;
  std::shared_ptr<storage::Driver> own;
  std::shared_ptr<NodeService> service;
  NodesDriver driver;
};

std::vector<std::byte> content_of(int rank, int file) {
  return std::vector<std::byte>(static_cast<size_t>(1000 + 10 * rank + file), static_cast<std::byte>(16 * rank + file + 1));
}

std::string path_of(int owner, int rank, int file) {
  return "/of" + std::to_string(owner) + "/from" + std::to_string(rank) + "_" + std::to_string(file);
}

/// Makes a call, which goes well or lacks memory; to files in memory that is a full disk.
/// `failures` counts those that do.
template <typename Make>
bool asked(int& failures, Make&& make) {
  const Status outcome = or_out_of_memory([&] {
    Counting on(true);
    return make();
  });
  const bool lacks = outcome.code() == ErrorCode::kResourceExhausted || outcome.code() == ErrorCode::kNoSpace;
  EXPECT_TRUE(outcome.ok() || lacks) << outcome.message();
  failures += outcome.ok() ? 0 : 1;
  return outcome.ok();
}

/// Writes a file on the next rank, looks at it in every way, and reads it.
void use_file(Rank& rank, int file, int& failures) {
  const int owner = (rank.comm.rank() + 1) % rank.comm.size();
  const std::string path = path_of(owner, rank.comm.rank(), file);
  const auto content = content_of(rank.comm.rank(), file);
  std::unique_ptr<storage::File> opened;
  storage::OpenOptions create;
  create.mode = storage::OpenOptions::Mode::kCreate;
  const bool is_open = asked(failures, [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(opened, rank.driver.open(path, create));
    return {};
  });
  const storage::WriteSegment whole{0, content.data(), static_cast<int64_t>(content.size())};
  const bool is_written = is_open && asked(failures, [&] { return opened->write(std::span(&whole, 1)); });
  int64_t bytes = 0;
  if (is_written && asked(failures, [&]() -> Status {
        STRIA_ASSIGN_OR_RETURN(bytes, opened->size());
        return {};
      })) {
    EXPECT_EQ(bytes, whole.bytes);
  }
  bool exists = false;
  if (is_open && asked(failures, [&]() -> Status {
        STRIA_ASSIGN_OR_RETURN(exists, rank.driver.exists(path));
        return {};
      })) {
    EXPECT_TRUE(exists);
  }
  if (asked(failures, [&]() -> Status {
        STRIA_ASSIGN_OR_RETURN(exists, rank.driver.exists(path + "_other"));
        return {};
      })) {
    EXPECT_FALSE(exists);
  }
  std::vector<std::byte> back(content.size());
  const storage::ReadSegment all{0, back.data(), whole.bytes};
  if (is_written && asked(failures, [&] { return opened->read(std::span(&all, 1)).status(); })) {
    EXPECT_TRUE(back == content) << path;
  }
  if (is_open) {
    asked(failures, [&] { return opened->close(); });
  }
  Counting on(true);
  opened.reset();
}

/// Lets the allocation of that number fail, and returns how many there were, and failures of calls.
std::pair<int64_t, int> use_files(int64_t failing) {
  storage::MemoryDriver memory;
  int failures = 0;
  access::test::fail_allocation(failing);
  const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 1, .seed = 7}, [&](Comm& inner) {
    Rank rank(inner, memory);
    for (int file = 0; file < 2; ++file) {
      use_file(rank, file, failures);
    }
    rank.serve_to_the_end();
  });
  EXPECT_TRUE(report.ok()) << report.status().message();  // otherwise: ranks wait for each other
  return {access::test::allocation_count(), failures};
}

TEST(NodeService, AnswersEveryQuestionWhereMemoryRunsOutAtAnyMoment) {
  const auto [allocations, none] = use_files(-1);
  ASSERT_EQ(none, 0);
  int failures = 0;
  for (int64_t failing = 0; failing < allocations; ++failing) {
    SCOPED_TRACE("allocation " + std::to_string(failing) + " of " + std::to_string(allocations));
    const int failed = use_files(failing).second;
    EXPECT_LE(failed, 1);
    failures += failed;
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(failures, allocations / 2);
}

TEST(NodeService, AnErrorKeepsItsReason) {
  storage::MemoryDriver memory;
  const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 1, .seed = 5}, [&](Comm& inner) {
    Rank rank(inner, memory);
    const int owner = (inner.rank() + 1) % kRanks;
    const Status missing = rank.driver.open(path_of(owner, inner.rank(), 0), {}).status();
    EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
    EXPECT_EQ(missing.reason(), ErrorReason{ENOENT});
    EXPECT_TRUE(missing.message().ends_with(", by rank " + std::to_string(owner))) << missing.message();
    rank.serve_to_the_end();
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
}

TEST(NodeService, TakesALateAnswerForNone) {
  storage::MemoryDriver memory;
  const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 1, .seed = 3}, [&](Comm& inner) {
    Rank rank(inner, memory);
    const int owner = (inner.rank() + 1) % kRanks;
    const std::string path = path_of(owner, inner.rank(), 0);
    storage::OpenOptions create;
    create.mode = storage::OpenOptions::Mode::kCreate;
    EXPECT_TRUE(rank.driver.open(path, create).ok());
    for (int round = 0; round < 5; ++round) {
      rank.comm.lack_room_for_an_answer();
      EXPECT_EQ(rank.driver.exists(path).status().code(), ErrorCode::kResourceExhausted);
      EXPECT_FALSE(rank.driver.exists(path + "_other").value());
      EXPECT_TRUE(rank.driver.exists(path).value());
    }
    rank.serve_to_the_end();
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
}

}  // namespace
}  // namespace stria::file::test
