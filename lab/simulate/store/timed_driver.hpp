// The storage driver of a run: its calls take the time of the store.
//
// Method: names and, where the run carries data, bytes lie in memory (storage/memory/). Where it
// doesn't, writes are forgotten but for the end of the file.
#pragma once

#include <memory>

#include "clock/clock.hpp"
#include "storage/memory/memory_driver.hpp"
#include "store/store.hpp"

namespace stria::simulate {

/// What is passed must outlive the driver and its files; `memory` has the names and bytes. Calls
/// belong to the clock's running rank.
std::unique_ptr<storage::Driver> make_timed_driver(Clock& clock, Store& store, storage::MemoryDriver& memory,
                                                   bool carries_data);

}  // namespace stria::simulate
