// Hints from text.
#include "mpiio/file/info.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stria::mpiio {
namespace {

TEST(Info, ReadsAList) {
  EXPECT_EQ(parse_hint_list(" cb_nodes=4 ; romio_cb_write = enable;;odd"),
            (Hints{{"cb_nodes", "4"}, {"romio_cb_write", "enable"}, {"odd", ""}}));
}

TEST(Info, ReadsLines) {
  EXPECT_EQ(parse_hint_lines("# all files\ncb_nodes 4\n\n  cb_buffer_size\t 65536 # small\ncb_nodes 5\n"),
            (Hints{{"cb_nodes", "4"}, {"cb_buffer_size", "65536"}}));
}

TEST(Info, PutsTheEnvironmentAboveTheProgram) {
  setenv("STRIA_HINTS", "cb_nodes=7", 1);
  std::vector<std::string> problems;
  EXPECT_EQ(with_environment({{"cb_nodes", "1"}, {"romio_cb_read", "enable"}}, problems),
            (Hints{{"cb_nodes", "7"}, {"romio_cb_read", "enable"}}));
  unsetenv("STRIA_HINTS");
  EXPECT_TRUE(problems.empty());
}

/// The problem that is reported for a file of hints.
std::string problem_of(const std::string& path) {
  std::vector<std::string> problems;
  setenv("ROMIO_HINTS", path.c_str(), 1);
  const Hints hints = with_environment({{"cb_nodes", "1"}}, problems);
  unsetenv("ROMIO_HINTS");
  EXPECT_EQ(problems.empty(), hints.size() == 2) << path;
  return problems.empty() ? "" : problems[0];
}

// An endless device, or a pipe without a writer, must not delay the open.
TEST(Info, TakesHintsFromRegularFilesOfModerateSizeOnly) {
  const std::filesystem::path place = std::filesystem::temp_directory_path() / ("stria_hints_" + std::to_string(getpid()));
  std::filesystem::create_directory(place);
  const std::string file = place / "hints", pipe = place / "pipe", large = place / "large";
  std::ofstream(file) << "cb_buffer_size 65536\n";
  EXPECT_EQ(problem_of(file), "");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(large) << "cb_buffer_size 65536\n";
  std::filesystem::resize_file(large, 3 << 20);
  for (const std::string& bad : {std::string("/dev/zero"), pipe, place.string(), large, place.string() + "/none"}) {
    EXPECT_NE(problem_of(bad).find("'" + bad + "'"), std::string::npos) << bad;
  }
  std::filesystem::remove_all(place);
}

TEST(Info, GoesThroughMpiAndBack) {
  const Hints hints{{"cb_nodes", "3"}, {"striping_unit", "65536"}};
  MPI_Info info = info_of(hints);
  EXPECT_EQ(hints_of(info), hints);
  MPI_Info_free(&info);
  EXPECT_TRUE(hints_of(MPI_INFO_NULL).empty());
}

}  // namespace
}  // namespace stria::mpiio
