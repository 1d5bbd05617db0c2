// A driver that looks at each path: those of a store go to the striped driver, all others to the
// one inside. So a store can be used wherever a local path can, whatever driver was chosen. Cost:
// the comparison of a few letters when a file is opened.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

std::shared_ptr<Driver> make_routed_driver(std::shared_ptr<Driver> local);

}  // namespace stria::storage
