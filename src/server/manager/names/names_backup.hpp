// A copy of the names while the manager runs (`stria backup`).
//
// Problem: copying names.sqlite as a file needs the manager to be ended. Method: SQLite's online
// backup makes a copy beside the names, some pages for each request that asks for it, so that no
// other request waits long; what changes meanwhile is in the copy too. When it is whole, the client
// takes it piece by piece. There is one at a time; one that nobody asks for any more is removed.
// Cost: space for a second database on the manager's disk; a millisecond or two for each request.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "server/manager/database/database.hpp"
#include "server/manager/names/permissions.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// One thread may use this, but for last_s().
class NamesBackup {
 public:
  /// The database outlives this. The copy is made as the file `path`.
  NamesBackup(Database& database, std::string path);
  NamesBackup(const NamesBackup&) = delete;
  NamesBackup& operator=(const NamesBackup&) = delete;
  ~NamesBackup();

  Result<wire::BackupPart> answer(const Caller& caller, const wire::Backup& request);
  /// Must be called every second or so.
  void tidy();
  /// When a copy was taken as a whole, in seconds since 1970; 0: never since the manager started.
  int64_t last_s() const { return last_s_; }

 private:
  using Clock = std::chrono::steady_clock;
  Status begin();
  Status copy_some();
  Result<wire::BackupPart> part_at(int64_t offset);
  void end();

  Database& database_;
  std::string path_;
  uint64_t number_ = 0;  // 0: none is being made
  sqlite3* copy_ = nullptr;
  sqlite3_backup* under_way_ = nullptr;
  int descriptor_ = -1;  // the descriptor of the whole copy
  int64_t total_bytes_ = 0;
  Clock::time_point asked_;
  std::atomic<int64_t> last_s_ = 0;
};

}  // namespace stria::server
