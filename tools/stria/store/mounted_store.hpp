// A store as a file system of this machine, by FUSE: each call of the kernel becomes one or a few
// requests to the store's servers.
//
// The kernel caches attributes for a second, and a file's bytes until the file is opened again and
// has changed. What programs write in small pieces is gathered (mounted_data.hpp). The store's
// servers see one user, who mounted it; the kernel compares owner, group and mode with the user who
// asks.
// Cost: a look-up asks the manager, and every server of a file for its size.
#pragma once

#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>

#include <string>

#include "storage/driver.hpp"
#include "store/mounted_data.hpp"

namespace stria::tool {

/// For the callbacks, which find it by fuse_get_context().
struct MountedStore {
  std::string url;  ///< of the store's directory that is the root, without a slash at its end
  storage::Driver& driver;
  MountedFiles& files;
};

/// The table of calls. The private data of the file system is a MountedStore.
const fuse_operations& mounted_store_operations();

}  // namespace stria::tool
