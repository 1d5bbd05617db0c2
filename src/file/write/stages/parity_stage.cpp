#include "file/write/stages/parity_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/out_of_memory.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

// The parts have their sizes on the storage; the file itself gets its own with its name.
Result<std::vector<ParityFile>> files_of(const ParityWork& work, int64_t file_bytes) {
  std::vector<ParityFile> files;
  for (int part = 0; work.parts != nullptr && part < work.parts->map()->part_count(); ++part) {
    const std::string& path = work.parts->map()->parts[static_cast<size_t>(part)].path;
    files.push_back({.path = path, .name = storage::file_name_of(path)});
    if (work.environment.comm->rank() == 0) {
      STRIA_ASSIGN_OR_RETURN(const auto file, work.environment.driver->open(path, {}));
      STRIA_ASSIGN_OR_RETURN(files.back().bytes, file->size());
    }
  }
  files.push_back(
      {.path = work.file.place().unpublished_path(), .name = storage::file_name_of(work.path), .bytes = file_bytes});
  return files;
}

}  // namespace

Status ParityStage::protect(const ParityWork& work, const Status& mine, int64_t file_bytes, bool sync) {
  auto files = mine.ok() ? or_out_of_memory([&] { return files_of(work, file_bytes); }) : Result<std::vector<ParityFile>>(mine);
  STRIA_RETURN_IF_ERROR(work.environment.comm->agree(files.status()));
  return writer_.make(work.stored(), *files, static_cast<int>(work.environment.hints.parity_count),
                      work.parts != nullptr ? work.parts->generation() : 0, sync);
}

Status ParityStage::begin_growing(const ParityWork& work) {
  if (has_begun_) {
    return Status();
  }
  has_begun_ = true;
  Status mine;
  if (work.environment.comm->rank() == 0) {
    mine = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(const int count, writer_.remove_all(work.stored()));
      renewed_count_ = std::max<int64_t>(count, work.environment.hints.parity_count);
      return Status();
    });
  }
  return work.environment.comm->agree(mine, std::as_writable_bytes(std::span(&renewed_count_, 1)));
}

Status ParityStage::renew(const ParityWork& work, int64_t file_bytes, bool sync) {
  auto files = or_out_of_memory([&] { return files_of(work, file_bytes); });
  STRIA_RETURN_IF_ERROR(work.environment.comm->agree(files.status()));
  return writer_.make(work.stored(), *files, static_cast<int>(renewed_count_), 0, sync);
}

Status ParityStage::leave_to_background(const ParityWork& work) const {
  const int64_t count = has_begun_ ? renewed_count_ : work.environment.hints.parity_count;
  return or_out_of_memory([&] {
    access::ResolvedHints hints = work.environment.hints;
    hints.part_places = hints.part_places.empty() ? writer_.removed_places() : hints.part_places;
    work.file.protect(std::make_unique<LoneParity>(work.environment.driver, std::move(hints), work.path,
                                                   static_cast<int>(count), has_begun_));
    return Status();
  });
}

void ParityStage::end(const ParityWork& work, int64_t file_bytes, bool sync) {
  if (has_begun_ && renewed_count_ == 0) {
    return;
  }
  const bool is_root = work.environment.comm->rank() == 0;
  Status status;
  if (work.file.staging() != nullptr) {
    status = is_root ? leave_to_background(work) : Status();
  } else if (has_begun_) {
    status = renew(work, file_bytes, sync);
  }
  if (!status.ok()) {
    writer_.discard(work.stored());
    work.environment.hint_warnings.push_back(fmt::format(
        "'{}' has no parity any more: {}; 'stria repair --renew {}' makes it anew", work.path, status.message(), work.path));
  } else if (is_root && work.file.staging() == nullptr) {
    writer_.note_published(work.stored());
  }
}

}  // namespace stria::file
