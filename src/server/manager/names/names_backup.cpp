#include "server/manager/names/names_backup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "server/manager/database/names_fields.hpp"
#include "wire/trust/key.hpp"

namespace stria::server {

namespace {

constexpr int kPagesAtOnce = 256;
// Whoever began a copy asks again and again; another may begin one as soon as nobody does.
constexpr std::chrono::seconds kAbandonedAfter{10};
constexpr int64_t kNsPerSecond = 1000000000;

}  // namespace

NamesBackup::NamesBackup(Database& database, std::string path) : database_(database), path_(std::move(path)) {
  unlink(path_.c_str());  // what a kill has left
}

NamesBackup::~NamesBackup() {
  end();
}

void NamesBackup::end() {
  if (under_way_ != nullptr) {
    sqlite3_backup_finish(under_way_);
    under_way_ = nullptr;
  }
  if (copy_ != nullptr) {
    sqlite3_close(copy_);
    copy_ = nullptr;
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  if (number_ != 0) {
    unlink(path_.c_str());
    number_ = 0;
  }
}

Status NamesBackup::begin() {
  end();
  wire::randomise(std::as_writable_bytes(std::span(&number_, 1)));
  number_ |= 1;  // not 0
  // The secret for tickets is in it, so that only the server's user may read it.
  const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0) {
    number_ = 0;
    return Status::from_errno(errno, "make '" + path_ + "' on the manager");
  }
  ::close(made);
  const int code = sqlite3_open_v2(path_.c_str(), &copy_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const Status opened = code == SQLITE_OK ? Status() : sqlite_error(code, sqlite3_errmsg(copy_));
  STRIA_RETURN_IF_ERROR(opened);
  under_way_ = sqlite3_backup_init(copy_, "main", database_.handle(), "main");
  return under_way_ != nullptr ? Status() : sqlite_error(sqlite3_errcode(copy_), sqlite3_errmsg(copy_));
}

Status NamesBackup::copy_some() {
  const int code = sqlite3_backup_step(under_way_, kPagesAtOnce);
  if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return {};
  }
  if (code != SQLITE_DONE) {
    return sqlite_error(code, sqlite3_errstr(code));
  }
  sqlite3_backup_finish(under_way_);
  under_way_ = nullptr;
  const int closed = sqlite3_close(copy_);
  copy_ = nullptr;
  if (closed != SQLITE_OK) {
    return sqlite_error(closed, sqlite3_errstr(closed));
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat details = {};
  if (descriptor_ < 0 || fstat(descriptor_, &details) != 0) {
    return Status::from_errno(errno, "open '" + path_ + "' on the manager");
  }
  total_bytes_ = int64_t{details.st_size};
  return {};
}

Result<wire::BackupPart> NamesBackup::part_at(int64_t offset) {
  STRIA_CHECK(descriptor_ >= 0 && number_ != 0 && offset >= 0, descriptor_, number_, offset);
  wire::BackupPart part;
  part.number = number_;
  part.total_bytes = total_bytes_;
  part.bytes.resize(wire::kMaxBackupPartBytes);
  const ssize_t bytes = pread(descriptor_, part.bytes.data(), part.bytes.size(), offset);
  if (bytes < 0) {
    return Status::from_errno(errno, "read '" + path_ + "' on the manager");
  }
  part.bytes.resize(static_cast<size_t>(bytes));
  if (offset + bytes >= total_bytes_) {
    last_s_ = now_ns() / kNsPerSecond;
  }
  return part;
}

Result<wire::BackupPart> NamesBackup::answer(const Caller& caller, const wire::Backup& request) {
  if (!caller.is_super) {
    return Status(ErrorCode::kPermissionDenied, "only root and the manager's user may copy the names of all");
  }
  if (request.number == 0) {
    if (number_ != 0 && Clock::now() - asked_ < kAbandonedAfter) {
      return Status(ErrorCode::kAlreadyExists, "another backup is under way: try again when it is done");
    }
    if (const Status begun = begin(); !begun.ok()) {
      end();
      return begun;
    }
  } else if (request.number != number_) {
    return Status(ErrorCode::kAborted, "the manager was started again, or the backup was given up: begin another");
  }
  asked_ = Clock::now();
  if (under_way_ != nullptr) {
    if (const Status copied = copy_some(); !copied.ok()) {
      end();
      return copied;
    }
  }
  return under_way_ != nullptr ? Result<wire::BackupPart>(wire::BackupPart{number_, 0, {}}) : part_at(request.offset);
}

void NamesBackup::tidy() {
  if (number_ != 0 && Clock::now() - asked_ >= kAbandonedAfter) {
    end();
  }
}

}  // namespace stria::server
