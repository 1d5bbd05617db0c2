#include "server/objects/objects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "server/objects/store_directory.hpp"
#include "wire/key.hpp"

namespace stria::server {

namespace {

constexpr size_t kMostRemembered = 100000;

std::string sums_path(const std::string& path) {
  return path + ".sums";
}

}  // namespace

Result<std::unique_ptr<Objects>> Objects::open(const std::string& directory, size_t most_open) {
  auto objects = std::make_unique<Objects>(directory, most_open);
  wire::randomise(std::as_writable_bytes(std::span(&objects->run_, 1)));
  for (size_t folder = 0; folder < kFolders; ++folder) {
    const std::string path = objects->folder_path(folder);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return Status::from_errno(errno, "make '" + path + "'");
    }
    // A server that was killed may have left names there that it had not synced.
    objects->unsynced_folders_[folder] = true;
  }
  STRIA_RETURN_IF_ERROR(sync_directory(directory));
  return objects;
}

std::string Objects::folder_path(size_t folder) const {
  constexpr char kDigits[] = "0123456789abcdef";
  return directory_ + "/" + kDigits[folder / 16] + kDigits[folder % 16];
}

std::string Objects::path_of(uint64_t file) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name = folder_path(folder_of(file)) + "/";
  for (int shift = 60; shift >= 0; shift -= 4) {
    name += kDigits[file >> shift & 15];
  }
  return name;
}

/// Closes objects that are not in use, the oldest first.
void Objects::drop_oldest(size_t keep) {
  for (auto age = ages_.end(); open_.size() > keep && age != ages_.begin();) {
    --age;
    const auto entry = open_.find(*age);
    if (entry->second.object.use_count() == 1) {
      open_.erase(entry);
      age = ages_.erase(age);
    }
  }
}

size_t Objects::open_count() {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

Result<std::shared_ptr<Object>> Objects::find(uint64_t file, bool create) {
  const std::lock_guard lock(mutex_);
  if (auto found = open_.find(file); found != open_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return found->second.object;
  }
  if (removed_.contains(file)) {
    return create ? Status(ErrorCode::kNotFound, "the file was removed") : Result<std::shared_ptr<Object>>(nullptr);
  }
  auto object = open_object(file, create);
  if (object.status().code() == ErrorCode::kResourceExhausted && !open_.empty()) {
    // Connections took the descriptors that were meant for objects, or another program
    // took the system's.
    drop_oldest(open_.size() / 2);
    object = open_object(file, create);
  }
  if (object.ok() && *object != nullptr) {
    drop_oldest(most_open_ - 1);
    ages_.push_front(file);
    open_.emplace(file, Entry{*object, ages_.begin()});
  }
  return object;
}

Result<std::shared_ptr<Object>> Objects::open_object(uint64_t file, bool create) {
  const std::string path = path_of(file);
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool missing = descriptor < 0 && errno == ENOENT;
  // The data are made before their sums, and removed after them.
  if (missing && access(sums_path(path).c_str(), F_OK) == 0) {
    return Status(ErrorCode::kCorrupted, "'" + path + "' is missing on the server, and its checksums are there");
  }
  if (missing && !create) {
    return std::shared_ptr<Object>();
  }
  if (missing) {
    unsynced_folders_[folder_of(file)] = true;
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  struct stat details = {};
  if (descriptor < 0 || fstat(descriptor, &details) != 0) {
    const Status status = Status::from_errno(errno, "open '" + path + "' on the server");
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    return status;
  }
  const auto bytes = static_cast<int64_t>(details.st_size);
  auto sums = BlockSums::open(sums_path(path), run_, bytes);
  if (!sums.ok()) {
    ::close(descriptor);
    return sums.status();
  }
  return std::make_shared<Object>(path, descriptor, std::move(*sums), bytes);
}

Status Objects::sync(uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(const auto object, find(file, false));
  if (object == nullptr) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(object->sync());
  const size_t folder = folder_of(file);
  if (!unsynced_folders_[folder].exchange(false)) {
    return {};
  }
  const Status outcome = sync_directory(folder_path(folder));
  if (!outcome.ok()) {
    unsynced_folders_[folder] = true;
  }
  return outcome;
}

Status Objects::remove(uint64_t file) {
  const std::lock_guard lock(mutex_);
  if (auto found = open_.find(file); found != open_.end()) {
    ages_.erase(found->second.age);
    open_.erase(found);
  }
  if (removed_.size() >= kMostRemembered) {
    removed_.clear();
  }
  removed_.insert(file);
  const std::string path = path_of(file);
  unlink(sums_path(path).c_str());
  const bool gone = unlink(path.c_str()) == 0 || errno == ENOENT;
  return gone ? Status() : Status::from_errno(errno, "remove '" + path + "' on the server");
}

void Objects::rest() {
  std::vector<std::shared_ptr<Object>> objects;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [file, entry] : open_) {
      objects.push_back(entry.object);
    }
  }
  for (const auto& object : objects) {
    object->rest(false);
  }
}

std::pair<int64_t, int64_t> Objects::space() const {
  struct statvfs system = {};
  if (statvfs(directory_.c_str(), &system) != 0) {
    return {0, 0};
  }
  const auto unit = static_cast<int64_t>(system.f_frsize);
  return {static_cast<int64_t>(system.f_blocks) * unit, static_cast<int64_t>(system.f_bavail) * unit};
}

}  // namespace stria::server
