// When an object was changed last, as clients are told.
//
// Problem: a file system's clock stands still for some milliseconds, and it takes only a page's
// first change by a mapping for a change of the file. A client that has heard a time must find a
// later one after the next change.
// Method: the first change after somebody was told, and each one by the mapping, is noted in
// memory. The file gets that time when it is synced or closed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "server/objects/blocks/block_content.hpp"
#include "server/objects/blocks/object_file.hpp"

namespace stria::server {

/// This is thread-safe.
class TimeOfChange {
 public:
  /// Must be called before the object changes.
  void begin() {
    if (is_known_.exchange(false)) {
      noted_ns_ = exact_time_ns();
    }
  }
  /// It changes through its mapping.
  void note_mapped() { noted_ns_ = std::max(noted_ns_.load(), file_time_ns()); }
  /// Returns the time to tell, in ns since 1970. The next change has a later one.
  int64_t tell(const ObjectFile& file) {
    is_known_ = true;
    return std::max(file.modified_ns(), noted_ns_.load());
  }
  /// Gives the file the time that was noted, where that is later.
  void keep(const ObjectFile& file) const {
    if (const int64_t noted = noted_ns_; noted > file.modified_ns()) {
      file.set_modified(noted);
    }
  }
  /// It was changed last at that time, and what was noted here counts no more. To be called while
  /// nobody changes it.
  void set(const ObjectFile& file, int64_t ns) {
    noted_ns_ = 0;
    file.set_modified(ns);
  }

 private:
  std::atomic<int64_t> noted_ns_ = 0;
  std::atomic<bool> is_known_ = true;  // somebody was told when it was changed last
};

}  // namespace stria::server
