// A thin layer over SQLite: statements that are prepared once, typed arguments, errors as a Status.
// For one thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// A statement under way. The destructor resets it.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)), status_(std::move(other.status_)) {}
  Query& operator=(Query&&) = delete;
  ~Query();

  /// True while there is a row.
  bool next();
  /// Returns how the statement has gone so far.
  const Status& status() const { return status_; }
  int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const;
  std::vector<std::byte> bytes(int column) const;

  /// Whether the statement has so many arguments; true where it couldn't be prepared.
  bool takes(size_t arguments) const;
  void bind(int place, int64_t value) { sqlite3_bind_int64(statement_, place, value); }
  void bind(int place, std::string_view value);
  void bind(int place, std::span<const std::byte> value);

 private:
  sqlite3_stmt* statement_;
  Status status_;
};

/// Returns what SQLite's code means, and what it says.
Status sqlite_error(int code, const char* text);

class Database {
 public:
  /// Opens or makes the file, with a write-ahead log. A transaction is always atomic, and durable
  /// from the next durable commit on. No other process can open the file meanwhile.
  static Result<std::unique_ptr<Database>> open(const std::string& path);
  explicit Database(sqlite3* handle) : handle_(handle) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Starts a statement, a literal, with its arguments.
  template <typename... Arguments>
  Query query(const char* sql, const Arguments&... arguments) {
    Query query(prepare(sql));
    STRIA_ASSERT(query.takes(sizeof...(arguments)), sql, sizeof...(arguments));
    int place = 0;
    (query.bind(++place, arguments), ...);
    return query;
  }
  /// Runs a statement that gives no rows.
  template <typename... Arguments>
  Status run(const char* sql, const Arguments&... arguments) {
    Query started = query(sql, arguments...);
    while (started.next()) {
    }
    return started.status();
  }
  int64_t last_row() const { return sqlite3_last_insert_rowid(handle_); }
  int64_t changes() const { return sqlite3_changes64(handle_); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  /// SQLite's functions for a whole database take this.
  sqlite3* handle() { return handle_; }
  Result<bool> has_table(std::string_view name);

  /// No change from now on copies a long log into the file and syncs both: shorten_log() does.
  void shorten_log_later();
  /// True once there is so much of it that it should be copied.
  bool log_is_long() const;
  /// Does so where it is long. What is left undone is done later.
  void shorten_log();
  /// Runs several statements without arguments.
  Status script(const char* sql);

 private:
  sqlite3_stmt* prepare(const char* sql);
  sqlite3* handle_;
  std::map<const char*, sqlite3_stmt*> prepared_;
  int log_pages_ = 0;  // only where the log is shortened later
};

/// The destructor undoes a transaction that was not committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database), status_(database.run("BEGIN IMMEDIATE")) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!committed_ && status_.ok()) {
      static_cast<void>(database_.run("ROLLBACK"));
    }
  }
  const Status& status() const { return status_; }
  Status commit() {
    STRIA_CHECK(status_.ok() && !committed_, status_, committed_);
    const Status outcome = database_.run("COMMIT");
    committed_ = outcome.ok();
    return outcome;
  }

 private:
  Database& database_;
  Status status_;
  bool committed_ = false;
};

}  // namespace stria::server
