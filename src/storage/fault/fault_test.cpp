// Scripts are read as the grammar says, and what they ask for happens: errors, short
// calls and kills.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>

#include "storage/conformance_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/fault/fault_script.hpp"
#include "storage/memory/memory_driver.hpp"
#include "storage/registry/registry.hpp"

namespace stria::storage {
namespace {

using testing::DriverTest;
using Mode = OpenOptions::Mode;

std::shared_ptr<FaultScript> script_of(const std::string& text, int rank = 0) {
  return FaultScript::parse(text, rank).value();
}

Result<std::shared_ptr<Driver>> without_faults(const std::string& name) {
  return make_fault_driver(name, std::make_shared<FaultScript>(std::vector<FaultRule>{}, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Fault, DriverTest,
    ::testing::Values(
        testing::DriverCase{"posix_without_faults", [] { return without_faults("posix"); }, testing::disk_directory()},
        testing::DriverCase{"uring_without_faults", [] { return without_faults("uring"); }, testing::disk_directory()},
        testing::DriverCase{"posix_short_and_interrupted",
                            [] {
                              return make_fault_driver("posix",
                                                       script_of("sys_write:short=700:count=all;sys_write:errno=EINTR:count=2;"
                                                                 "sys_read:short=333:count=all;sys_read:nth=7:errno=EINTR"));
                            },
                            testing::disk_directory()},
        testing::DriverCase{"uring_short_and_interrupted",
                            [] {
                              return make_fault_driver(
                                  "uring", script_of("sys_write:short=700:count=all;sys_write:nth=3:errno=EINTR:count=2"));
                            },
                            testing::disk_directory()}),
    testing::case_name);

TEST(FaultScript, ReportsWhatItCannotRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no operation ''"},
      {"frobnicate:errno=EIO", "'frobnicate'"},
      {"write", "lacks an action"},
      {"write:nth=3", "lacks an action"},
      {"write:nth=0:errno=EIO", "nth can't be '0'"},
      {"write:nth=x:errno=EIO", "nth can't be 'x'"},
      {"write:nth=-1:errno=EIO", "nth can't be '-1'"},
      {"write:errno=EWHAT", "'EWHAT'"},
      {"write:errno=0", "'0'"},
      {"write:errno=EIO:kill", "one action"},
      {"write:kill=1", "key=value or kill"},
      {"write:rank", "key=value or kill"},
      {"write:colour=red:kill", "'colour'"},
      {"write:range=5-5:kill", "BEGIN < END"},
      {"write:range=5:kill", "BEGIN-END"},
      {"write:path=:kill", "some text"},
      {"write:short=5", "only sys_write and sys_read"},
      {"sys_write:short=0", "short can't be '0'"},
      {"write:errno=EINTR", "interrupted"},
      {"read:after=5:errno=EIO", "after= is for"},
      {"write:after=99999999999g:errno=EIO", "after can't be"},
      {"write:kill;", "rule ''"},
  };
  for (const auto& [text, part] : cases) {
    const auto script = FaultScript::parse(text, 0);
    ASSERT_FALSE(script.ok()) << text;
    EXPECT_EQ(script.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(script.status().message().find(part), std::string::npos) << text << " gave: " << script.status().message();
  }
}

TEST(FaultScript, CountsPerRuleAndRank) {
  const auto script = script_of("write:nth=2:count=2:errno=ENOSPC;sync:rank=1:errno=EIO;write:path=other:errno=EROFS", 0);
  std::vector<int> seen;
  for (int i = 0; i < 5; ++i) {
    seen.push_back(script->decide(Operation::kWrite, {"file"}).error_number);
  }
  EXPECT_EQ(seen, (std::vector<int>{0, ENOSPC, ENOSPC, 0, 0}));
  EXPECT_EQ(script->decide(Operation::kSync, {"file"}).error_number, 0) << "that rule is for rank 1";
  EXPECT_EQ(script_of("sync:rank=1:errno=5", 1)->decide(Operation::kSync, {"file"}).error_number, EIO);
  EXPECT_EQ(script->decide(Operation::kWrite, {"another"}).error_number, EROFS);
  EXPECT_EQ(script->operation_count(), 7);
  EXPECT_EQ(script->operation_count(Operation::kWrite), 6);
}

TEST(FaultScript, RangesMatchTransfersThatTouchThem) {
  const auto script = script_of("write:range=1k-2k:errno=EIO:count=all");
  const auto error_of = [&](std::vector<ByteRange> ranges) {
    return script->decide(Operation::kWrite, {"f", ranges}).error_number;
  };
  EXPECT_EQ(error_of({{0, 1024}}), 0);
  EXPECT_EQ(error_of({{0, 1025}}), EIO);
  EXPECT_EQ(error_of({{2048, 4096}, {0, 10}}), 0);
  EXPECT_EQ(error_of({{4096, 4097}, {2047, 2049}}), EIO);
}

/// Faults over files in memory.
struct FaultyMemory {
  explicit FaultyMemory(const std::string& text) : script(script_of(text)), driver(memory, script) {}
  std::unique_ptr<File> open(const std::string& name) { return driver.open(name, {.mode = Mode::kCreate}).value(); }
  std::shared_ptr<MemoryDriver> memory = std::make_shared<MemoryDriver>();
  std::shared_ptr<FaultScript> script;
  FaultDriver driver;
};

const std::vector<std::byte> kData(10000, std::byte{3});

TEST(FaultDriver, WordsErrorsLikeARealDriver) {
  FaultyMemory setup("write:nth=2:errno=ENOSPC;sync:errno=EIO;rename:errno=EACCES");
  const auto file = setup.open("dir/name");
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, kData.data(), 10}}));
  const Status full = file->write(std::vector<WriteSegment>{{4096, kData.data(), 100}});
  EXPECT_EQ(full.code(), ErrorCode::kNoSpace);
  EXPECT_EQ(full.message(), "write 'dir/name' at offset 4096 (100 bytes): No space left on device");
  EXPECT_EQ(*file->size(), 10);
  EXPECT_EQ(file->sync().message(), "sync 'dir/name': Input/output error");
  EXPECT_EQ(setup.driver.rename("dir/name", "b").code(), ErrorCode::kPermissionDenied);
  EXPECT_TRUE(*setup.memory->exists("dir/name"));
}

