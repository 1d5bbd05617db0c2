// A driver that counts and records every request to the storage, and else is the one inside.
//
// Problem: requests come from many places and go to many drivers. Method: one wrapper around each driver (registry.cpp), in
// which every open, read, write and sync is counted for its file (trace/counters.hpp) and, at level full, recorded as a span.
// The file is the one that the calls under way are about (trace::FileScope), so that a temporary name counts for the final one;
// else the path. Cost: two readings of the clock, a lock that nobody else wants and a few comparisons a piece.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

std::shared_ptr<Driver> make_traced_driver(std::shared_ptr<Driver> driver);

}  // namespace stria::storage
