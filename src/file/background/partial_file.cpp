#include "file/background/partial_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/out_of_memory.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

std::string partial_path(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".partial";
}

PartialFile::PartialFile(std::shared_ptr<storage::Driver> driver, std::string path)
    : driver_(std::move(driver)), path_(std::move(path)), partial_path_(partial_path(path_)) {}

Status PartialFile::create(const storage::Striping& striping) {
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  open.exclusive_lock = true;
  open.striping = striping;
  STRIA_ASSIGN_OR_RETURN(file_, driver_->open(partial_path_, open));
  return Status();
}

Status PartialFile::publish(int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file_->size());
  if (size_bytes != file_bytes) {
    STRIA_RETURN_IF_ERROR(file_->resize(file_bytes));
  }
  if (sync) {
    PhaseTimer timer(times, Phase::kSync);
    STRIA_RETURN_IF_ERROR(file_->sync());
  }
  PhaseTimer timer(times, Phase::kCommit);
  if (!has_partial_name()) {
    return Status(ErrorCode::kIo, fmt::format("'{}' doesn't name the file any more that was written under this name: something "
                                              "has renamed, removed or replaced it",
                                              partial_path_));
  }
  STRIA_RETURN_IF_ERROR(driver_->rename(partial_path_, path_));
  published_ = true;
  return settle(sync);
}

// After the file has its name. A failure now costs no data, unless the power fails too.
Status PartialFile::settle(bool sync) {
  const Status closed = file_->close();
  return closed.ok() && sync ? driver_->sync_directory(path_) : closed;
}

void PartialFile::discard() noexcept {
  if (file_ != nullptr) {
    // The outcome of the removal doesn't matter: the caller needs the reason of the failure.
    static_cast<void>(or_out_of_memory([&] { return has_partial_name() ? driver_->remove(partial_path_) : Status(); }));
  }
  file_.reset();
}

// Whether the temporary name still means the file that was made under it, as far as the storage
// can tell.
bool PartialFile::has_partial_name() const {
  const auto created = file_->identity();
  const auto named = driver_->identity(partial_path_);
  return named.status().code() != ErrorCode::kNotFound && (!created.ok() || !named.ok() || *created == *named);
}

}  // namespace stria::file