TEST(FaultDriver, FillsUpAtTheByteBudget) {
  for (const bool background : {false, true}) {
    FaultyMemory setup("write:after=2500:errno=ENOSPC");
    const auto file = setup.open("f");
    const auto write = [&](const std::vector<WriteSegment>& list) {
      return background ? file->start_write(list)->wait() : file->write(list);
    };
    STRIA_EXPECT_OK(write({{0, kData.data(), 1000}}));
    const Status full = write({{1000, kData.data(), 1000}, {2000, kData.data(), 1000}});
    EXPECT_EQ(full.message(), "write 'f' at offset 2500 (500 bytes): No space left on device");
    EXPECT_EQ(*file->size(), 2500);
    EXPECT_EQ(write({{2500, kData.data(), 1}}).code(), ErrorCode::kNoSpace) << "a full disk stays full";
  }
}

TEST(FaultDriver, EachOperationCanFailInTurn) {
  const auto workload = [](Driver& driver) -> Status {
    STRIA_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, driver.open("w.tmp", {.mode = Mode::kCreate}));
    STRIA_RETURN_IF_ERROR(file->preallocate(5000));
    STRIA_RETURN_IF_ERROR(file->write(std::vector<WriteSegment>{{0, kData.data(), 5000}}));
    STRIA_RETURN_IF_ERROR(file->start_write(std::vector<WriteSegment>{{5000, kData.data(), 5000}})->wait());
    STRIA_RETURN_IF_ERROR(file->resize(9000));
    STRIA_RETURN_IF_ERROR(file->size().status());
    std::vector<std::byte> back(100);
    STRIA_RETURN_IF_ERROR(file->read(std::vector<ReadSegment>{{0, back.data(), 100}}).status());
    STRIA_RETURN_IF_ERROR(file->sync());
    STRIA_RETURN_IF_ERROR(file->close());
    STRIA_RETURN_IF_ERROR(driver.exists("w").status());
    STRIA_RETURN_IF_ERROR(driver.rename("w.tmp", "w"));
    STRIA_RETURN_IF_ERROR(driver.sync_directory("w"));
    STRIA_RETURN_IF_ERROR(driver.list_directory(".").status());
    return driver.remove("w");
  };
  FaultyMemory clean("write:rank=99:kill");
  STRIA_EXPECT_OK(workload(clean.driver));
  const int64_t operations = clean.script->operation_count();
  EXPECT_EQ(operations, 14);
  for (int64_t nth = 1; nth <= operations; ++nth) {
    FaultyMemory setup("any:nth=" + std::to_string(nth) + ":errno=EIO");
    const Status outcome = workload(setup.driver);
    EXPECT_EQ(outcome.code(), ErrorCode::kIo) << "operation " << nth;
    EXPECT_EQ(setup.script->operation_count(), nth) << "the workload stops at its first error";
  }
}

