// What the kernel tells about the file system under an open file.
#pragma once

#include <sys/stat.h>

#include "storage/driver.hpp"

namespace stria::storage {

inline Identity identity_of(const struct stat& details) {
  return {details.st_dev, details.st_ino};
}

/// Asks for the preferred block size, the stripes where the file system has them (stripes.hpp), the alignment of direct I/O,
/// and whether the page cache holds the file's only current copy on this node (local file systems) or other nodes write it as
/// well (NFS, Lustre, GPFS, BeeGFS, FUSE: assumed whenever the kind isn't known).
Capabilities probe_capabilities(int descriptor);

}  // namespace stria::storage
