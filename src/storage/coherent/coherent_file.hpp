// A file on which nodes see each other's bytes although each node has its own cache.
//
// Problem: NFS, and file systems in user space, keep what a node has read and written in its
// page cache. They check only now and then whether the file has changed. But MPI-IO promises
// that a rank sees at once what it or its aggregators have written, and after a sync what others
// wrote before it.
// Method: where locks reach all nodes, each access is made under a lock of its range. An NFS
// client forgets its cache when it gets a lock, and writes its changes to the server before it
// gives the lock up; of a page it sends only the bytes that were written. Elsewhere a write is
// handed over at once, and before each read the range is dropped from the cache and the file's
// size is asked for again.
// Cost: on NFS, two messages for each access and the wait for the server; elsewhere one message for
// each read. A list is one access.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

/// Wraps `file` where its nodes have separate caches, or where `is_asked_for`; otherwise returns
/// `file` itself.
std::unique_ptr<File> make_coherent(std::unique_ptr<File> file, bool is_asked_for);

}  // namespace stria::storage
