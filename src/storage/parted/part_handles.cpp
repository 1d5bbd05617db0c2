#include "storage/parted/part_handles.hpp"

#include <span>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "storage/messages.hpp"
#include "storage/path.hpp"

namespace stria::storage {

namespace {

// A process may not open any number of files.
constexpr size_t kMostOpenForReading = 64;

}  // namespace

PartHandles::PartHandles(File& master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map,
                         OpenOptions::Mode mode)
    : master_(master), driver_(std::move(driver)), map_(std::move(map)), mode_(mode) {}

Result<std::unique_ptr<File>> PartHandles::open(int number) {
  const PartMap::Part& part = map_->parts[static_cast<size_t>(number)];
  OpenOptions options;
  options.mode = mode_;
  options.sole_writer = sole_writer_;
  options.plain_only = mode_ != OpenOptions::Mode::kRead;  // another rank has just made it
  options.expected_number = part.number;
  auto opened = driver_->open(PartMap::made_path(part), options);
  if (mode_ != OpenOptions::Mode::kRead) {
    return opened;
  }
  const std::string whose = "'" + master_.path() + "' has a part in '" + part.path + "'";
  if (opened.status().code() == ErrorCode::kNotFound) {
    const std::string why = why_unseen(*driver_, part.path);
    return Status(ErrorCode::kCorrupted, why.empty() ? whose + ", which is missing: bring it to " + directory_of(master_.path())
                                                     : whose + " (" + why + ")");
  }
  STRIA_RETURN_IF_ERROR(opened.status().with_context(whose));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, (*opened)->size());
  if (bytes >= part.least_bytes) {
    STRIA_ASSIGN_OR_RETURN(const bool is_ours, has_mark(**opened, number));
    return is_ours ? std::move(opened)
                   : Status(ErrorCode::kCorrupted,
                            whose + ", but belongs to another file, or is damaged: put the one back that was written with it");
  }
  return Status(ErrorCode::kCorrupted, whose + ", which is cut short: it has " + std::to_string(bytes) + " bytes instead of " +
                                           std::to_string(part.least_bytes));
}

// Files of older versions have none.
Result<bool> PartHandles::has_mark(File& file, int number) const {
  const int64_t offset = map_->parts[static_cast<size_t>(number)].mark_offset;
  if (offset < 0) {
    return true;
  }
  PartMap::Mark mark{};
  const ReadSegment segment{offset, mark.data(), PartMap::kMarkBytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.read(std::span(&segment, 1)));
  return bytes == PartMap::kMarkBytes && mark == map_->mark_of(number);
}

Result<File*> PartHandles::at(int number) {
  if (number == PartedStretch::kMaster) {
    return &master_;
  }
  STRIA_CHECK(0 <= number && number < map_->part_count(), number, map_->part_count());
  const auto found = parts_.find(number);
  if (found != parts_.end()) {
    return found->second.get();
  }
  if (mode_ == OpenOptions::Mode::kRead && parts_.size() >= kMostOpenForReading) {
    parts_.erase(parts_.begin());
  }
  STRIA_ASSIGN_OR_RETURN(auto opened, open_ ? open_(number) : open(number));
  return parts_.emplace(number, std::move(opened)).first->second.get();
}

File* PartHandles::direct_at(int number) {
  if (number == PartedStretch::kMaster || direct_driver_ == nullptr) {
    return nullptr;
  }
  STRIA_CHECK(0 <= number && number < map_->part_count(), number, map_->part_count());
  const auto found = direct_parts_.find(number);
  if (found != direct_parts_.end()) {
    return found->second.get();
  }
  const PartMap::Part& part = map_->parts[static_cast<size_t>(number)];
  OpenOptions options;
  options.mode = mode_;
  options.direct = true;
  options.plain_only = mode_ != OpenOptions::Mode::kRead;
  options.expected_number = part.number;
  auto opened = direct_driver_->open(PartMap::made_path(part), options);
  return direct_parts_.emplace(number, opened.ok() ? std::move(*opened) : nullptr).first->second.get();
}

Status PartHandles::sync() {
  for (const auto& [number, file] : parts_) {
    STRIA_RETURN_IF_ERROR(file->sync());
  }
  return {};
}

Status PartHandles::close(bool sync) {
  Status status;
  for (const auto& [number, file] : direct_parts_) {
    status.update(file == nullptr ? Status() : file->close());
  }
  direct_parts_.clear();
  for (const auto& [number, file] : parts_) {
    if (sync) {
      status.update(file->sync());
    }
    status.update(file->close());
  }
  parts_.clear();
  return status;
}

}  // namespace stria::storage
