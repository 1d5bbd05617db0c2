// A disk that gets full in the middle of a new file of any kind: every rank says so, the old file
// stays, and nothing else.
#include <gtest/gtest.h>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

struct Kind {
  const char* name;
  bool compressed;
  int64_t parts;
};

class FullDisk : public testing::TestWithParam<Kind> {};

TEST_P(FullDisk, LeavesTheOldFile) {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 2;
  setting.compressed = GetParam().compressed;
  setting.hints.subfile_count = GetParam().parts;
  setting.hints.collective_buffer_bytes = 64 << 10;
  storage::MemoryDriver memory;
  on_ranks(setting, [&](Comm& comm) { ASSERT_EQ(write_file(setting, comm, borrow(memory)).message(), ""); });
  const std::vector<std::string> before = memory.list_directory(".").value();
  ASSERT_EQ(before.size(), static_cast<size_t>(1 + GetParam().parts));
  for (const access::Method method : {access::Method::kListIo, access::Method::kTwoPhase}) {
    setting.hints.method = method;
    for (const char* const rule : {"write:after=0:errno=ENOSPC", "write:after=1500:errno=ENOSPC", "rename:errno=ENOSPC"}) {
      SCOPED_TRACE(rule);
      on_ranks(setting, [&](Comm& comm) {
        const auto script = storage::FaultScript::parse(rule, comm.rank()).value();
        const Status status = write_file(setting, comm, std::make_shared<storage::FaultDriver>(borrow(memory), script));
        EXPECT_EQ(status.code(), ErrorCode::kNoSpace) << status.message();
      });
      EXPECT_EQ(memory.list_directory(".").value(), before);
      on_ranks(setting, [&](Comm& comm) { EXPECT_EQ(compare_file(setting, comm, borrow(memory), {.verify = true}), ""); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FullDisk,
                         testing::Values(Kind{"plain", false, 0}, Kind{"compressed", true, 0}, Kind{"parts", false, 2}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace stria::file::test
