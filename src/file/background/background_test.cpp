// Commits that go on while the program computes, on real ranks of one node, and of nodes that are
// pretended.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

constexpr int64_t kRows = 512;
constexpr int64_t kColumns = 1024;

/// Returns the processors on which each thread of this process may run that gives way to this one.
std::vector<cpu_set_t> processors_of_nice_threads() {
  std::vector<cpu_set_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(entry.path().filename());
    cpu_set_t processors;
    if (getpriority(PRIO_PROCESS, static_cast<id_t>(thread)) > getpriority(PRIO_PROCESS, 0) &&
        sched_getaffinity(thread, sizeof processors, &processors) == 0) {
      found.push_back(processors);
    }
  }
  return found;
}

class BackgroundCommitTest : public test::NodesTest {
 protected:
  /// Begins a file whose numbers count from `first`, and then spoils the memory that was put.
  Commit write(const std::string& name, double first, const CreateOptions& options = {}, const DatasetOptions& about = {}) {
    const auto [row, count] = rows(kRows);
    std::vector<double> numbers(static_cast<size_t>(count * kColumns));
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = first + static_cast<double>(row * kColumns) + static_cast<double>(i);
    }
    File file = File::create(comm_, path(name), options);
    Dataset dataset = file.create_dataset("dens", ElementType::kFloat64, {kRows, kColumns}, about);
    dataset.put({{row, 0}, {count, kColumns}}, Memory(numbers.data(), count * kColumns));
    file.set_attribute("/", "first", first);
    Commit commit = file.commit_async();
    std::fill(numbers.begin(), numbers.end(), -1.0);
    return commit;
  }

  void expect_content(const std::string& name, double first) {
    OpenOptions options;
    options.verify = true;
    File file = File::open(comm_, path(name), options);
    EXPECT_EQ(file.attribute("/", "first"), first);
    EXPECT_TRUE(file.verify().empty());
    const std::vector<double> numbers = file.read<double>("dens");
    ASSERT_EQ(numbers.size(), static_cast<size_t>(kRows * kColumns));
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], first + static_cast<double>(i)) << "at " << i;
    }
  }
  void expect_only(const std::vector<std::string>& expected) {
    std::vector<std::string> found = names();
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
    MPI_Barrier(MPI_COMM_WORLD);  // before a rank begins the next file
  }
};

TEST_P(BackgroundCommitTest, TheFileHasWhatTheMemoryHadAtTheCall) {
  const Commit commit = write("run.h5", 7);
  commit.wait();
  EXPECT_TRUE(commit.done());
  EXPECT_TRUE(commit.error().ok());
  commit.wait();
  expect_content("run.h5", 7);
  expect_only({"run.h5"});
}

TEST_P(BackgroundCommitTest, WhatDoesNotFitIntoTheStagingIsWrittenAtOnce) {
  for (const char* limit : {"0", "1000", "1000000"}) {
    for (const char* method : {"automatic", "two_phase", "data_sieving"}) {
      SCOPED_TRACE(std::string(limit) + " bytes, " + method);
      CreateOptions options;
      options.hints = {{"stria_staging_limit", limit}, {"stria_method", method}};
      write("run.h5", 3, options).wait();
      expect_content("run.h5", 3);
    }
  }
}

TEST_P(BackgroundCommitTest, SlowOrStagedWritersMakeTheSameFile) {
  const std::string near = path("near");
  if (rank_ == 0) {
    std::filesystem::create_directory(near);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Hints& hints : {Hints{{"stria_staging_rate", "60000000"}}, Hints{{"stria_staging_writers", "2"}},
                             Hints{{"stria_staging", near}}, Hints{{"stria_staging", near}, {"stria_staging_limit", "1000"}}}) {
    SCOPED_TRACE(hints.begin()->first);
    CreateOptions options;
    options.hints = hints;
    const Commit commit = write("run.h5", 6, options);
    write("next.h5", 7, options).wait();
    commit.wait();
    expect_content("run.h5", 6);
    expect_content("next.h5", 7);
    EXPECT_TRUE(std::filesystem::is_empty(near));
    MPI_Barrier(MPI_COMM_WORLD);  // before a rank begins the next file
  }
  expect_only({"near", "next.h5", "run.h5"});
}

