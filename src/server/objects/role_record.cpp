#include "server/objects/role_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "server/objects/store_directory.hpp"

namespace stria::server {

namespace {

constexpr std::string_view kTitle = "stria role 1\n";

Status write_synced(const std::string& path, const std::vector<std::byte>& bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status::from_errno(errno, "open '" + path + "'");
  }
  errno = 0;
  const bool done =
      write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) && fsync(descriptor) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno == 0 ? ENOSPC : errno, "write '" + path + "'");
  ::close(descriptor);
  return outcome;
}

}  // namespace

Status RoleRecord::load() {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    return {};
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.starts_with(kTitle)) {
    const auto told = wire::decode<wire::RoleTold>(std::as_bytes(std::span(text).subspan(kTitle.size())));
    if (told.ok()) {
      const std::lock_guard lock(mutex_);
      mark_ = told->mark;
      manager_ = told->manager;
      epoch_ = mark_.epoch;
      return {};
    }
  }
  return Status(ErrorCode::kCorrupted, "'" + path_ +
                                           "' is damaged: remove it, if no standby of this store was ever promoted; if one "
                                           "was, start this server with the new manager's address alone (--join)");
}

wire::Mark RoleRecord::mark() const {
  const std::lock_guard lock(mutex_);
  return mark_;
}

std::string RoleRecord::manager() const {
  const std::lock_guard lock(mutex_);
  return manager_;
}

Status RoleRecord::keep(const wire::Mark& mark, const std::string& manager) {
  if (mark == mark_ && manager == manager_) {
    return {};
  }
  STRIA_CHECK(mark.epoch >= mark_.epoch, mark.epoch, mark_.epoch);
  const auto title = std::as_bytes(std::span(kTitle));
  std::vector<std::byte> bytes(title.begin(), title.end());
  wire::Writer writer(bytes);
  wire::RoleTold{wire::RoleKind::kServer, mark, manager}.put(writer);
  const std::string fresh = path_ + ".new";
  STRIA_RETURN_IF_ERROR(write_synced(fresh, bytes));
  if (std::rename(fresh.c_str(), path_.c_str()) != 0) {
    return Status::from_errno(errno, "rename '" + fresh + "'");
  }
  STRIA_RETURN_IF_ERROR(sync_directory(path_.substr(0, path_.rfind('/'))));
  mark_ = mark;
  manager_ = manager;
  epoch_ = mark.epoch;
  return {};
}

Status RoleRecord::note(const wire::Mark& mark, const std::string& manager) {
  const std::lock_guard lock(mutex_);
  const bool moved = mark == mark_ && !manager.empty() && manager != manager_;
  return mark.is_newer_than(mark_) || moved ? keep(mark, manager) : Status();
}

Status RoleRecord::fence(const wire::Role& request) {
  const std::lock_guard lock(mutex_);
  if (mark_.epoch == request.mark.epoch && manager_ == request.manager) {
    return {};  // asked again
  }
  if (mark_.epoch >= request.mark.epoch) {
    return Status(ErrorCode::kAborted, "another standby has taken over: the manager is the one at " + manager_);
  }
  if (!request.forced && mark_.is_newer_than(request.seen)) {
    return Status(ErrorCode::kAborted, "the manager has gone on without the standby in this very moment");
  }
  return keep(request.mark, request.manager);
}

}  // namespace stria::server
