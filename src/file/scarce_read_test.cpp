// Memory that runs out on one rank while a file is opened, read or verified: every rank ends, with the same outcome.
#include <gtest/gtest.h>

#include <algorithm>

#include "access/failing_new_test.hpp"
#include "access/random_case_test.hpp"
#include "file/session_case_test.hpp"

namespace stria::file::test {
namespace {

using access::test::Counting;
using access::test::SureComm;

struct Outcome {
  std::vector<Status> statuses;
  int64_t allocations = 0;
};

/// Reads all datasets on every rank, the lists and an attribute, and verifies; the first failure. Only the session's own work
/// counts.
Status read_everything(const Setting& setting, Comm& comm, storage::MemoryDriver& memory) {
  OpenOptions options;
  options.verify = true;
  Environment environment = environment_of(comm, borrow(memory), setting.hints);
  const std::vector<Content> all = contents(setting.only_whole_rows);
  std::vector<std::vector<double>> values;
  for (const Content& content : all) {
    values.emplace_back(static_cast<size_t>(content.element_count()));
  }
  Counting on(true);
  STRIA_ASSIGN_OR_RETURN(auto session, ReadSession::open(std::move(environment), setting.path, options));
  for (size_t i = 0; i < all.size(); ++i) {
    Counting off(false);
    const auto number = session->find(all[i].path);
    const Memory target(values[i].data(), all[i].element_count());
    const Hyperslab slab{std::vector<int64_t>(all[i].dims.size(), 0), all[i].dims};
    Counting on_again(true);
    static_cast<void>(session->record(*number, slab, target));  // its failure is that of the commit
  }
  STRIA_RETURN_IF_ERROR(session->commit());
  std::vector<Column> columns;
  int64_t row_bytes = 0;
  STRIA_RETURN_IF_ERROR(session->read_table("lists/scalars", columns, row_bytes).status());
  STRIA_RETURN_IF_ERROR(session->read_strings("unknown names").status());
  STRIA_RETURN_IF_ERROR(session->read_number_attribute("/", "time").status());
  STRIA_ASSIGN_OR_RETURN(const std::vector<Damage> damage, session->verify());
  return damage.empty() ? Status() : Status(ErrorCode::kInternal, "intact data are called damaged");
}

Outcome read_once(const Setting& setting, storage::MemoryDriver& memory, int64_t failing) {
  Outcome outcome;
  outcome.statuses.resize(static_cast<size_t>(setting.ranks));
  access::test::fail_allocation(failing);
  on_ranks(setting, [&](Comm& inner) {
    SureComm comm(inner);
    outcome.statuses[static_cast<size_t>(comm.rank())] = read_everything(setting, comm, memory);
  });
  outcome.allocations = access::test::allocation_count();
  return outcome;
}

void check_every_moment(const Setting& setting) {
  storage::MemoryDriver memory;
  on_ranks(setting, [&](Comm& comm) { ASSERT_TRUE(write_file(setting, comm, borrow(memory)).ok()); });
  const Outcome whole = read_once(setting, memory, -1);
  ASSERT_TRUE(whole.statuses[0].ok()) << whole.statuses[0].message();
  int64_t failures = 0;
  const int64_t step = std::max<int64_t>(whole.allocations / access::test::case_count(60), 1);
  for (int64_t failing = 0; failing < whole.allocations; failing += step) {
    SCOPED_TRACE("allocation " + std::to_string(failing) + " of " + std::to_string(whole.allocations));
    const Outcome outcome = read_once(setting, memory, failing);
    ASSERT_FALSE(testing::Test::HasFailure());  // a deadlock
    for (const Status& status : outcome.statuses) {
      ASSERT_EQ(status.code(), outcome.statuses[0].code()) << status.message();
      ASSERT_EQ(status.message(), outcome.statuses[0].message());
    }
    failures += outcome.statuses[0].ok() ? 0 : 1;
    ASSERT_TRUE(outcome.statuses[0].ok() || outcome.statuses[0].code() == ErrorCode::kResourceExhausted)
        << outcome.statuses[0].message();
  }
  EXPECT_GT(failures, whole.allocations / step / 2);
}

TEST(ScarceRead, EndsListReadsEverywhere) {
  Setting setting;
  setting.ranks = 3;
  setting.hints.method = access::Method::kListIo;
  check_every_moment(setting);
}

TEST(ScarceRead, EndsTwoPhaseReadsEverywhere) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 2;
  setting.hints.method = access::Method::kTwoPhase;
  check_every_moment(setting);
}

}  // namespace
}  // namespace stria::file::test