TEST_P(BackgroundCommitTest, WhenTheCopyFailsTheStagedFileStaysAndIsBroughtLater) {
  const std::string near = path("near");
  if (rank_ == 0) {
    std::filesystem::create_directory(near);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CreateOptions options;
  options.hints = {{"stria_staging", near}};
  File file = File::create(comm_, path("taken"), options);
  if (rank_ == 0) {
    std::filesystem::create_directory(path("taken"));
  }
  const double number = rank_;
  file.create_dataset("dens", ElementType::kFloat64, {ranks_}).put({{rank_}, {1}}, {&number, 1});
  MPI_Barrier(MPI_COMM_WORLD);
  const Commit commit = file.commit_async();
  const std::string text = test::error_of([&] { commit.wait(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("was not written, but is complete as '" + near + "/%2F"), std::string::npos) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    std::filesystem::remove(path("taken"));
    EXPECT_EQ(drain_staged(near), std::vector<std::string>{path("taken")});
    EXPECT_TRUE(std::filesystem::is_empty(near));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(File::open(comm_, path("taken")).read<double>("dens").size(), static_cast<size_t>(ranks_));
  expect_only({"near", "taken"});
}

TEST_P(BackgroundCommitTest, TheThreadGivesWayAndLeavesTheProcessorsOfTheRanks) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  constexpr int kLowestPriority = 19;
  if (CPU_COUNT(&before) < 2 || getpriority(PRIO_PROCESS, 0) == kLowestPriority) {
    GTEST_SKIP() << "there is one processor, or no lower priority";
  }
  int first = 0;
  while (!CPU_ISSET(first, &before)) {
    ++first;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  write("run.h5", 8).wait();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  const std::vector<cpu_set_t> nice = processors_of_nice_threads();
  ASSERT_EQ(nice.size(), 1U);
  const bool has_all_ranks_of_the_node = ranks_ == 1 || std::string(GetParam()) == "0";
  EXPECT_TRUE(!has_all_ranks_of_the_node || !CPU_ISSET(first, &nice[0]));
}

TEST_P(BackgroundCommitTest, CompressedDataAreCompressedBeforeTheCallReturns) {
  DatasetOptions about;
  about.filters = Filters::compress();
  write("run.h5", 5, {}, about).wait();
  expect_content("run.h5", 5);
}

TEST_P(BackgroundCommitTest, FilesGetTheirNamesInTurnAndOneNameWaitsForItself) {
  std::vector<Commit> commits;
  for (int i = 0; i < 4; ++i) {
    commits.push_back(write("run_" + std::to_string(i) + ".h5", i));
  }
  commits.push_back(write("run_0.h5", 10));
  commits.back().wait();
  for (const Commit& commit : commits) {
    EXPECT_TRUE(commit.done());
  }
  expect_content("run_0.h5", 10);
  for (int i = 1; i < 4; ++i) {
    expect_content("run_" + std::to_string(i) + ".h5", i);
  }
}

TEST_P(BackgroundCommitTest, ADirectoryThatTakesTheNameFailsOnEveryRankAndLeavesNothing) {
  write("run.h5", 1).wait();
  CreateOptions options;
  File file = File::create(comm_, path("taken"), options);
  if (rank_ == 0) {
    std::filesystem::create_directory(path("taken"));
  }
  const double number = rank_;
  file.create_dataset("dens", ElementType::kFloat64, {ranks_}).put({{rank_}, {1}}, {&number, 1});
  MPI_Barrier(MPI_COMM_WORLD);
  const Commit commit = file.commit_async();
  EXPECT_THROW(file.flush(), Error);
  const std::string text = test::error_of([&] { commit.wait(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("was not written"), std::string::npos) << text;
  EXPECT_EQ(commit.error().message(), text);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_only({"run.h5", "taken"});
  write("run.h5", 2).wait();
  expect_content("run.h5", 2);
}

TEST_P(BackgroundCommitTest, AFailureForWhichNobodyWaitsIsToldAtTheNextCall) {
  {
    File file = File::create(comm_, path("taken"));
    if (rank_ == 0) {
      std::filesystem::create_directory(path("taken"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const Commit commit = file.commit_async();
    while (!commit.done()) {
      usleep(1000);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 has dropped its commit
  const std::string text = test::error_of([&] { File::create(comm_, path()); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("create('" + path() + "') was not begun"), std::string::npos) << text;
  EXPECT_NE(text.find("an earlier commit_async() is told first that has failed: call it again: "), std::string::npos) << text;
  EXPECT_EQ(text.find(path() + "' was not written"), std::string::npos) << text;
  EXPECT_NE(text.find("taken' was not written"), std::string::npos) << text;
  write("run.h5", 4).wait();
  expect_content("run.h5", 4);
  expect_only({"run.h5", "taken"});
}

TEST_P(BackgroundCommitTest, ANameThatIsUnderWayIsReadWhenItIsThere) {
  write("run.h5", 3).wait();
  CreateOptions slow;
  slow.hints = {{"stria_staging_rate", "30000000"}};
  write("run.h5", 4, slow);
  expect_content("run.h5", 4);
  expect_only({"run.h5"});
}

// A time series: each step is added while the one before may still be on its way.
TEST_P(BackgroundCommitTest, AFileGrowsStepByStep) {
  constexpr int64_t kSteps = 4;
  AppendOptions options;
  options.hints = {{"stria_staging_rate", "60000000"}};
  const std::pair<const char*, std::function<Dataset(File&)>> kinds[] = {
      {"series.h5",
       [](File& file) {
         file.create_dataset("probe", ElementType::kFloat64, {kUnlimited, kColumns});
         return file.append_rows("probe", 1);
       }},
      {"series.nc",
       [](File& file) {
         DatasetOptions about;
         about.unlimited = true;
         return file.create_dataset("probe", ElementType::kFloat64, {1, kColumns}, about);
       }},
  };
  for (const auto& [name, make] : kinds) {
    const auto [column, count] = rows(kColumns);
    Commit commit;
    for (int64_t step = 0; step < kSteps; ++step) {
      std::vector<double> numbers(static_cast<size_t>(count), static_cast<double>(step));
      File file = step == 0 ? File::create(comm_, path(name)) : File::append(comm_, path(name), options);
      Dataset probe = step == 0 ? make(file) : file.append_rows("probe", 1);
      probe.put({{step, column}, {1, count}}, numbers);
      commit = file.commit_async();
      EXPECT_TRUE(file.hint_warnings().empty());
      std::fill(numbers.begin(), numbers.end(), -1.0);
    }
    File file = File::open(comm_, path(name));
    commit.wait();
    EXPECT_TRUE(file.verify().empty());
    const std::vector<double> numbers = file.read<double>("probe");
    ASSERT_EQ(numbers.size(), static_cast<size_t>(kSteps * kColumns));
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], static_cast<double>(static_cast<int64_t>(i) / kColumns)) << "at " << i;
    }
  }
  expect_only({"series.h5", "series.nc"});
}

TEST_P(BackgroundCommitTest, NothingAddedIsNothingToDo) {
  write("run.h5", 1).wait();
  const Commit commit = File::append(comm_, path("run.h5")).commit_async();
  EXPECT_TRUE(commit.done());
  expect_content("run.h5", 1);
}

TEST_P(BackgroundCommitTest, WhatIsOverwrittenIsSoBeforeTheCallReturns) {
  write("run.h5", 1).wait();
  const auto [row, count] = rows(kRows);
  std::vector<double> numbers(static_cast<size_t>(count * kColumns));
  std::iota(numbers.begin(), numbers.end(), 2.0 + static_cast<double>(row * kColumns));
  File file = File::append(comm_, path("run.h5"));
  file.update("dens").put({{row, 0}, {count, kColumns}}, numbers);
  file.set_attribute("/", "first", 2.0);
  EXPECT_TRUE(file.commit_async().done());
  ASSERT_EQ(file.hint_warnings().size(), 1U);
  EXPECT_NE(file.hint_warnings()[0].find("it overwrites data that the file has"), std::string::npos);
  expect_content("run.h5", 2);
}

TEST_P(BackgroundCommitTest, ACommitThatIsDoneInTheCallSaysWhy) {
  CreateOptions options;
  options.hints = {{"stria_subfiles", "2"}, {"stria_staging", path("near")}};
  File file = File::create(comm_, path(), options);
  file.commit_async().wait();
  std::string warnings;
  for (const std::string& warning : file.hint_warnings()) {
    warnings += warning + '\n';
  }
  EXPECT_NE(warnings.find("does the whole commit before it returns: the file is in parts"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("'stria_staging' has no effect on new files with 'stria_subfiles'"), std::string::npos) << warnings;
}

TEST_P(BackgroundCommitTest, RanksMustMakeTheSameCall) {
  if (ranks_ == 1) {
    GTEST_SKIP();
  }
  File file = File::create(comm_, path());
  const std::string text =
      test::error_of([&] { rank_ == 0 ? file.commit() : file.commit_async().wait(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("commit_async()"), std::string::npos) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  expect_only({});
}

INSTANTIATE_TEST_SUITE_P(RanksPerNode, BackgroundCommitTest, testing::Values("0", "1"));

}  // namespace
}  // namespace stria
