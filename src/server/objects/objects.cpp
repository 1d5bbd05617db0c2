#include "server/objects/objects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/check.hpp"
#include "server/objects/blocks/block_content.hpp"
#include "wire/trust/key.hpp"

namespace stria::server {

namespace {

// The system has written most names by itself after so long, and a sync of their folder costs
// little.
constexpr int64_t kSecondsToNote = 10;

// A client may be in the midst of a request for a part that is to move.
constexpr std::chrono::seconds kLongestUse{3};
constexpr std::chrono::milliseconds kBetweenLooks{1};

std::string sums_path(const std::string& path) {
  return path + ".sums";
}

/// Adds the files of which the folder has a part.
Status add_parts_in(const std::string& folder, std::vector<uint64_t>& files) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const uint64_t file = std::strtoull(name.c_str(), nullptr, 16);
    if (name == part_name(file)) {
      files.push_back(file);
    }
  }
  return error ? Status::from_errno(error.value(), "list '" + folder + "' on the server") : Status();
}

}  // namespace

Result<std::unique_ptr<Objects>> Objects::open(const ObjectPaths& paths, size_t most_open) {
  auto objects = std::make_unique<Objects>(paths, most_open);
  wire::randomise(std::as_writable_bytes(std::span(&objects->run_, 1)));
  for (size_t folder = 0; folder < kFolders; ++folder) {
    const std::string path = objects->folder_path(folder);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return Status::from_errno(errno, "make '" + path + "'");
    }
  }
  STRIA_RETURN_IF_ERROR(sync_directory(paths.data));
  STRIA_RETURN_IF_ERROR(objects->removals_.make());
  STRIA_RETURN_IF_ERROR(objects->make_record());
  return objects;
}

Objects::~Objects() {
  note_older(0);
}

/// Where there is no record yet, its first entries are the parts that are there.
Status Objects::make_record() {
  if (record_.exists()) {
    return {};
  }
  std::vector<uint64_t> files;
  for (size_t folder = 0; folder < kFolders; ++folder) {
    const size_t before = files.size();
    STRIA_RETURN_IF_ERROR(add_parts_in(folder_path(folder), files));
    STRIA_RETURN_IF_ERROR(files.size() == before ? Status() : sync_folder(folder));
  }
  return record_.make(files);
}

std::string Objects::folder_path(size_t folder) const {
  STRIA_CHECK(folder < kFolders, folder);
  constexpr char kDigits[] = "0123456789abcdef";
  return directory_ + "/" + kDigits[folder / 16] + kDigits[folder % 16];
}

std::string Objects::path_of(uint64_t file) const {
  return folder_path(folder_of(file)) + "/" + part_name(file);
}

/// Closes objects that are not in use, the oldest first.
void Objects::drop_oldest(size_t keep) {
  STRIA_ASSERT(ages_.size() == open_.size(), ages_.size(), open_.size());
  for (auto age = ages_.end(); open_.size() > keep && age != ages_.begin();) {
    --age;
    const auto entry = open_.find(*age);
    STRIA_CHECK(entry != open_.end(), *age);
    if (entry->second.object.use_count() == 1) {
      unplaced_.erase(*age);
      open_.erase(entry);
      age = ages_.erase(age);
    }
  }
}

size_t Objects::open_count() {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

/// Notes it for a part that is open, once; where `place` isn't known, later data will tell.
Status Objects::keep_place(uint64_t file, Object& object, const wire::Striped& place) {
  if (!place.known() || !unplaced_.contains(file)) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(object.note_place(place));
  unplaced_.erase(file);
  return {};
}

Result<std::shared_ptr<Object>> Objects::find(uint64_t file, bool create, const wire::Striped& place) {
  const std::lock_guard lock(mutex_);
  if (auto found = open_.find(file); found != open_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    STRIA_RETURN_IF_ERROR(keep_place(file, *found->second.object, place));
    return found->second.object;
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
    const bool is_first = open_.emplace(file, Entry{*object, ages_.begin()}).second;
    STRIA_CHECK(is_first, file);  // two objects of one part wouldn't keep each other out
    if (!(*object)->place().known()) {
      unplaced_.insert(file);
    }
    STRIA_RETURN_IF_ERROR(keep_place(file, **object, place));
  }
  return object;
}

Status Objects::look(uint64_t file, wire::Extents::Entry& to) {
  struct stat details = {};
  const bool is_there = stat(path_of(file).c_str(), &details) == 0;
  std::shared_ptr<Object> object;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(file); found != open_.end()) {
      object = found->second.object;
    }
  }
  if (object == nullptr && is_there) {
    to.extent = {static_cast<int64_t>(details.st_size), ns_of(details.st_mtim)};
  } else if (object == nullptr) {
    // That is an error where the part is lost.
    STRIA_ASSIGN_OR_RETURN(object, find(file, false));
  }
  if (object != nullptr) {
    to.extent = object->extent();
  }
  constexpr int64_t kBlockOfStat = 512;
  to.allocated_bytes = is_there ? static_cast<int64_t>(details.st_blocks) * kBlockOfStat : 0;
  return {};
}

