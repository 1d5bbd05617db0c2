#include "server/standby/names_copy.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/check.hpp"
#include "server/manager/succession/sqlite_sessions.hpp"
#include "server/objects/store_directory.hpp"

namespace stria::server {

namespace {

// Two copies differ, so that the manager's is taken anew.
int give_up(void*, int, sqlite3_changeset_iter*) {
  return SQLITE_CHANGESET_ABORT;
}

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// Removes the log of a copy that is no more.
void forget_log(const std::string& path) {
  for (const char* ending : {"-wal", "-shm"}) {
    unlink((path + ending).c_str());
  }
}

Result<uint64_t> epoch_in(Database& database) {
  Query query = database.query("SELECT value FROM meta WHERE key = 'epoch'");
  const uint64_t epoch = query.next() ? static_cast<uint64_t>(query.number(0)) : 0;
  STRIA_RETURN_IF_ERROR(query.status());
  return epoch;
}

}  // namespace

NamesCopy::~NamesCopy() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

bool NamesCopy::exists() const {
  return access(path_.c_str(), F_OK) == 0;
}

Status NamesCopy::begin() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  unlink(partial().c_str());
  // The store's secret is in it, so that only the server's user may read it.
  descriptor_ = ::open(partial().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return descriptor_ >= 0 ? Status() : Status::from_errno(errno, "make '" + partial() + "'");
}

Status NamesCopy::add(std::span<const std::byte> bytes) {
  STRIA_CHECK(descriptor_ >= 0, path_);
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return Status::from_errno(written == 0 ? ENOSPC : errno, "write '" + partial() + "'");
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

// The log of the one before must not be taken for the new one's: it goes first, when the file is
// whole without it.
Status NamesCopy::take() {
  STRIA_CHECK(descriptor_ >= 0, path_);
  const bool synced = fsync(descriptor_) == 0;
  const int error_number = errno;
  ::close(std::exchange(descriptor_, -1));
  if (!synced) {
    return Status::from_errno(error_number, "sync '" + partial() + "'");
  }
  const std::lock_guard lock(mutex_);
  if (database_ == nullptr && exists()) {
    static_cast<void>(open());  // An earlier run left it: its log is put into it as it is closed.
  }
  database_.reset();
  forget_log(path_);
  if (std::rename(partial().c_str(), path_.c_str()) != 0) {
    return Status::from_errno(errno, "rename '" + partial() + "'");
  }
  STRIA_RETURN_IF_ERROR(sync_directory(directory_of(path_)));
  return open();
}

// What triggers do at the manager is among the changes.
Status NamesCopy::open() {
  STRIA_ASSIGN_OR_RETURN(database_, Database::open(path_));
  sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return {};
}

Status NamesCopy::apply(const Change& change) {
  const std::lock_guard lock(mutex_);
  STRIA_CHECK(database_ != nullptr, "a whole copy");
  if (change.form == wire::ChangeForm::kSchema) {
    const std::string sql(reinterpret_cast<const char*>(change.bytes.data()), change.bytes.size());
    return database_->script(sql.c_str());
  }
  if (change.durable) {
    STRIA_RETURN_IF_ERROR(database_->script("PRAGMA synchronous=FULL"));
  }
  // An empty changeset is durable with what came before it all the same.
  auto bytes = change.bytes;
  const int code = bytes.empty() ? SQLITE_OK
                                 : sqlite3changeset_apply(database_->handle(), static_cast<int>(bytes.size()), bytes.data(),
                                                          nullptr, give_up, nullptr);
  Status outcome = code == SQLITE_OK ? Status() : sqlite_error(code, sqlite3_errstr(code));
  if (code == SQLITE_ABORT) {
    outcome = Status(ErrorCode::kCorrupted, "a change of the names doesn't fit the standby's copy");
  }
  if (change.durable) {
    outcome.update(database_->script("PRAGMA synchronous=NORMAL"));
  }
  return outcome;
}

Result<NamesCopy::Known> NamesCopy::known() {
  const std::lock_guard lock(mutex_);
  if (database_ == nullptr) {
    STRIA_RETURN_IF_ERROR(open());
  }
  Known known;
  STRIA_ASSIGN_OR_RETURN(known.epoch, epoch_in(*database_));
  Unsynced unsynced(*database_);
  STRIA_ASSIGN_OR_RETURN(known.servers, Roster(*database_, unsynced).servers());
  return known;
}

// First what is durable, then the name by which this server is the manager after a restart too.
Status NamesCopy::become(const std::string& names, uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (database_ == nullptr) {
    STRIA_RETURN_IF_ERROR(open());
  }
  STRIA_RETURN_IF_ERROR(database_->script("PRAGMA synchronous=FULL"));
  STRIA_RETURN_IF_ERROR(database_->run("INSERT OR REPLACE INTO meta VALUES ('epoch', ?)", static_cast<int64_t>(epoch)));
  STRIA_RETURN_IF_ERROR(database_->run("DELETE FROM meta WHERE key IN ('standby', 'mark')"));
  // The file is whole without its log.
  STRIA_RETURN_IF_ERROR(database_->script("PRAGMA wal_checkpoint(TRUNCATE)"));
  database_.reset();
  // Names of the time when this server was the manager before.
  if (access(names.c_str(), F_OK) == 0) {
    STRIA_RETURN_IF_ERROR(std::rename(names.c_str(), (names + ".replaced").c_str()) == 0
                              ? Status()
                              : Status::from_errno(errno, "rename '" + names + "'"));
  }
  forget_log(names);
  forget_log(path_);
  if (std::rename(path_.c_str(), names.c_str()) != 0) {
    return Status::from_errno(errno, "rename '" + path_ + "'");
  }
  return sync_directory(directory_of(names));
}

Result<std::optional<uint64_t>> epoch_of_names(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    return std::optional<uint64_t>();
  }
  STRIA_ASSIGN_OR_RETURN(const auto database, Database::open(path));
  STRIA_ASSIGN_OR_RETURN(const bool has_any, database->has_table("meta"));
  if (!has_any) {
    return std::optional<uint64_t>(0);
  }
  STRIA_ASSIGN_OR_RETURN(const uint64_t epoch, epoch_in(*database));
  return std::optional<uint64_t>(epoch);
}

}  // namespace stria::server
