// Drivers by name, and by path: whatever the name, paths stria://SERVER/PATH are those of a store (striped/).
#pragma once

#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/fault/fault_script.hpp"

namespace stria::storage {

/// Makes the driver called `name`: "posix"; "uring" (posix files with io_uring for transfers in the background and direct ones;
/// kUnsupported where the kernel doesn't offer it: use posix); or "memory" (the same files for every driver of that name in
/// this process). kInvalidArgument for another name. `rank` is this process's, for faults asked for by the environment variable
/// STRIA_FAULT (grammar: storage/fault/fault_script.hpp), whose syntax errors are reported as kInvalidArgument too.
Result<std::shared_ptr<Driver>> make_driver(const std::string& name, int rank = 0);

/// Makes the driver called `name` with the faults of `script`, both at its own operations and at the system calls beneath it.
Result<std::shared_ptr<Driver>> make_fault_driver(const std::string& name, std::shared_ptr<FaultScript> script);

}  // namespace stria::storage
