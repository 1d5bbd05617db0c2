#include "server/manager/database/database.hpp"

namespace stria::server {

namespace {

constexpr int kLongLogPages = 8000;

}  // namespace

Status sqlite_error(int code, const char* text) {
  const std::string what = std::string("the store's names: ") + text;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Status(ErrorCode::kNoSpace, what);
    case SQLITE_READONLY:
      return Status(ErrorCode::kReadOnly, what);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Status(ErrorCode::kCorrupted, what);
    case SQLITE_NOMEM:
      return Status(ErrorCode::kResourceExhausted, what);
    default:
      return Status(ErrorCode::kIo, what);
  }
}

Query::~Query() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

bool Query::takes(size_t arguments) const {
  return statement_ == nullptr || static_cast<size_t>(sqlite3_bind_parameter_count(statement_)) == arguments;
}

bool Query::next() {
  if (statement_ == nullptr) {
    status_ = Status(ErrorCode::kInternal, "the store's names: a statement could not be prepared");
    return false;
  }
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    status_ = sqlite_error(code, sqlite3_errmsg(sqlite3_db_handle(statement_)));
  }
  return code == SQLITE_ROW;
}

std::string Query::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {data, data == nullptr ? 0 : static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::vector<std::byte> Query::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {data, data + (data == nullptr ? 0 : sqlite3_column_bytes(statement_, column))};
}

// Names are bytes: they sort as bytes and need not be UTF-8.
void Query::bind(int place, std::string_view value) {
  bind(place, std::as_bytes(std::span(value)));
}

void Query::bind(int place, std::span<const std::byte> value) {
  sqlite3_bind_blob64(statement_, place, value.empty() ? "" : reinterpret_cast<const char*>(value.data()), value.size(),
                      SQLITE_TRANSIENT);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  auto database = std::make_unique<Database>(handle);
  if (code != SQLITE_OK) {
    return sqlite_error(code, sqlite3_errmsg(handle)).with_context("open '" + path + "'");
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 10000);
  // Exclusive, because only this server uses the file. The log's index is then in memory, and not
  // in a mapped file, where a dying disk would end the program by a signal. The log is copied into
  // the file, and both are synced, once for 32 MiB: a change of names writes some 30 kB.
  STRIA_RETURN_IF_ERROR(
      database->script("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                       "PRAGMA foreign_keys=OFF;"));
  sqlite3_wal_autocheckpoint(handle, kLongLogPages);
  return database;
}

void Database::shorten_log_later() {
  const auto note = [](void* database, sqlite3*, const char*, int pages) {
    static_cast<Database*>(database)->log_pages_ = pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_, note, this);
}

bool Database::log_is_long() const {
  return log_pages_ >= kLongLogPages;
}

void Database::shorten_log() {
  if (!log_is_long()) {
    return;
  }
  log_pages_ = 0;  // also where that fails: the next change tells how long it is
  static_cast<void>(sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
}

Database::~Database() {
  for (const auto& [sql, statement] : prepared_) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(handle_);
}

sqlite3_stmt* Database::prepare(const char* sql) {
  sqlite3_stmt*& statement = prepared_[sql];
  if (statement == nullptr) {
    sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  }
  return statement;
}

Result<bool> Database::has_table(std::string_view name) {
  Query found = query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = CAST(? AS TEXT)", name);
  const bool has = found.next();
  STRIA_RETURN_IF_ERROR(found.status());
  return has;
}

Status Database::script(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : sqlite_error(code, sqlite3_errmsg(handle_));
}

}  // namespace stria::server
