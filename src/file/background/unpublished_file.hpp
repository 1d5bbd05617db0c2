// Describes what rank 0 writes before others may see it: a file under a temporary name
// (partial_file.hpp), or what is added to one that grows (write/target/growing_file.hpp).
//
// It owns all that it needs, so that any thread may end it. Nothing here communicates.
#pragma once

#include <cstdint>

#include "storage/driver.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria::file {

class UnpublishedFile {
 public:
  UnpublishedFile() = default;
  UnpublishedFile(const UnpublishedFile&) = delete;
  UnpublishedFile& operator=(const UnpublishedFile&) = delete;
  virtual ~UnpublishedFile() = default;

  /// Returns the handle; null before the file is made or opened.
  virtual storage::File* file() const = 0;
  /// When everything is written: size, sync, what makes it visible, sync.
  virtual Status publish(int64_t file_bytes, bool sync, PhaseTimes& times) = 0;
  /// Tells whether others see it, or may.
  virtual bool is_published() const = 0;
  /// Gives up what was written, unless others see it.
  virtual void discard() noexcept = 0;
  /// Returns what a failure has left of it, as the end of a sentence: see state_after_failure().
  virtual const char* state_after_failure() const = 0;
};

/// Returns what a failed commit has left of a file, as the end of a sentence that begins with its
/// name.
inline const char* state_after_failure(bool grows, bool is_published) {
  if (grows) {
    return is_published ? "may have what was added, and may lose it in a power loss" : "was not changed";
  }
  return is_published ? "is complete and has its name, but may not survive a power loss" : "was not written";
}

}  // namespace stria::file
