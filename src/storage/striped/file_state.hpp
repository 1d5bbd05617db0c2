// Describes what the servers of a file in a store know of it, all slots together.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/striped/store.hpp"

namespace stria::storage {

struct FileState {
  int64_t bytes = 0;
  int64_t modified_ns = 0;  ///< since 1970; 0: no server has any of it
  // The following are filled by states_of_files() alone.
  int64_t allocated_bytes = 0;  ///< on the servers' disks, where holes take none
  Status trouble = {};          ///< why some server's word is missing
};

/// Asks every server that has a slot of the file. `patience`: 0 is that of every request. `silent`
/// gets the addresses of servers that can't be asked.
Result<FileState> state_of_file(const std::shared_ptr<Store>& store, const wire::Opened& place,
                                std::chrono::milliseconds patience = {}, std::vector<std::string>* silent = nullptr);

}  // namespace stria::storage
