// The standby's copy of the names: taken from the manager as a file, piece by piece, then kept up
// with its changes.
//
// Invariant: `path` is always a whole copy, of the names as they once were, and becomes a newer one
// at once. Changes are applied in the manager's order, each in one transaction, and as durable as
// the manager has made them. A change that doesn't fit what is there means that something was lost:
// the copy is then of no use for further ones.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/manager/database/database.hpp"
#include "server/manager/fleet/roster.hpp"
#include "server/manager/succession/change_recorder.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// One thread at a time may use this, but for known().
class NamesCopy {
 public:
  explicit NamesCopy(std::string path) : path_(std::move(path)) {}
  NamesCopy(const NamesCopy&) = delete;
  NamesCopy& operator=(const NamesCopy&) = delete;
  ~NamesCopy();

  /// Tells whether there is a whole one, of this run or an earlier one.
  bool exists() const;

  // A new copy comes by begin(), its bytes in order, and take().
  Status begin();
  Status add(std::span<const std::byte> bytes);  ///< \pre begin()
  /// It is whole: replaces the one before, durably. \pre begin()
  Status take();

  /// \pre take() has gone well.
  Status apply(const Change& change);

  struct Known {
    uint64_t epoch = 0;
    std::vector<Roster::Server> servers;
  };
  /// Returns what it says of the store. From any thread.
  Result<Known> known();
  /// Makes it the names of that epoch's manager, durably, as the file `names`.
  Status become(const std::string& names, uint64_t epoch);

 private:
  Status open();
  std::string partial() const { return path_ + ".partial"; }

  std::string path_;
  int descriptor_ = -1;  // the descriptor of the new one
  std::mutex mutex_;     // the mutex of database_
  std::unique_ptr<Database> database_;
};

/// Returns the epoch of the manager whose names the file holds; none: there is no such file.
Result<std::optional<uint64_t>> epoch_of_names(const std::string& path);

}  // namespace stria::server
