#include "file/background/staging_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/out_of_memory.hpp"
#include "storage/path.hpp"
#include "stria/phases.hpp"

namespace stria::file {

namespace {

constexpr int64_t kPieceBytes = 8 << 20;
constexpr std::string_view kPartial = ".partial";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

std::string in_place(const std::string& place, const std::string& name) {
  return place + (place.ends_with('/') ? "" : "/") + name;
}

// Whether the file at its own place is newer, as far as the system tells.
bool is_newer(const std::string& own, const std::string& staged) {
  if (storage::is_remote_path(own) || storage::is_remote_path(staged)) {
    return false;
  }
  std::error_code none;
  const auto of_own = std::filesystem::last_write_time(own, none);
  if (none) {
    return false;
  }
  const auto of_staged = std::filesystem::last_write_time(staged, none);
  return !none && of_own > of_staged;
}

// The last component of the path that a temporary name stands for; nothing for other names.
std::optional<std::string> name_of_partial(const std::string& name) {
  if (name.size() <= kPartial.size() + 1 || !name.starts_with('.') || !name.ends_with(kPartial)) {
    return std::nullopt;
  }
  return name.substr(1, name.size() - 1 - kPartial.size());
}

// Removes a file that no live program has locked.
void remove_unlocked(storage::Driver& driver, const std::string& path) {
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.exclusive_lock = true;
  if (const auto locked = driver.open(path, open); locked.ok()) {
    static_cast<void>(driver.remove(path));
  }
}

// Brings one file to its place. kAlreadyExists where a live program does so.
Status bring(const std::shared_ptr<storage::Driver>& driver, const std::string& staged, const std::string& path) {
  auto own = std::make_unique<PartialFile>(driver, path);
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
  std::string name;
  for (const char c : path) {
    name += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return in_place(place, name);
}

std::optional<std::string> path_of_staged(const std::string& name) {
  std::string path;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      path += name[i];
    } else if (i + 2 < name.size()) {
      path += static_cast<char>(std::strtol(name.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  const bool is_whole_path = path.starts_with('/') || storage::is_remote_path(path);
  return is_whole_path && staged_path("", path) == "/" + name ? std::optional(path) : std::nullopt;
}

std::string nearest_path(storage::Driver& driver, const std::string& place, const std::string& path) {
  const std::string staged = staged_path(place, path);
  const auto is_there = driver.exists(staged);
  return is_there.ok() && *is_there && !is_newer(path, staged) ? staged : path;
}

Status Drain::open() {
  STRIA_ASSIGN_OR_RETURN(staged_, driver_->open(staged_path_, {}));
  piece_.resize(static_cast<size_t>(kPieceBytes));
  return Status();
}

Result<bool> Drain::step(Pace& pace, bool sync) {
  if (staged_ == nullptr) {
    STRIA_RETURN_IF_ERROR(open());
  }
  const int64_t most = std::min(kPieceBytes, pace.most_bytes());
  const storage::ReadSegment read{done_bytes_, piece_.data(), most};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, staged_->read({&read, 1}));
  const storage::WriteSegment write{done_bytes_, piece_.data(), bytes};
  if (bytes > 0) {
    STRIA_RETURN_IF_ERROR(own_->file()->write({&write, 1}));
  }
  done_bytes_ += bytes;
  if (bytes == most) {
    pace.wait_after(bytes);
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
  Pace pace(0);
  while (true) {
    STRIA_ASSIGN_OR_RETURN(const bool over, step(pace, sync));
    if (over) {
      return Status();
    }
  }
}

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
    const std::string& name = (*names)[i];
    const std::string staged = in_place(place, name);
    const auto partial = name_of_partial(name);
    if (partial && path_of_staged(*partial)) {
      remove_unlocked(*driver, staged);
    }
    const auto path = partial ? std::nullopt : path_of_staged(name);
    if (!path) {
      continue;
    }
    if (is_newer(*path, staged)) {
      remove_unlocked(*driver, staged);
      continue;
    }
    const Status done = or_out_of_memory([&] { return bring(driver, staged, *path); });
    const auto is_there = driver->exists(staged);  // a live program may just have brought it
    if (done.ok()) {
      brought.push_back(*path);
    } else if (done.code() != ErrorCode::kAlreadyExists && (!is_there.ok() || *is_there)) {
      failure.update(done.with_context(fmt::format("'{}', which was staged as '{}'", *path, staged)));
    }
  }
  return brought;
}

}  // namespace stria::file
