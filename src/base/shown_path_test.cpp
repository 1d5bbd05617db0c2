#include "base/shown_path.hpp"

#include <gtest/gtest.h>

namespace stria {
namespace {

TEST(ShownPath, IsShownWholeWhereItFitsALine) {
  const std::string path = "/" + std::string(kMostShownBytes - 1, 'n');
  EXPECT_EQ(shown_path(path), path);
}

TEST(ShownPath, KeepsBeginningAndEndOfALongOne) {
  const std::string path = "stria://server/runs/" + std::string(4000, 'n') + "/the_file.h5";
  const std::string shown = shown_path(path);
  EXPECT_EQ(shown.size(), kMostShownBytes);
  EXPECT_TRUE(shown.starts_with("stria://server/runs/n"));
  EXPECT_TRUE(shown.ends_with("n/the_file.h5"));
  EXPECT_NE(shown.find("[...]"), std::string::npos);
}

TEST(ShownPath, StaysOnALine) {
  EXPECT_EQ(shown_path("/a\nb\x7f"), "/a?b?");
}

}  // namespace
}  // namespace stria
