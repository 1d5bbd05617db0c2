// A driver that looks at each path: those of a store go to the striped driver, those of a pool to
// the rados driver, all others to the driver inside. So stores and pools can be used wherever a
// local path can, whichever driver was chosen.
// Cost: a few letters are compared when a file is opened.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

std::shared_ptr<Driver> make_routed_driver(std::shared_ptr<Driver> local);

}  // namespace stria::storage
