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

namespace {

// Whether the name still means the open file, as far as the storage can tell.
bool is_named(storage::Driver& driver, storage::File& file, const std::string& name) {
  const auto open = file.identity();
  const auto named = driver.identity(name);
  return named.status().code() != ErrorCode::kNotFound && (!open.ok() || !named.ok() || *open == *named);
}

}  // namespace

Status complete(storage::Driver& driver, storage::File& file, const std::string& name, int64_t file_bytes, bool sync,
                PhaseTimes& times) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file.size());
  if (size_bytes != file_bytes) {
    STRIA_RETURN_IF_ERROR(file.resize(file_bytes));
  }
  if (sync) {
    PhaseTimer timer(times, Phase::kSync);
    STRIA_RETURN_IF_ERROR(file.sync());
  }
  PhaseTimer timer(times, Phase::kCommit);
  return is_named(driver, file, name)
             ? Status()
             : Status(ErrorCode::kIo, fmt::format("'{}' is no longer the file that was written: something has renamed, removed "
                                                  "or replaced that one",
                                                  name));
}

PartialFile::PartialFile(std::shared_ptr<storage::Driver> driver, std::string path)
    : driver_(std::move(driver)), path_(std::move(path)), partial_path_(partial_path(path_)) {}

Status PartialFile::create(const storage::Striping& striping, bool among_others) {
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  open.exclusive_lock = true;
  open.mine_only = among_others;
  open.striping = striping;
  STRIA_ASSIGN_OR_RETURN(file_, driver_->open(partial_path_, open));
  return Status();
}

Status PartialFile::publish(int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_RETURN_IF_ERROR(complete(*driver_, *file_, partial_path_, file_bytes, sync, times));
  PhaseTimer timer(times, Phase::kCommit);
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
    static_cast<void>(or_out_of_memory(
        [&] { return is_named(*driver_, *file_, partial_path_) ? driver_->remove(partial_path_) : Status(); }));
  }
  file_.reset();
}

}  // namespace stria::file
