#include "file/background/staging_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/out_of_memory.hpp"
#include "container/formats/formats.hpp"
#include "storage/path.hpp"
#include "stria/phases.hpp"

namespace stria::file {

namespace {

constexpr std::string_view kPartial = ".partial";

std::string in_place(const std::string& place, const std::string& name) {
  return place + (place.ends_with('/') ? "" : "/") + name;
}

bool is_mine(const storage::NameInfo& info) {
  return info.is_plain_file && info.is_mine;
}

// Tells whether the file at its own place is newer than the one that is staged.
Result<bool> is_newer(storage::Driver& driver, const std::string& own, const std::string& staged,
                      const storage::NameInfo& about_staged) {
  const auto about_own = driver.name_info(own);
  if (about_own.status().code() == ErrorCode::kNotFound) {
    return false;
  }
  STRIA_RETURN_IF_ERROR(about_own.status());
  if (!about_own->changed_ns || !about_staged.changed_ns) {
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is at its own place and staged as '{}', and their ages can't be compared: remove one", own, staged));
  }
  return *about_own->changed_ns > *about_staged.changed_ns;
}

// Returns the last component of the path that a temporary name stands for; nothing for other names.
std::optional<std::string> name_of_partial(const std::string& name) {
  if (name.size() <= kPartial.size() + 1 || !name.starts_with('.') || !name.ends_with(kPartial)) {
    return std::nullopt;
  }
  return name.substr(1, name.size() - 1 - kPartial.size());
}

// Brings one file to its place. kAlreadyExists where a live program does so.
Status bring(const std::shared_ptr<storage::Driver>& driver, const std::string& staged, const std::string& path) {
  auto own = std::make_unique<PartialFile>(driver, path);
  STRIA_RETURN_IF_ERROR(own->find());
  STRIA_RETURN_IF_ERROR(own->create({}));
  Drain drain(driver, staged, std::move(own));
  const Status brought = drain.run(true);
  if (!brought.ok()) {
    drain.discard();
  }
  return brought;
}

}  // namespace

std::string staged_path(const std::string& place, const std::string& path) {
  return in_place(place, storage::path_as_name(path));
}

std::optional<std::string> path_of_staged(const std::string& name) {
  return storage::path_of_name(name);
}

Result<Nearest> find_nearest(storage::Driver& driver, const std::string& place, const std::string& path) {
  const std::string staged = staged_path(place, path);
  const auto info = driver.name_info(staged);
  if (info.status().code() == ErrorCode::kNotFound) {
    return Nearest{.path = path};
  }
  if (!info.ok() || !is_mine(*info)) {
    const std::string why = info.ok() ? fmt::format("'{}' is another user's, or a link", staged) : info.status().message();
    return Nearest{.path = path, .remark = fmt::format("stria_staging: '{}' is read at its own place: {}", path, why)};
  }
  STRIA_ASSIGN_OR_RETURN(const bool own_is_newer, is_newer(driver, path, staged, *info));
  return own_is_newer ? Nearest{.path = path} : Nearest{.path = staged, .is_staged = true};
}

Result<std::vector<std::string>> staged_files(storage::Driver& driver, const std::string& place) {
  std::vector<std::string> paths;
  const auto names = driver.list_directory(place);
  if (names.status().code() == ErrorCode::kNotFound) {
    return paths;
  }
  STRIA_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    const auto path = path_of_staged(name);
    const auto info = path ? driver.name_info(in_place(place, name)) : Result<storage::NameInfo>(storage::NameInfo());
    if (path && info.ok() && is_mine(*info)) {
      paths.push_back(*path);
    }
  }
  return paths;
}

Status Drain::open() {
  STRIA_ASSIGN_OR_RETURN(staged_, driver_->open(staged_path_, kOpenStaged));
  STRIA_ASSIGN_OR_RETURN(const bool is_file, container::is_container(*staged_));
  if (!is_file) {
    return Status(ErrorCode::kFormat, fmt::format("'{}' is neither an HDF5 nor a netCDF file", staged_path_));
  }
  piece_.resize(static_cast<size_t>(kPieceBytes));
  return Status();
}

Result<bool> Drain::step(int64_t most_bytes, bool sync) {
  if (staged_ == nullptr) {
    STRIA_RETURN_IF_ERROR(open());
  }
  const int64_t most = std::min(kPieceBytes, most_bytes);
  const storage::ReadSegment read{done_bytes_, piece_.data(), most};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, staged_->read({&read, 1}));
  const storage::WriteSegment write{done_bytes_, piece_.data(), bytes};
  if (bytes > 0) {
    STRIA_RETURN_IF_ERROR(own_->file()->write({&write, 1}));
  }
  done_bytes_ += bytes;
  if (bytes == most) {
    return false;
  }
  PhaseTimes times;
  STRIA_RETURN_IF_ERROR(own_->publish(done_bytes_, sync, times));
  staged_.reset();
  // Another program that stages here may have seen that the file is at its own place, and removed
  // this one.
  const Status removed = driver_->remove(staged_path_);
  STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
  return true;
}

Status Drain::run(bool sync) {
  while (true) {
    STRIA_ASSIGN_OR_RETURN(const bool over, step(kPieceBytes, sync));
    if (over) {
      return Status();
    }
  }
}

namespace {

// Does to one name what drain_place() does to all. Success where there was nothing to bring.
Status drain_name(const std::shared_ptr<storage::Driver>& driver, const std::string& place, const std::string& name,
                  std::vector<std::string>& brought) {
  const std::string staged = in_place(place, name);
  if (const auto partial = name_of_partial(name); partial && path_of_staged(*partial)) {
    remove_unlocked(*driver, staged);
    return Status();
  }
  const auto path = path_of_staged(name);
  const auto info = path ? driver->name_info(staged) : Result<storage::NameInfo>(storage::NameInfo());
  if (!path || info.status().code() == ErrorCode::kNotFound || (info.ok() && !is_mine(*info))) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(info.status());
  STRIA_ASSIGN_OR_RETURN(const bool own_is_newer, is_newer(*driver, *path, staged, *info));
  if (own_is_newer) {
    remove_unlocked(*driver, staged);
    return Status();
  }
  const Status done = bring(driver, staged, *path);
  const auto is_there = driver->exists(staged);  // a live program may just have brought it
  if (done.ok()) {
    brought.push_back(*path);
  }
  const bool is_live = done.code() == ErrorCode::kAlreadyExists || (is_there.ok() && !*is_there);
  return is_live ? Status() : done.with_context(fmt::format("'{}', which was staged as '{}'", *path, staged));
}

}  // namespace

std::vector<std::string> drain_place(const std::shared_ptr<storage::Driver>& driver, const std::string& place,
                                     Status& failure) {
  std::vector<std::string> brought;
  const auto names = driver->list_directory(place);
  failure = names.status();
  if (failure.code() == ErrorCode::kNotFound) {
    const auto is_file = driver->exists(place);
    failure = is_file.ok() && !*is_file ? Status() : failure;
  }
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    failure.update(or_out_of_memory([&] { return drain_name(driver, place, (*names)[i], brought); }));
  }
  return brought;
}

}  // namespace stria::file
