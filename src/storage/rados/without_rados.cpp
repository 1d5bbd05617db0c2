// Describes what a build has without librados' header.
#include "storage/rados/rados_driver.hpp"

namespace stria::storage {

namespace {

Status refusal() {
  return Status(ErrorCode::kUnsupported,
                "paths rados:// are for builds that found librados (Debian: librados-dev); configure and build Stria again");
}

}  // namespace

Result<std::shared_ptr<Driver>> make_rados_driver() {
  return refusal();
}

Result<std::vector<PoolEntry>> list_pool_directory(const std::string&) {
  return refusal();
}

Result<PoolName> look_in_pool(const std::string&) {
  return refusal();
}

}  // namespace stria::storage
