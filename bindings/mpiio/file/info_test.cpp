// Hints from text.
#include "mpiio/file/info.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stria::mpiio {
namespace {

TEST(Info, ReadsAList) {
  EXPECT_EQ(parse_hint_list(" cb_nodes=4 ; romio_cb_write = enable;;odd"),
            (Hints{{"cb_nodes", "4"}, {"romio_cb_write", "enable"}, {"odd", ""}}));
}

TEST(Info, PutsTheEnvironmentAboveTheProgramAndFilesBelow) {
  setenv("STRIA_HINTS", "cb_nodes=7", 1);
  std::vector<std::string> problems;
  const access::FileHints from_files{{{"cb_nodes", "2"}, {"romio_cb_read", "disable"}, {"romio_ds_read", "disable"}}, {"odd"}};
  EXPECT_EQ(with_environment({{"cb_nodes", "1"}, {"romio_cb_read", "enable"}}, from_files, problems),
            (Hints{{"cb_nodes", "7"}, {"romio_cb_read", "enable"}, {"romio_ds_read", "disable"}}));
  unsetenv("STRIA_HINTS");
  EXPECT_EQ(problems, (std::vector<std::string>{"odd"}));
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
