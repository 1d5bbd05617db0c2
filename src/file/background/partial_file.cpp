#include "file/background/partial_file.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/out_of_memory.hpp"
#include "storage/path.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

std::string partial_path(const std::string& path) {
  constexpr size_t kMostBytes = 255;  // the bytes of a name, on nearly every file system
  constexpr size_t kKeptBytes = 200;
  const std::string name = storage::file_name_of(path);
  const std::string directory = path.substr(0, path.size() - name.size());
  const std::string partial = fmt::format(".{}.partial", name);
  return directory + (partial.size() <= kMostBytes ? partial
                                                   : fmt::format(".{}.{:016x}.partial", name.substr(0, kKeptBytes),
                                                                 hash_bytes(std::as_bytes(std::span(name)))));
}

namespace {

// Tells whether the name still means the open file, as far as the storage can tell.
bool is_named(storage::Driver& driver, storage::File& file, const std::string& name) {
  const auto open = file.identity();
  const auto named = driver.identity(name);
  return named.status().code() != ErrorCode::kNotFound && (!open.ok() || !named.ok() || *open == *named);
}

}  // namespace

// A program that writes the file holds its lock until the file has its name or is gone.
bool remove_unlocked(storage::Driver& driver, const std::string& path) {
  const storage::OpenOptions open{.mode = storage::OpenOptions::Mode::kReadWrite, .exclusive_lock = true, .mine_only = true};
  const auto locked = driver.open(path, open);
  return locked.ok() && driver.remove(path).ok();
}

Status complete(storage::File& file, int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file.size());
  if (size_bytes != file_bytes) {
    STRIA_RETURN_IF_ERROR(file.resize(file_bytes));
  }
  if (sync) {
    PhaseTimer timer(times, Phase::kSync);
    STRIA_RETURN_IF_ERROR(file.sync());
  }
  return Status();
}

Status check_name(storage::Driver& driver, storage::File& file, const std::string& name) {
  return is_named(driver, file, name)
             ? Status()
             : Status(ErrorCode::kIo, fmt::format("'{}' is no longer the file that was written: something has renamed, removed "
                                                  "or replaced that one",
                                                  name));
}

PartialFile::PartialFile(std::shared_ptr<storage::Driver> driver, std::string path)
    : driver_(std::move(driver)), path_(std::move(path)), partial_path_(partial_path(path_)) {}

Status PartialFile::find() {
  STRIA_ASSIGN_OR_RETURN(storage::Destination found, driver_->find_destination(path_));
  path_ = std::move(found.path);
  partial_path_ = partial_path(path_);
  replaced_ = std::move(found.replaced);
  return Status();
}

Status PartialFile::create(const Making& making) {
  STRIA_ASSERT(!partial_path_.empty());
  STRIA_CHECK(file_ == nullptr && !published_, path_);
  constexpr uint32_t kOwnerAlone = 0600;
  is_staged_ = making.is_staged;
  successor_ = making.beside;
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  open.exclusive_lock = true;
  open.mine_only = true;
  open.permissions = is_staged_ || replaced_ ? kOwnerAlone : making.permissions;
  open.striping = making.striping;
  open.sole_writer = making.sole_writer;
  STRIA_ASSIGN_OR_RETURN(file_, driver_->open(partial_path_, open));
  return Status();
}

// The file that has the name may be another one by now. Where there is none any more, the
// attributes of the one that was there count.
Status PartialFile::keep_attributes() {
  if (is_staged_) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(storage::Destination found, driver_->find_destination(path_));
  if (found.path != path_) {
    return Status(ErrorCode::kIo, fmt::format("'{}' has become a link since the file was begun", path_));
  }
  if (found.replaced) {
    replaced_ = std::move(found.replaced);
  }
  return replaced_ ? driver_->set_attributes(*file_, *replaced_) : Status();
}

Status PartialFile::publish(int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_CHECK(file_ != nullptr && !published_, path_);
  STRIA_CHECK(file_bytes >= 0, path_, file_bytes);
  {
    PhaseTimer timer(times, Phase::kCommit);
    STRIA_RETURN_IF_ERROR(keep_attributes());
  }
  STRIA_RETURN_IF_ERROR(complete(*file_, file_bytes, sync, times));
  PhaseTimer timer(times, Phase::kCommit);
  ReplacedFile old = is_staged_ ? ReplacedFile() : ReplacedFile::find(*driver_, path_, successor_);
  STRIA_RETURN_IF_ERROR(check_name(*driver_, *file_, partial_path_));
  STRIA_RETURN_IF_ERROR(driver_->rename(partial_path_, path_));
  published_ = true;
  const Status settled = settle(sync);
  if (settled.ok()) {  // The name may not be durable yet.
    old.remove(*driver_);
  }
  return settled;
}

// The file has its name by now. A failure costs no data any more, unless the power fails too.
Status PartialFile::settle(bool sync) {
  const Status closed = file_->close();
  return closed.ok() && sync ? driver_->sync_directory(path_) : closed;
}

void PartialFile::discard() noexcept {
  if (file_ != nullptr && !published_) {
    // The outcome of the removal doesn't matter: the caller needs the reason of the failure.
    static_cast<void>(or_out_of_memory(
        [&] { return is_named(*driver_, *file_, partial_path_) ? driver_->remove(partial_path_) : Status(); }));
  }
  file_.reset();
}

}  // namespace stria::file
