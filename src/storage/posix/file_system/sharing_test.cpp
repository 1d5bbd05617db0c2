#include "storage/posix/file_system/sharing.hpp"

#include <gtest/gtest.h>

namespace stria::storage {
namespace {

constexpr uint32_t kNfs = 0x6969;
constexpr uint32_t kFuse = 0x65735546;
constexpr uint32_t kLustre = 0x0BD00BD0;

constexpr const char* kMounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "28 27 8:1 / / rw,noatime shared:1 - ext4 /dev/sda1 rw,discard\n"
    "61 28 0:52 / /nfs rw,relatime shared:7 master:2 - nfs4 server:/x rw,vers=4.2,local_lock=none,addr=10.0.0.1\n"
    "62 28 0:53 / /old rw - nfs server:/y rw,vers=3,nolock,local_lock=all\n"
    "63 28 0:54 / /ceph rw - fuse.ceph-fuse ceph-fuse rw,user_id=0\n"
    "64 28 0:55 / /any rw - fuse.sshfs host: rw,user_id=0\n"
    "65 28 0:56 / /lustre rw,localflock - lustre 10.0.0.1@tcp:/fs rw,lazystatfs\n"
    "66 28 0:5";

Mount mount_of(unsigned minor) {
  return find_mount(kMounts, 0, minor).value();
}

TEST(Sharing, MountsAreFoundByDevice) {
  EXPECT_EQ(mount_of(52).type, "nfs4");
  EXPECT_EQ(mount_of(52).options, ",rw,relatime,rw,vers=4.2,local_lock=none,addr=10.0.0.1,");
  EXPECT_EQ(find_mount(kMounts, 8, 1)->type, "ext4");
  EXPECT_FALSE(find_mount(kMounts, 8, 2).has_value());
  EXPECT_FALSE(find_mount(kMounts, 0, 5).has_value()) << "half a line";
  EXPECT_FALSE(find_mount("", 0, 52).has_value());
}

TEST(Sharing, OfNfsDependsOnItsMount) {
  EXPECT_TRUE(sharing_of(kNfs, mount_of(52)).locks_reach_all);
  EXPECT_TRUE(sharing_of(kNfs, mount_of(52)).caches_apart);
  EXPECT_FALSE(sharing_of(kNfs, mount_of(53)).locks_reach_all);
}

TEST(Sharing, OfTheUnknownIsTheWorst) {
  EXPECT_FALSE(sharing_of(kFuse, mount_of(55)).locks_reach_all);
  EXPECT_TRUE(sharing_of(kFuse, mount_of(55)).caches_apart);
  EXPECT_TRUE(sharing_of(kFuse, mount_of(54)).locks_reach_all);
  EXPECT_FALSE(sharing_of(kFuse, mount_of(54)).caches_apart);
  EXPECT_TRUE(sharing_of(kFuse, mount_of(54)).hears_late);
  EXPECT_FALSE(sharing_of(kLustre, mount_of(56)).locks_reach_all);
  EXPECT_FALSE(sharing_of(0x12345, {}).locks_reach_all);
  EXPECT_TRUE(sharing_of(0xEF53, {}).locks_reach_all);
  EXPECT_FALSE(sharing_of(0xEF53, {}).caches_apart);
}

}  // namespace
}  // namespace stria::storage
