// A driver that counts and records every request to the storage, and passes it on to the
// driver inside.
//
// Problem: requests come from many places and go to many drivers.
// Method: one wrapper stands around each driver (registry.cpp). It counts every open, read, write
// and sync for its file (trace/counters/counters.hpp) and, at level full, records it as a span. The
// file is that of the call under way (trace::FileScope), so that a temporary name counts for the
// final one; without such a call it is the path.
// Cost: two readings of the clock, an uncontended lock, and a few comparisons for each piece.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

std::shared_ptr<Driver> make_traced_driver(std::shared_ptr<Driver> driver);

}  // namespace stria::storage
