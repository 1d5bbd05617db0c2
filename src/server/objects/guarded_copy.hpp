// Copies to and from mappings of files, where an error of the file system comes as a signal.
#pragma once

#include <cstddef>

namespace stria::server {

/// Calls copy() and returns true; false when a page that it touched could not be had (SIGBUS), with
/// the copy left half done. copy() must do nothing but copy bytes. Takes the signal's handler for
/// the process the first time; signals that are not of guarded copies go to the handler of before.
bool guarded(void (*copy)(void* context), void* context);

template <typename Copy>
bool guarded_copy(Copy& copy) {
  return guarded([](void* context) { (*static_cast<Copy*>(context))(); }, &copy);
}

}  // namespace stria::server
