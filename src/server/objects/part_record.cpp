#include "server/objects/part_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "server/objects/store_directory.hpp"

namespace stria::server {

namespace {

Status make_name(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status::from_errno(errno, "note a part as '" + path + "' on the server");
  }
  ::close(descriptor);
  return {};
}

}  // namespace

std::string part_name(uint64_t file) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4) {
    name += kDigits[file >> shift & 15];
  }
  return name;
}

bool PartRecord::exists() const {
  return access(directory_.c_str(), F_OK) == 0;
}

// It gets its name when it is whole: what a kill leaves is made again.
Status PartRecord::make(std::span<const uint64_t> files) {
  const std::string unfinished = directory_ + ".new";
  std::error_code error;
  std::filesystem::remove_all(unfinished, error);
  if (mkdir(unfinished.c_str(), 0700) != 0) {
    return Status::from_errno(errno, "make '" + unfinished + "'");
  }
  for (const uint64_t file : files) {
    STRIA_RETURN_IF_ERROR(make_name(unfinished + "/" + part_name(file)));
  }
  STRIA_RETURN_IF_ERROR(sync_directory(unfinished));
  if (rename(unfinished.c_str(), directory_.c_str()) != 0) {
    return Status::from_errno(errno, "make '" + directory_ + "'");
  }
  return sync_directory(std::filesystem::path(directory_).parent_path().string());
}

bool PartRecord::has(uint64_t file) const {
  return access((directory_ + "/" + part_name(file)).c_str(), F_OK) == 0;
}

Status PartRecord::add(uint64_t file) {
  STRIA_RETURN_IF_ERROR(make_name(directory_ + "/" + part_name(file)));
  unsynced_ = true;
  return {};
}

void PartRecord::remove(uint64_t file) {
  unlink((directory_ + "/" + part_name(file)).c_str());
}

Status PartRecord::sync() {
  if (!unsynced_.exchange(false)) {
    return {};
  }
  const Status outcome = sync_directory(directory_);
  if (!outcome.ok()) {
    unsynced_ = true;
  }
  return outcome;
}

}  // namespace stria::server
