// Hints from files: which win, what is refused and where it stands, the same on every rank.
#include "access/plan/hint_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "access/request/hints.hpp"
#include "comm/self/self_comm.hpp"
#include "comm/simulated/simulated_comm.hpp"

namespace stria::access {
namespace {

TEST(HintLines, AreNamesAndValues) {
  const FileHints read = parse_hint_lines("# all files\ncb_nodes 4\n\n  cb_buffer_size\t 65536 # small\ncb_nodes 5\n", "f");
  EXPECT_EQ(read.hints, (Hints{{"cb_nodes", "4"}, {"cb_buffer_size", "65536"}}));
  EXPECT_TRUE(read.problems.empty());
}

// Other lines, or the program, give what they need.
TEST(HintLines, ThatMeanNothingAloneCount) {
  const FileHints found = parse_hint_lines(
      "stria_part_places /nvme0/run:/nvme1/{node}\nstria_home_every 10\nstria_subfiles 4\nstria_parity 1\n", "hints");
  EXPECT_EQ(found.problems, std::vector<std::string>());
  std::vector<std::string> warnings;
  const ResolvedHints resolved = resolve_hints(found.hints, warnings);
  EXPECT_EQ(warnings, std::vector<std::string>());
  EXPECT_EQ(resolved.part_places, (std::vector<std::string>{"/nvme0/run", "/nvme1/{node}"}));
  EXPECT_EQ(resolved.home_every, 10);
}

TEST(HintLines, ThatAreBrokenAreNamedAndLeftOut) {
  const FileHints read = parse_hint_lines(
      "cb_nodes\ncb_nods 3\ncb_nodes many\nstria_driver memory\nstria_wait_deadline_s 1\ncb_nodes 2\n", "/d/hints");
  EXPECT_EQ(read.hints, (Hints{{"cb_nodes", "2"}}));
  ASSERT_EQ(read.problems.size(), 5U);
  const std::vector<std::string> parts{"'cb_nodes' has no value", "'cb_nods' is not known", "'many'", "'stria_driver'",
                                       "'stria_wait_deadline_s'"};
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(read.problems[i].find("'/d/hints', line " + std::to_string(i + 1) + ": "), 0U) << read.problems[i];
    EXPECT_NE(read.problems[i].find(parts[i]), std::string::npos) << read.problems[i];
  }
}

class HintFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(place_);
    unsetenv("STRIA_HINTS_FILE");
  }
  void TearDown() override {
    unsetenv("STRIA_HINTS_FILE");
    std::filesystem::remove_all(place_);
  }
  /// Makes STRIA_HINTS_FILE name it.
  void name(const std::string& file) { setenv("STRIA_HINTS_FILE", file.c_str(), 1); }
  std::string make(const std::string& file, const std::string& text) {
    std::ofstream(place_ / file) << text;
    return place_ / file;
  }
  /// Returns what a file in the directory is opened with, by one rank.
  FileHints found() {
    FileHints result;
    EXPECT_TRUE(hints_from_files(*make_self_comm(), place_ / "data.h5", {"STRIA_HINTS_FILE"}, result).ok());
    return result;
  }

  const std::filesystem::path place_ = std::filesystem::temp_directory_path() / ("stria_hints_" + std::to_string(getpid()));
};

TEST_F(HintFiles, AreNotNeeded) {
  EXPECT_TRUE(found().hints.empty());
  EXPECT_TRUE(found().problems.empty());
}

TEST_F(HintFiles, OfTheUserGoBeforeTheDirectorys) {
  make(".stria-hints", "cb_nodes 1\nromio_ds_read disable\n");
  EXPECT_EQ(found().hints, (Hints{{"cb_nodes", "1"}, {"romio_ds_read", "disable"}}));
  name(make("mine", "cb_nodes 2\n"));
  EXPECT_EQ(found().hints, (Hints{{"cb_nodes", "2"}, {"romio_ds_read", "disable"}}));
}

// An endless device, or a pipe without a writer, must not delay the open.
TEST_F(HintFiles, AreRegularAndOfModerateSize) {
  const std::string pipe = place_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string large = make("large", "cb_buffer_size 65536\n");
  std::filesystem::resize_file(large, 3 << 20);
  for (const std::string& bad : {std::string("/dev/zero"), pipe, place_.string(), large, (place_ / "none").string()}) {
    name(bad);
    const FileHints read = found();
    EXPECT_TRUE(read.hints.empty()) << bad;
    ASSERT_EQ(read.problems.size(), 1U) << bad;
    EXPECT_EQ(read.problems[0].find("STRIA_HINTS_FILE names '" + bad + "', which is left out: "), 0U) << read.problems[0];
  }
}

// Where everyone may write, a stranger's file tunes nobody else's.
TEST_F(HintFiles, OfStrangersDoNotCount) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can make a file that belongs to another";
  }
  const std::string file = make(".stria-hints", "cb_nodes 3\n");
  ASSERT_EQ(chown(file.c_str(), 4711, 4711), 0);
  EXPECT_TRUE(found().hints.empty());
  ASSERT_EQ(found().problems.size(), 1U);
  EXPECT_NE(found().problems[0].find("'" + file + "'"), std::string::npos) << found().problems[0];
  ASSERT_EQ(chown(place_.c_str(), 4711, 4711), 0);
  EXPECT_EQ(found().hints, (Hints{{"cb_nodes", "3"}}));
}

TEST_F(HintFiles, AreTheSameOnEveryRank) {
  name(make("mine", "cb_nodes 2\ncb_nods 7\n"));
  std::vector<FileHints> seen(3);
  const auto report = run_simulated({.ranks = 3, .ranks_per_node = 2}, [&](Comm& comm) {
    // Other ranks' directories don't matter.
    const std::string path = comm.rank() == 0 ? place_ / "data.h5" : std::filesystem::path("/nowhere/data.h5");
    EXPECT_TRUE(hints_from_files(comm, path, {"STRIA_HINTS_FILE"}, seen[static_cast<size_t>(comm.rank())]).ok());
  });
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const FileHints& hints : seen) {
    EXPECT_EQ(hints.hints, (Hints{{"cb_nodes", "2"}}));
    EXPECT_EQ(hints.problems, seen[0].problems);
    EXPECT_EQ(hints.problems.size(), 1U);
  }
}

}  // namespace
}  // namespace stria::access
