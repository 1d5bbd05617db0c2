// Describes what a server keeps of the store's managers: the highest epoch that it has heard of,
// where the manager of it is, and that manager's newest mark (wire/standby.hpp).
//
// Problem: a manager that was replaced must not go on after any restart, its own or that of a
// server. Method: the file `role` beside the parts, written anew and synced before the server
// answers that it knows. Cost: two syncs for each mark, of which there are some when a standby
// comes or is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "stria/status.hpp"
#include "wire/standby.hpp"

namespace stria::server {

/// This is thread-safe.
class RoleRecord {
 public:
  explicit RoleRecord(std::string path) : path_(std::move(path)) {}
  /// Loads what an earlier run has kept. kCorrupted, which says what to do, when it can't be read.
  Status load();

  wire::Mark mark() const;
  /// Returns where the manager of the epoch is; empty: it has not been told.
  std::string manager() const;
  uint64_t epoch() const { return epoch_; }

  /// Keeps the mark and the manager if it is newer than what is kept.
  Status note(const wire::Mark& mark, const std::string& manager);
  /// Does what RoleStep::kFence says. kAborted, which says why, where it is refused.
  Status fence(const wire::Role& request);

 private:
  Status keep(const wire::Mark& mark, const std::string& manager);

  std::string path_;
  mutable std::mutex mutex_;
  wire::Mark mark_;
  std::string manager_;
  std::atomic<uint64_t> epoch_ = 0;
};

}  // namespace stria::server
