// Records which files have a part on this server.
//
// Problem: a part that the disk has lost, data and checksums, looks like one that was never
// written, and that reads as zeros.
// Method: an empty file for each part, in a directory of its own, so that what takes the parts of a
// folder leaves their names here. Invariant: a file is in the record only when the name of its part
// survives a power loss, and until the part is removed. So a part that isn't there, and is in the
// record, is lost.
// Cost: an inode a part; a system call when a part is opened or isn't there; no sync that a request
// waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "stria/status.hpp"

namespace stria::server {

/// This is thread-safe.
class PartRecord {
 public:
  explicit PartRecord(std::string directory) : directory_(std::move(directory)) {}

  /// Returns false for a new store, and for one of an earlier version.
  bool exists() const;
  /// Makes the record, durably, with the files that have a part already.
  Status make(std::span<const uint64_t> files);
  bool has(uint64_t file) const;
  /// Adds a part. Until sync() a power loss may undo it. The part's name itself survives one.
  Status add(uint64_t file);
  /// Forgets a part that is about to go.
  void remove(uint64_t file);
  Status sync();

 private:
  std::string directory_;
  std::atomic<bool> unsynced_ = false;
};

/// Returns a file's number in 16 hexadecimal digits, the name of its part.
std::string part_name(uint64_t file);

}  // namespace stria::server
