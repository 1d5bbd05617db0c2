// Bytes on their way between memory and the objects of a file.
//
// Problem: a request names pieces of the file; each object has a stretch of it.
// Method: pieces that touch become one extent. The extents of an object travel as one compound
// operation, and several operations are under way.
// Cost: an extent costs the object's server about 0.1 ms, and more than 1,000 of them cost more
// than in proportion: an operation has at most 128, and 8 MiB.
#pragma once

#include <cstdint>

#include "storage/lists/runs.hpp"
#include "storage/rados/flight.hpp"

namespace stria::storage {

/// The objects of one file.
struct FileObjects {
  const Pool& pool;
  uint64_t file = 0;
  int64_t object_bytes = 0;
};

/// Starts the operations that write the list.
void add_writes(Flight& flight, const FileObjects& objects, const RunList& list);
/// Starts those that read it. Bytes that no object has are zeros. The list's memory must stay until
/// the flight has been waited for.
void add_reads(Flight& flight, const FileObjects& objects, const RunList& list);

}  // namespace stria::storage
