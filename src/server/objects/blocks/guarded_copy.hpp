// Copies to and from mappings of files, where a signal reports an error of the file system.
#pragma once

#include <cstddef>

namespace stria::server {

/// Calls copy() and returns true. When a page that it touches can't be read or written (SIGBUS),
/// returns false and leaves the copy half done. copy() must only copy bytes. The first call
/// installs a handler for the signal in the process. Signals that don't come from guarded copies go
/// to the earlier handler.
bool guarded(void (*copy)(void* context), void* context);

template <typename Copy>
bool guarded_copy(Copy& copy) {
  return guarded([](void* context) { (*static_cast<Copy*>(context))(); }, &copy);
}

}  // namespace stria::server
