// Of a build without librados' header.
#include "storage/rados/rados_driver.hpp"

namespace stria::storage {

Result<std::shared_ptr<Driver>> make_rados_driver() {
  return Status(ErrorCode::kUnsupported,
                "paths rados:// are for builds that found librados (Debian: librados-dev); configure and build Stria again");
}

}  // namespace stria::storage
