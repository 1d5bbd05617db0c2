// What the kernel tells about the file system under an open file.
#pragma once

#include <sys/stat.h>

#include "storage/driver.hpp"

namespace stria::storage {

inline Identity identity_of(const struct stat& details) {
  return {details.st_dev, details.st_ino};
}

/// Asks for the preferred block size, the stripes where the file system has them (stripes.hpp), and
/// the alignment of direct I/O. Asks too whether the file is local, so that this node's page cache
/// always holds its current bytes, or other nodes write it as well (NFS, Lustre, GPFS, BeeGFS,
/// FUSE). An unknown kind counts as one that other nodes write.
Capabilities probe_capabilities(int descriptor);

}  // namespace stria::storage
