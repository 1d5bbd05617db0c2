// A file of one process whose small accesses are gathered (small_requests.hpp).
//
// What is written goes to the storage when there is enough of it, and before all other accesses: a
// list, a lock, the size, sync, close. What is fetched ahead is then forgotten. An error of a write
// that had returned already is told by the access that meets it, and by the next sync or close.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

/// Wraps `file`. `memory_bytes`: for what is written and fetched. Returns `file` itself where that
/// is too little.
std::unique_ptr<File> gather_small(std::unique_ptr<File> file, int64_t memory_bytes);

}  // namespace stria::storage
