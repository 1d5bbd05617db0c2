// Records which files were removed from this server, for all time.
//
// Problem: names that come from a backup may be of files that were removed since. What has no part
// reads as zeros, as if it had never been written.
// Method: a bit for each number of a file, in a file for the numbers of each start of the manager,
// which counts its files up (manager/names/names.hpp). Invariant: the manager hears that a file is
// removed only when its bit survives a power loss; a bit that was set stays so until the part moves
// back to this server, because a number is never used again. So a file that has no part and no bit
// was never written here.
// Cost: a bit per file that the store ever had, and one sync for all that a pulse removes; two
// system calls where a part is made or isn't there.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "stria/status.hpp"

namespace stria::server {

/// This is thread-safe.
class RemovalRecord {
 public:
  explicit RemovalRecord(std::string directory) : directory_(std::move(directory)) {}

  /// Makes the directory, durably, unless it is there.
  Status make();
  /// Adds the files. Durable. After a failure some may be noted.
  Status add(std::span<const uint64_t> files);
  Result<bool> has(uint64_t file) const;
  /// The file's part comes back to this server. Durable.
  Status forget(uint64_t file);

 private:
  std::string path_of(uint64_t start) const;
  /// Adds files whose numbers are of that start.
  Status add_of(uint64_t start, std::span<const uint64_t> files);

  std::string directory_;
  std::mutex mutex_;  // held while bits are set, because a byte has those of eight files
};

}  // namespace stria::server