Result<std::shared_ptr<Object>> Objects::open_object(uint64_t file, bool create) {
  const std::string path = path_of(file);
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool missing = descriptor < 0 && errno == ENOENT;
  // The data are made before their sums, and removed after them.
  if (missing && access(sums_path(path).c_str(), F_OK) == 0) {
    return Status(ErrorCode::kCorrupted, "'" + path + "' is missing on the server, and its checksums are there");
  }
  const bool noted = record_.has(file);
  if (missing && noted) {
    return Status(ErrorCode::kCorrupted, "'" + path +
                                             "', a part of the file, is lost: the server had it, and neither it nor its "
                                             "checksums are there now; bring them back, or remove the file");
  }
  STRIA_RETURN_IF_ERROR(missing ? check_not_removed(file) : Status());
  if (missing && !create) {
    return std::shared_ptr<Object>();
  }
  if (missing) {
    folders_[folder_of(file)].unsynced = true;
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  struct stat details = {};
  if (descriptor < 0 || (!missing && fstat(descriptor, &details) != 0)) {
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
  if (!noted) {
    unnoted_.emplace(file, now_s());
  }
  return std::make_shared<Object>(path, descriptor, std::move(*sums), bytes);
}

Status Objects::check_not_moved(uint64_t file) {
  {
    const std::lock_guard lock(mutex_);
    if (open_.contains(file)) {
      return {};
    }
  }
  return access(path_of(file).c_str(), F_OK) == 0 ? Status() : check_not_removed(file);
}

Status Objects::check_not_removed(uint64_t file) const {
  STRIA_ASSIGN_OR_RETURN(const bool removed, removals_.has(file));
  return removed ? Status(ErrorCode::kCorrupted, "'" + path_of(file) +
                                                     "', a part of the file, was removed on the server, and the file with "
                                                     "it: its name is from an older copy of names.sqlite; remove it")
                 : Status();
}

Status Objects::sync(uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(const auto object, find(file, false));
  if (object == nullptr) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(object->sync());
  STRIA_RETURN_IF_ERROR(sync_folder(folder_of(file)));
  return note(file);
}

Status Objects::sync_folder(size_t folder) {
  const std::lock_guard lock(folders_[folder].mutex);
  if (!folders_[folder].unsynced.exchange(false)) {
    return {};
  }
  const Status outcome = sync_directory(folder_path(folder));
  if (!outcome.ok()) {
    folders_[folder].unsynced = true;
  }
  return outcome;
}

Status Objects::note(uint64_t file) {
  const std::lock_guard lock(mutex_);
  const auto found = unnoted_.find(file);
  if (found == unnoted_.end()) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(record_.add(file));
  unnoted_.erase(found);
  return {};
}

/// Notes the parts that have been there for so long. What can't be noted now is tried again.
void Objects::note_older(int64_t seconds) {
  std::vector<uint64_t> files;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [file, since] : unnoted_) {
      if (now_s() - since >= seconds) {
        files.push_back(file);
      }
    }
  }
  for (const uint64_t file : files) {
    if (sync_folder(folder_of(file)).ok()) {
      static_cast<void>(note(file));
    }
  }
  static_cast<void>(record_.sync());
}

std::vector<uint64_t> Objects::remove(std::span<const uint64_t> files) {
  Status noted = removals_.add(files);
  if (!noted.ok() && noted.code() != ErrorCode::kNoSpace) {
    return {};
  }
  std::vector<uint64_t> removed;
  for (const uint64_t file : files) {
    if (remove_part(file).ok()) {
      removed.push_back(file);
    }
  }
  if (!noted.ok()) {
    noted = removals_.add(removed);  // on a disk that was full
  }
  return noted.ok() ? removed : std::vector<uint64_t>();
}

Status Objects::remove_part(uint64_t file) {
  const std::lock_guard lock(mutex_);
  if (auto found = open_.find(file); found != open_.end()) {
    ages_.erase(found->second.age);
    open_.erase(found);
  }
  unnoted_.erase(file);
  unplaced_.erase(file);
  record_.remove(file);
  const std::string path = path_of(file);
  unlink(sums_path(path).c_str());
  const bool gone = unlink(path.c_str()) == 0 || errno == ENOENT;
  return gone ? Status() : Status::from_errno(errno, "remove '" + path + "' on the server");
}

bool Objects::wait_until_unused(uint64_t part) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestUse;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = open_.find(part);
      if (found == open_.end() || found->second.object.use_count() == 1) {
        return true;
      }
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Status Objects::make_way(uint64_t part) {
  if (!wait_until_unused(part)) {
    return Status(ErrorCode::kAborted, "'" + path_of(part) + "' is in use on the server");
  }
  STRIA_RETURN_IF_ERROR(remove_part(part));
  return removals_.forget(part);
}

Status Objects::set_modified(uint64_t part, int64_t modified_ns) {
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(part); found != open_.end()) {
    found->second.object->set_modified(modified_ns);
    return {};
  }
  const timespec times[2] = {{0, UTIME_OMIT}, {modified_ns / 1000000000, modified_ns % 1000000000}};
  const bool done = utimensat(AT_FDCWD, path_of(part).c_str(), times, 0) == 0 || errno == ENOENT;
  return done ? Status() : Status::from_errno(errno, "set the time of '" + path_of(part) + "' on the server");
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
  note_older(kSecondsToNote);
}

Objects::Space Objects::space() const {
  struct statvfs system = {};
  if (statvfs(directory_.c_str(), &system) != 0) {
    return {};
  }
  const auto unit = static_cast<int64_t>(system.f_frsize);
  return {static_cast<int64_t>(system.f_blocks) * unit, static_cast<int64_t>(system.f_bavail) * unit};
}

}  // namespace stria::server
