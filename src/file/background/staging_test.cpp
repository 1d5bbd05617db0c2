// The limit of what a process stages, over all of its files, and what is given back.
#include "file/background/staging.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "storage/memory/memory_driver.hpp"

namespace stria::file {
namespace {

constexpr int64_t kLimit = 1'000'000;

TEST(Staging, AllFilesTogetherKeepToTheLimitAndWhatIsWrittenMakesRoom) {
  storage::MemoryDriver memory;
  const auto file = memory.open("/f", {.mode = storage::OpenOptions::Mode::kCreate}).value();
  const std::vector<std::byte> data(kLimit, std::byte{7});
  Staging first(kLimit);
  Staging second(kLimit);
  EXPECT_EQ(first.take({0, data.data(), 600'000}), 600'000);
  EXPECT_EQ(second.take({0, data.data(), kLimit}), 400'000);
  EXPECT_EQ(second.take({0, data.data(), 1}), 0);
  EXPECT_EQ(first.left_bytes(), 0);
  EXPECT_EQ(second.left_bytes(), kLimit - 400'000 + 1);
  EXPECT_EQ(second.room(1), nullptr);
  EXPECT_EQ(first.write_piece(*file, 500'000).value(), 500'000);
  EXPECT_FALSE(first.is_written());
  EXPECT_EQ(first.write_piece(*file, 500'000).value(), 100'000);
  EXPECT_TRUE(first.is_written());
  EXPECT_EQ(first.write_piece(*file, 500'000).value(), 0);
  EXPECT_EQ(second.take({400'000, data.data(), kLimit}), 600'000);
  EXPECT_EQ(file->size().value(), 600'000);
}

TEST(Staging, AfterAnErrorNothingIsHeld) {
  storage::MemoryDriver memory;
  static_cast<void>(memory.open("/f", {.mode = storage::OpenOptions::Mode::kCreate}).value());
  const auto read_only = memory.open("/f", {}).value();
  const std::vector<std::byte> data(kLimit, std::byte{7});
  Staging failing(kLimit);
  EXPECT_EQ(failing.take({0, data.data(), kLimit}), kLimit);
  EXPECT_FALSE(failing.write_piece(*read_only, 1000).ok());
  EXPECT_TRUE(failing.is_written());
  EXPECT_EQ(Staging(kLimit).take({0, data.data(), kLimit}), kLimit);
}

}  // namespace
}  // namespace stria::file
