#include "storage/registry.hpp"

#include "storage/memory/memory_driver.hpp"
#include "storage/posix/posix_driver.hpp"

namespace stria::storage {

Result<std::shared_ptr<Driver>> make_driver(const std::string& name, int) {
  if (name == "posix") {
    return std::shared_ptr<Driver>(std::make_shared<PosixDriver>());
  }
  if (name == "memory") {
    static const std::shared_ptr<Driver> shared = std::make_shared<MemoryDriver>();
    return shared;
  }
  return Status(ErrorCode::kInvalidArgument, "no storage driver is called '" + name + "'; there are posix, uring and memory");
}

}  // namespace stria::storage
