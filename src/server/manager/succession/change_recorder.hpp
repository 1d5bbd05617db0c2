// Describes what changes in the manager's database, as a standby is to apply it
// (docs/formats/wire.md, "A standby manager").
//
// Method: SQLite's session extension notes which rows change, and take() makes a changeset of what
// has become of them. A changeset has no tables: statements that make new ones come before it.
// Cost: while it records, some 50 µs for each taking; else nothing. For the manager's thread.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "server/manager/database/database.hpp"
#include "server/manager/database/unsynced.hpp"
#include "server/manager/succession/sqlite_sessions.hpp"
#include "stria/status.hpp"
#include "wire/standby.hpp"

namespace stria::server {

/// A change before it has its place in the sequence.
struct Change {
  uint64_t sequence = 0;
  wire::ChangeForm form = wire::ChangeForm::kRows;
  bool durable = false;
  std::vector<std::byte> bytes;
};

class ChangeRecorder {
 public:
  /// Both outlive this.
  ChangeRecorder(Database& database, const Unsynced& unsynced) : database_(database), unsynced_(unsynced) {}
  ChangeRecorder(const ChangeRecorder&) = delete;
  ChangeRecorder& operator=(const ChangeRecorder&) = delete;
  ~ChangeRecorder() { stop(); }

  /// What changes from now on is recorded.
  Status start();
  void stop();
  bool records() const { return session_ != nullptr; }
  /// What has changed since the last call, in order. \pre no transaction is open
  Result<std::vector<Change>> take();

 private:
  Status begin();
  /// Takes the statements that have come since the last call.
  Status take_schema(std::vector<Change>& changes);

  Database& database_;
  const Unsynced& unsynced_;
  sqlite3_session* session_ = nullptr;
  int64_t syncs_ = 0;
  int64_t schema_version_ = 0;
  std::set<std::string> schema_;
};

}  // namespace stria::server
