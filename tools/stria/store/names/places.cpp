#include "store/names/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "storage/path.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

constexpr uint32_t kModeBits = 0777;

PlaceKind local_kind_of(const std::string& path) {
  std::error_code error;
  switch (std::filesystem::status(path, error).type()) {
    case std::filesystem::file_type::not_found:
      return PlaceKind::kNothing;
    case std::filesystem::file_type::regular:
      return PlaceKind::kFile;
    case std::filesystem::file_type::directory:
      return PlaceKind::kDirectory;
    case std::filesystem::file_type::none:
      throw Error(ErrorCode::kIo, fmt::format("look at '{}': {}", path, error.message()));
    default:
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is neither a file nor a directory", path));
  }
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

/// Returns one spelling for each place.
std::string settled(const std::string& path) {
  if (storage::is_rados_path(path)) {
    return without_slashes(path);
  }
  if (storage::is_remote_path(path)) {
    const wire::StorePath parsed = wire::StorePath::parse(path).value();
    return parsed.server + without_slashes(parsed.path);
  }
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  return without_slashes(error ? path : real);
}

Status ask_for_directory(const std::string& path) {
  const StoreFile place = find_in_store(path);
  const wire::NewDirectory request{place.path, 0777 & ~wire::this_umask()};
  return place.store->ask_manager(wire::Kind::kMakeDirectory, wire::encode(request)).status();
}

}  // namespace

PlaceKind kind_of(const std::string& path) {
  if (!storage::is_remote_path(path)) {
    return local_kind_of(path);
  }
  if (is_root(path)) {
    return PlaceKind::kDirectory;
  }
  try {
    return is_directory(path) ? PlaceKind::kDirectory : PlaceKind::kFile;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) {
      throw;
    }
    return PlaceKind::kNothing;
  }
}

std::optional<uint32_t> mode_of(const std::string& path) {
  if (storage::is_rados_path(path) || kind_of(path) == PlaceKind::kNothing) {
    return {};
  }
  if (storage::is_remote_path(path)) {
    return attributes_of(path).owner.mode & kModeBits;
  }
  return static_cast<uint32_t>(std::filesystem::status(path).permissions()) & kModeBits;
}

void set_mode(const std::string& path, uint32_t mode) {
  if (storage::is_rados_path(path)) {
    return;
  }
  if (storage::is_remote_path(path)) {
    wire::SetOwnership change;
    change.mode = mode;
    set_ownership(path, change);
    return;
  }
  std::error_code error;
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode), error);
  if (error) {
    throw Error(ErrorCode::kIo, fmt::format("set the mode of '{}': {}", path, error.message()));
  }
}

std::string target_of(const std::string& from, const std::string& to) {
  const bool into = to.ends_with('/') || kind_of(to) == PlaceKind::kDirectory;
  return into ? joined(to, storage::file_name_of(without_slashes(from))) : to;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  if (storage::is_remote_path(directory)) {
    for (const wire::Listed::Entry& entry : entries_of(directory)) {
      names.push_back(entry.name);
    }
    return names;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) {
    throw Error(ErrorCode::kIo, fmt::format("list '{}': {}", directory, error.message()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void make_directory(const std::string& path) {
  // The manager itself would make those that are missing.
  const std::string above = storage::directory_of(without_slashes(path));
  if (!is_root(path) && kind_of(above) != PlaceKind::kDirectory) {
    throw Error(ErrorCode::kNotFound, fmt::format("make the directory '{}': no directory '{}'; -p makes it too", path, above));
  }
  ask_for_directory(path).with_context(fmt::format("make the directory '{}'", path)).throw_if_error();
}

void make_directories(const std::string& path) {
  if (storage::is_rados_path(path)) {
    return;
  }
  if (!storage::is_remote_path(path)) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      throw Error(ErrorCode::kIo, fmt::format("make the directory '{}': {}", path, error.message()));
    }
    return;
  }
  const Status made = ask_for_directory(path);
  if (!made.ok() && kind_of(path) != PlaceKind::kDirectory) {
    made.with_context(fmt::format("make the directory '{}'", path)).throw_if_error();
  }
}

bool lies_in(const std::string& path, const std::string& directory) {
  const std::string inner = settled(path);
  const std::string outer = settled(directory);
  return inner == outer || inner.starts_with(joined(outer, ""));
}

}  // namespace stria::tool
