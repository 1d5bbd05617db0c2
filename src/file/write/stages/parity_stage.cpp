#include "file/write/stages/parity_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/out_of_memory.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

// The parts have their sizes on the storage; the file itself gets its own with its name.
Result<std::vector<ParityFile>> files_of(const OpenFile& file, NewFile& target, const Parts* parts, int64_t file_bytes) {
  std::vector<ParityFile> files;
  for (int part = 0; parts != nullptr && part < parts->map()->part_count(); ++part) {
    const std::string& path = parts->map()->parts[static_cast<size_t>(part)].path;
    files.push_back({.path = path, .name = storage::file_name_of(path)});
    if (file.meetings.is_root()) {
      STRIA_ASSIGN_OR_RETURN(const auto opened, file.environment.driver->open(path, {}));
      STRIA_ASSIGN_OR_RETURN(files.back().bytes, opened->size());
    }
  }
  files.push_back(
      {.path = target.place().unpublished_path(), .name = storage::file_name_of(file.stored_path), .bytes = file_bytes});
  return files;
}

}  // namespace

Status ParityStage::protect(OpenFile& file, NewFile& target, const WrittenFile& written) {
  auto files = written.outcome.ok() ? or_out_of_memory([&] { return files_of(file, target, written.parts, written.bytes); })
                                    : Result<std::vector<ParityFile>>(written.outcome);
  STRIA_RETURN_IF_ERROR(file.comm().agree(files.status()));
  return writer_.make(file.stored(), *files, static_cast<int>(file.environment.hints.parity_count),
                      written.parts != nullptr ? written.parts->generation() : 0, written.sync);
}

Status ParityStage::begin_growing(OpenFile& file) {
  if (has_begun_) {
    return Status();
  }
  has_begun_ = true;
  Status mine;
  if (file.meetings.is_root()) {
    mine = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(const int count, writer_.remove_all(file.stored()));
      renewed_count_ = std::max<int64_t>(count, file.environment.hints.parity_count);
      return Status();
    });
  }
  return file.comm().agree(mine, std::as_writable_bytes(std::span(&renewed_count_, 1)));
}

Status ParityStage::renew(OpenFile& file, NewFile& target, bool sync) {
  auto files = or_out_of_memory([&] { return files_of(file, target, nullptr, file.accounts.report().file_bytes); });
  STRIA_RETURN_IF_ERROR(file.comm().agree(files.status()));
  return writer_.make(file.stored(), *files, static_cast<int>(renewed_count_), 0, sync);
}

Status ParityStage::leave_to_background(const OpenFile& file, NewFile& target) const {
  const int64_t count = has_begun_ ? renewed_count_ : file.environment.hints.parity_count;
  return or_out_of_memory([&] {
    access::ResolvedHints hints = file.environment.hints;
    hints.part_places = hints.part_places.empty() ? writer_.removed_places() : hints.part_places;
    target.protect(std::make_unique<LoneParity>(file.environment.driver, std::move(hints), file.stored_path,
                                                static_cast<int>(count), has_begun_));
    return Status();
  });
}

void ParityStage::end(OpenFile& file, NewFile& target, bool sync) {
  if (has_begun_ && renewed_count_ == 0) {
    return;
  }
  const bool is_root = file.meetings.is_root();
  Status status;
  if (target.staging() != nullptr) {
    status = is_root ? leave_to_background(file, target) : Status();
  } else if (has_begun_) {
    status = renew(file, target, sync);
  }
  if (!status.ok()) {
    writer_.discard(file.stored());
    file.environment.hint_warnings.push_back(
        fmt::format("'{}' has no parity any more: {}; 'stria repair --renew {}' makes it anew", file.stored_path,
                    status.message(), file.stored_path));
  } else if (is_root && target.staging() == nullptr) {
    writer_.note_published(file.stored());
  }
}

}  // namespace stria::file
