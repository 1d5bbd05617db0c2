// A file whose nodes see each other's bytes although each has a cache of its own.
//
// Problem: NFS, and file systems in user space, keep what a node has read and written in its page cache and look only now and
// then whether the file has changed; MPI-IO promises that a rank sees at once what it or its aggregators have written, and what
// others wrote before a sync. Method: where locks reach all nodes, each access is made under a lock of its range: an NFS client
// forgets its cache when it gets a lock, writes its changes to the server before it gives one up, and sends no byte of a page
// beside those that were written. Elsewhere a write is handed over at once, and before each read the cache is emptied of the
// range and the file's size asked for anew. Cost: NFS two messages an access and the wait for the server; else one message a
// read. A list is one access.
#pragma once

#include <memory>

#include "storage/driver.hpp"

namespace stria::storage {

/// `file` behind such accesses where its nodes' caches are apart or it is asked for; otherwise `file` itself.
std::unique_ptr<File> make_coherent(std::unique_ptr<File> file, bool is_asked_for);

}  // namespace stria::storage
