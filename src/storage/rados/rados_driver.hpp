// Files in a pool of a Ceph cluster, by paths rados://POOL/PATH (docs/rados.md).
//
// Problem: a cluster of Ceph has space, and no file system that is mounted here.
// Method: a file is striped over objects of 4 MiB (docs/formats/rados.md). A request travels as
// compound operations, one for up to 128 extents of an object, 16 of them under way. Size and locks
// are entries of objects that all programs change by comparing first.
// Cost: a write takes one request more than its data for the size, a read too. Open and close take
// three each.
// Durability: that of the pool. A write returns when all copies are on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::storage {

/// Returns the driver. kUnsupported when this build has none.
Result<std::shared_ptr<Driver>> make_rados_driver();

// What the tools ask beside.

struct PoolEntry {
  std::string name;
  bool is_directory = false;
};
/// Returns the entries of a directory, sorted.
Result<std::vector<PoolEntry>> list_pool_directory(const std::string& url);

/// Says what a name means.
struct PoolName {
  bool is_directory = false;
  int64_t bytes = 0;         ///< the bytes of a file
  int64_t object_bytes = 0;  ///< how much of the file an object holds
};
Result<PoolName> look_in_pool(const std::string& url);

}  // namespace stria::storage