TEST(FaultDriver, CallsBackAtTheCrashPoint) {
  int calls = 0;
  FaultRule rule;
  rule.operations = {Operation::kWrite, Operation::kSync};
  rule.nth = 2;
  rule.action = FaultRule::Action::kCallback;
  rule.callback = [&] { ++calls; };
  FaultDriver driver(std::make_shared<MemoryDriver>(), std::make_shared<FaultScript>(std::vector<FaultRule>{rule}, 0));
  const auto file = driver.open("f", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, kData.data(), 1}}));
  EXPECT_EQ(calls, 0);
  STRIA_EXPECT_OK(file->sync());
  EXPECT_EQ(calls, 1);
}

TEST(FaultDriver, KillsTheProcess) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    FaultyMemory setup("sync:kill");
    const auto file = setup.open("f");
    static_cast<void>(file->sync());
    _exit(7);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL) << state;
}

TEST(FaultDriver, EnvironmentWrapsEveryDriver) {
  // The test runs in a child process, since each process reads the variable once.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("STRIA_FAULT", "remove:rank=3:errno=EROFS", 1);
    const auto driver = make_driver("memory", 3);
    _exit(driver.ok() && (*driver)->remove("nothing").code() == ErrorCode::kReadOnly ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
}

TEST(FaultDriver, EnvironmentErrorsAreReported) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("STRIA_FAULT", "remove:oops", 1);
    const auto driver = make_driver("memory");
    _exit(!driver.ok() && driver.status().message().find("STRIA_FAULT: fault script, rule 'remove:oops'") == 0 ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
}

/// System calls of the real drivers: an error in the middle of a list, and a budget of bytes.
TEST(FaultCalls, FailSystemCallsOfRealFiles) {
  for (const std::string name : {"posix", "uring"}) {
    const std::string path = testing::disk_directory() + "/stria-fault-" + std::to_string(getpid());
    const auto made =
        make_fault_driver(name, script_of("sys_write:after=6000:errno=ENOSPC;sys_sync:errno=EIO;sys_rename:errno=EPERM"));
    if (!made.ok()) {
      ASSERT_EQ(made.status().code(), ErrorCode::kUnsupported);
      continue;
    }
    const auto file = (*made)->open(path, {.mode = Mode::kCreate}).value();
    const Status full = file->start_write(std::vector<WriteSegment>{{0, kData.data(), 10000}})->wait();
    EXPECT_EQ(full.message(), "write '" + path + "' at offset 6000 (4000 bytes): No space left on device") << name;
    EXPECT_EQ(*file->size(), 6000);
    EXPECT_EQ(file->sync().code(), ErrorCode::kIo);
    EXPECT_EQ((*made)->rename(path, path + "2").code(), ErrorCode::kPermissionDenied);
    STRIA_EXPECT_OK(file->close());
    STRIA_EXPECT_OK((*made)->remove(path));
  }
}

}  // namespace
}  // namespace stria::storage
