// Memory runs out on one rank while a file is opened, read or verified. Every rank ends, with
// the same outcome.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "file/session/scarce_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

using access::test::Counting;

/// Reads all datasets, the lists and an attribute on every rank, and verifies; returns the first
/// failure. Only allocations of the session's own work count.
Status read_everything(const Setting& setting, Comm& comm, std::shared_ptr<storage::Driver> driver) {
  OpenOptions options;
  options.verify = true;
  Environment environment = environment_of(comm, std::move(driver), setting.hints);
  const std::vector<Content> all = contents(setting);
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
    static_cast<void>(session->record(*number, slab, target));  // the commit reports its failure
  }
  STRIA_RETURN_IF_ERROR(session->commit());
  std::vector<Column> columns;
  int64_t row_bytes = 0;
  STRIA_RETURN_IF_ERROR(read_table(*session, "lists/scalars", columns, row_bytes).status());
  STRIA_RETURN_IF_ERROR(read_strings(*session, "unknown names").status());
  STRIA_RETURN_IF_ERROR(read_number_attribute(*session, "/", "time").status());
  STRIA_ASSIGN_OR_RETURN(const std::vector<Damage> damage, session->verify());
  return damage.empty() ? Status() : Status(ErrorCode::kInternal, "intact data are called damaged");
}

void check_every_moment(const Setting& setting) {
  storage::MemoryDriver memory;
  on_ranks(setting, [&](Comm& comm) { ASSERT_TRUE(write_file(setting, comm, borrow(memory)).ok()); });
  fail_at_every_moment(
      [&](int64_t failing) {
        return run_once(setting, failing, [&](Comm& comm) { return read_everything(setting, comm, borrow(memory)); });
      },
      [](const Status& status) { ASSERT_EQ(status.code(), ErrorCode::kResourceExhausted) << status.message(); });
}

TEST(ScarceRead, EndsListReadsEverywhere) {
  check_every_moment(lists_of_each_node());
}

TEST(ScarceRead, EndsReadsOfChunksEverywhere) {
  Setting setting = lists_of_each_node();
  setting.compressed = true;
  check_every_moment(setting);
}

TEST(ScarceRead, EndsTwoPhaseReadsEverywhere) {
  check_every_moment(two_phase_on_two_nodes());
}

// Memory runs out while reading fails for another reason, on all ranks or on one.
TEST(ScarceRead, EndsAFailureEverywhere) {
  for (const Setting& setting : {lists_of_each_node(), two_phase_on_two_nodes()}) {
    storage::MemoryDriver memory;
    on_ranks(setting, [&](Comm& comm) { ASSERT_TRUE(write_file(setting, comm, borrow(memory)).ok()); });
    for (const char* script : {"read:nth=1:errno=EIO", "read:nth=6:rank=0:errno=EIO"}) {
      const auto read = [&](Comm& comm) {
        const auto faults = storage::FaultScript::parse(script, comm.rank()).value();
        return read_everything(setting, comm, std::make_shared<storage::FaultDriver>(borrow(memory), faults));
      };
      fail_while_failing(600, ErrorCode::kIo, [&](int64_t failing) { return run_once(setting, failing, read); });
    }
  }
}

}  // namespace
}  // namespace stria::file::test
