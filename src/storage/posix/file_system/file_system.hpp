// Describes what the kernel tells about the file system under an open file.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "storage/driver.hpp"

namespace stria::storage {

// Magic numbers of statfs(2).
inline constexpr uint32_t kExt4 = 0xEF53;
inline constexpr uint32_t kTmpfs = 0x01021994;
inline constexpr uint32_t kRamfs = 0x858458F6;

inline Identity identity_of(const struct stat& details) {
  return {details.st_dev, details.st_ino};
}

inline NameInfo info_of(const struct stat& details) {
  constexpr int64_t kNsPerSecond = 1000000000;
  return {.is_plain_file = S_ISREG(details.st_mode) && details.st_nlink <= 1,
          .is_mine = details.st_uid == geteuid(),
          .changed_ns = details.st_mtim.tv_sec * kNsPerSecond + details.st_mtim.tv_nsec};
}

/// Asks for the preferred block size, the stripes where the file system has them (stripes.hpp), and
/// the alignment of direct I/O. Asks too whether the file is local, so that this node's page cache
/// always holds its current bytes, or other nodes write it as well (NFS, Lustre, GPFS, BeeGFS,
/// FUSE). An unknown kind counts as one that other nodes write.
Capabilities probe_capabilities(int descriptor);

}  // namespace stria::storage
