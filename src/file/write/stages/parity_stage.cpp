#include "file/write/stages/parity_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/out_of_memory.hpp"
#include "storage/path.hpp"

namespace stria::file {

// The parts have their sizes on the storage; the file itself gets its own with its name.
Result<std::vector<ParityFile>> ParityStage::files(int64_t file_bytes) const {
  std::vector<ParityFile> files;
  for (int part = 0; parts_ != nullptr && part < parts_->map()->part_count(); ++part) {
    const std::string& path = parts_->map()->parts[static_cast<size_t>(part)].path;
    files.push_back({.path = path, .name = storage::file_name_of(path)});
    if (environment_.comm->rank() == 0) {
      STRIA_ASSIGN_OR_RETURN(const auto file, environment_.driver->open(path, {}));
      STRIA_ASSIGN_OR_RETURN(files.back().bytes, file->size());
    }
  }
  files.push_back({.path = file_.place().unpublished_path(), .name = storage::file_name_of(path_), .bytes = file_bytes});
  return files;
}

Status ParityStage::protect(const Status& mine, int64_t file_bytes, bool sync) {
  auto files = mine.ok() ? or_out_of_memory([&] { return this->files(file_bytes); }) : Result<std::vector<ParityFile>>(mine);
  STRIA_RETURN_IF_ERROR(environment_.comm->agree(files.status()));
  return writer_.make(*files, static_cast<int>(environment_.hints.parity_count), parts_ != nullptr ? parts_->generation() : 0,
                      sync);
}

Status ParityStage::begin_growing() {
  if (has_begun_) {
    return Status();
  }
  has_begun_ = true;
  Status mine;
  if (environment_.comm->rank() == 0) {
    mine = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(const int count, writer_.remove_all());
      renewed_count_ = std::max<int64_t>(count, environment_.hints.parity_count);
      return Status();
    });
  }
  return environment_.comm->agree(mine, std::as_writable_bytes(std::span(&renewed_count_, 1)));
}

Status ParityStage::renew(int64_t file_bytes, bool sync) {
  auto files = or_out_of_memory([&] { return this->files(file_bytes); });
  STRIA_RETURN_IF_ERROR(environment_.comm->agree(files.status()));
  return writer_.make(*files, static_cast<int>(renewed_count_), 0, sync);
}

Status ParityStage::leave_to_background(NewFile& file) {
  const int64_t count = has_begun_ ? renewed_count_ : environment_.hints.parity_count;
  return or_out_of_memory([&] {
    access::ResolvedHints hints = environment_.hints;
    hints.part_places = hints.part_places.empty() ? writer_.removed_places() : hints.part_places;
    file.protect(
        std::make_unique<LoneParity>(environment_.driver, std::move(hints), path_, static_cast<int>(count), has_begun_));
    return Status();
  });
}

void ParityStage::end(NewFile& file, int64_t file_bytes, bool sync) {
  if (has_begun_ && renewed_count_ == 0) {
    return;
  }
  const bool is_root = environment_.comm->rank() == 0;
  Status status;
  if (file.staging() != nullptr) {
    status = is_root ? leave_to_background(file) : Status();
  } else if (has_begun_) {
    status = renew(file_bytes, sync);
  }
  if (!status.ok()) {
    writer_.discard();
    environment_.hint_warnings.push_back(fmt::format("'{}' has no parity any more: {}; 'stria repair --renew {}' makes it anew",
                                                     path_, status.message(), path_));
  } else if (is_root && file.staging() == nullptr) {
    writer_.note_published();
  }
}

}  // namespace stria::file
