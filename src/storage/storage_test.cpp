// Every driver under the conformance suite.
#include <gtest/gtest.h>

#include "storage/conformance_test.hpp"
#include "storage/memory/memory_driver.hpp"
#include "storage/posix/posix_driver.hpp"
#include "storage/registry/registry.hpp"

namespace stria::storage {
namespace {

using testing::DriverCase;
using testing::DriverTest;

DriverCase registered(const std::string& title, const std::string& driver, const std::string& parent_directory,
                      bool direct = false) {
  return {
      .name = title, .make = [driver] { return make_driver(driver); }, .parent_directory = parent_directory, .direct = direct};
}

Result<std::shared_ptr<Driver>> make_private_memory() {
  return std::shared_ptr<Driver>(std::make_shared<MemoryDriver>());
}
Result<std::shared_ptr<Driver>> make_tracking_memory() {
  return std::shared_ptr<Driver>(std::make_shared<MemoryDriver>(MemoryDriver::Options{.track_unsynced = true}));
}

INSTANTIATE_TEST_SUITE_P(Memory, DriverTest,
                         ::testing::Values(DriverCase{"memory", make_private_memory, ""},
                                           DriverCase{"memory_tracking", make_tracking_memory, ""}),
                         testing::case_name);
INSTANTIATE_TEST_SUITE_P(Posix, DriverTest,
                         ::testing::Values(registered("posix_tmpfs", "posix", "/dev/shm"),
                                           registered("posix_disk", "posix", testing::disk_directory()),
                                           registered("posix_direct", "posix", testing::disk_directory(), true)),
                         testing::case_name);

INSTANTIATE_TEST_SUITE_P(Uring, DriverTest,
                         ::testing::Values(registered("uring_tmpfs", "uring", "/dev/shm"),
                                           registered("uring_disk", "uring", testing::disk_directory()),
                                           registered("uring_direct", "uring", testing::disk_directory(), true)),
                         testing::case_name);

TEST(Registry, KnowsItsDrivers) {
  EXPECT_STREQ((*make_driver("posix"))->name(), "posix");
  EXPECT_STREQ((*make_driver("memory"))->name(), "memory");
  const std::string path = "registry_knows_its_drivers";
  ASSERT_TRUE((*make_driver("memory"))->open(path, {OpenOptions::Mode::kCreate}).ok());
  EXPECT_TRUE(*(*make_driver("memory"))->exists(path)) << "one set of files a process";
  EXPECT_TRUE((*make_driver("memory"))->remove(path).ok());
  const auto unknown = make_driver("tape");
  EXPECT_EQ(unknown.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("tape"), std::string::npos);
}

}  // namespace
}  // namespace stria::storage
