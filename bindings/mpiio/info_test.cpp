// Hints from text.
#include "info.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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
  EXPECT_EQ(with_environment({{"cb_nodes", "1"}, {"romio_cb_read", "enable"}}),
            (Hints{{"cb_nodes", "7"}, {"romio_cb_read", "enable"}}));
  unsetenv("STRIA_HINTS");
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
