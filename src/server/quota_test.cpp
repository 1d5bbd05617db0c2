// Quotas are kept by the servers, also for files that are open.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/quotas.hpp"

namespace stria::server {
namespace {

using storage::OpenOptions;
using storage::StripedDriver;
using testing::Cluster;
using testing::noise;
using testing::read_all;
using Mode = OpenOptions::Mode;

constexpr int64_t kMegabyte = 1000000;

Status set_quota(const Cluster& cluster, int64_t bytes) {
  const auto store = storage::Store::at(cluster.address()).value();
  const wire::SetQuota wanted{wire::QuotaKind::kUser, static_cast<uint32_t>(getuid()), "", bytes, 0};
  return store->ask_manager(wire::Kind::kSetQuota, wire::encode(wanted)).status();
}

wire::Quotas::Entry used(const Cluster& cluster) {
  const auto store = storage::Store::at(cluster.address()).value();
  const auto reply = store->ask_manager(wire::Kind::kQuotas, {}).value();
  return wire::decode<wire::Quotas>(reply).value().entries.at(0);
}

/// Writes until that is refused, or there are so many bytes.
Status write_until_refused(storage::File& file, int64_t begin, int64_t most_bytes) {
  const auto piece = noise(kMegabyte / 4, 1);
  const auto bytes = static_cast<int64_t>(piece.size());
  Status outcome;
  for (int64_t at = begin; at < most_bytes && outcome.ok(); at += bytes) {
    const storage::WriteSegment segment{at, piece.data(), bytes};
    outcome = file.write({&segment, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return outcome;
}

TEST(Quota, AnOpenFileGrowsNoFurther) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_until_refused(*file, 0, kMegabyte));
  STRIA_EXPECT_OK(set_quota(cluster, 4 * kMegabyte));
  const Status refused = write_until_refused(*file, kMegabyte, 2000 * kMegabyte);
  EXPECT_EQ(refused.code(), ErrorCode::kNoSpace) << refused.message();
  EXPECT_TRUE(wire::is_over_quota(refused)) << refused.message();
  EXPECT_NE(refused.message().find("user " + std::to_string(getuid()) + " has "), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find(" of at most 4.0 MB"), std::string::npos) << refused.message();
  // What is there can be written again, and read.
  const auto again = noise(kMegabyte, 2);
  STRIA_EXPECT_OK(testing::write_all(*file, again));
  EXPECT_TRUE(std::equal(again.begin(), again.end(), read_all(*file).begin()));
  EXPECT_FALSE(driver.open(cluster.url() + "/new", {.mode = Mode::kCreate}).ok());
  // Other programs may write again when there is room.
  STRIA_EXPECT_OK(file->resize(kMegabyte));
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  while (used(cluster).bytes > kMegabyte && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(used(cluster).bytes, kMegabyte);
  Status grown = write_until_refused(*file, kMegabyte, 2 * kMegabyte);
  while (wire::is_over_quota(grown) && storage::Clock::now() < deadline) {
    grown = write_until_refused(*file, kMegabyte, 2 * kMegabyte);
  }
  STRIA_EXPECT_OK(grown);
  STRIA_EXPECT_OK(set_quota(cluster, 0));
  STRIA_EXPECT_OK(driver.open(cluster.url() + "/new", {.mode = Mode::kCreate}).status());
}

}  // namespace
}  // namespace stria::server
