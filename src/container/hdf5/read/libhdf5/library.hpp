// Describes what every call into libhdf5 needs: one caller at a time, no printing, owned
// identifiers, and errors as a Status.
//
// Problem: the application may use libhdf5 too, from several threads and with error printing
// switched on, and a serial build of libhdf5 need not be thread-safe.
// Method: each public function of the container opens a LibraryScope, which holds a lock of this
// process and switches off the printing of the default error stack.
// Cost: under a microsecond per scope.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "stria/status.hpp"

namespace stria::container::h5 {

/// Holds the lock for calls into libhdf5, and keeps libhdf5 silent while it lives. Scopes must
/// not be nested.
class LibraryScope {
 public:
  LibraryScope();
  ~LibraryScope();
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  unsigned uses_v2_ = 1;
  H5E_auto2_t print_v2_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t print_v1_ = nullptr;
#endif
  void* print_data_ = nullptr;
};

/// Owns one reference to an HDF5 identifier.
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() { reset(); }

  bool valid() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  /// Gives the reference to the caller, who closes it.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  /// Gives the reference back to libhdf5.
  void reset();

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// Returns the error of the last failed call, as "`what`: the words of libhdf5". Names that are
/// missing or taken, bytes that aren't HDF5, and a lack of memory have their own codes; all other
/// errors have `code`. Clears the error stack.
Status last_error(ErrorCode code, const std::string& what);

}  // namespace stria::container::h5
