#include "file/define/names.hpp"

#include <gtest/gtest.h>

namespace stria::file {
namespace {

void expect_refused(const Status& status, const std::string& reason) {
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << reason;
  EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
}

TEST(Names, ThatEveryReaderUnderstandsPass) {
  for (const char* name :
       {"dens", "/a/b c/", "unknown names", "ρ", "\xf0\x9f\x8c\x8d", ".hidden", "...", ".striation/x", "a.b"}) {
    EXPECT_TRUE(check_dataset_name(name).ok()) << name;
    EXPECT_TRUE(check_attribute_name("/", name).ok()) << name;
  }
  EXPECT_TRUE(check_dataset_name(std::string(4096, 'x')).ok());
  EXPECT_TRUE(check_attribute_name("a/b", "..").ok()) << "attributes have no paths";
}

TEST(Names, ThatMeanSomethingElseAreRefusedWithTheReason) {
  expect_refused(check_dataset_name(""), "it is empty");
  expect_refused(check_dataset_name("//"), "it is empty");
  expect_refused(check_dataset_name("a//b"), "a part of it is empty");
  expect_refused(check_dataset_name(".."), "'..' has a meaning of its own");
  expect_refused(check_dataset_name("a/./b"), "'.' has a meaning of its own");
  expect_refused(check_dataset_name(".stria"), "checksums");
  expect_refused(check_dataset_name("/.stria/x"), "checksums");
  expect_refused(check_attribute_name(".stria/rows_0", "x"), "checksums");
  expect_refused(check_attribute_name("/", ""), "empty");
}

TEST(Names, ThatAreNoTextAreRefusedAndShownAsText) {
  const std::string bad[] = {"\xff\xfe",         "a\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                             "\xf4\x90\x80\x80", "\xf5"};
  for (const std::string& name : bad) {
    expect_refused(check_dataset_name(name), "not UTF-8");
    expect_refused(check_attribute_name("/", name), "not UTF-8");
  }
  EXPECT_NE(check_dataset_name("\xff\xfe").message().find("'\\xff\\xfe'"), std::string::npos);
  expect_refused(check_dataset_name(std::string("a\0b", 3)), "NUL");
  expect_refused(check_dataset_name(std::string(70000, 'x')), "70000 bytes");
  EXPECT_LT(check_dataset_name(std::string(70000, 'x')).message().size(), 200u);
}

}  // namespace
}  // namespace stria::file
