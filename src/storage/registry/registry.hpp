// Drivers by name. With every driver, a path stria://SERVER/PATH is a file of a store (striped/),
// and rados://POOL/PATH one in a pool of a Ceph cluster (rados/).
#pragma once

#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/fault/fault_script.hpp"

namespace stria::storage {

/// Makes the driver called `name`. "posix": the system's files. "uring": the same, with io_uring
/// for background and direct writes; kUnsupported where the kernel doesn't offer it (use posix
/// then). "memory": files in memory, shared by all drivers of that name in this process.
/// kInvalidArgument for another name. `rank` is this process's rank, for faults that the
/// environment variable STRIA_FAULT asks for (grammar: storage/fault/fault_script.hpp); syntax
/// errors in it are kInvalidArgument too.
Result<std::shared_ptr<Driver>> make_driver(const std::string& name, int rank = 0);

/// Makes the driver called `name` with the faults of `script`, in its own operations and in the
/// system calls beneath it.
Result<std::shared_ptr<Driver>> make_fault_driver(const std::string& name, std::shared_ptr<FaultScript> script);

}  // namespace stria::storage
