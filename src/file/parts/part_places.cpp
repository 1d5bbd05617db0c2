#include "file/parts/part_places.hpp"

#include <string_view>

#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr std::string_view kPlaced = "part";  // no file is staged by such a name

}  // namespace

std::string placed_path(const std::vector<std::string>& places, size_t turn, const std::string& path) {
  if (places.empty() || storage::is_remote_path(path)) {
    return path;
  }
  const std::string& place = places[turn % places.size()];
  return place + (place.ends_with('/') ? "" : "/") + std::string(kPlaced) + storage::path_as_name(path);
}

std::optional<std::string> path_of_placed(const std::string& name) {
  return name.starts_with(kPlaced) ? storage::path_of_name(std::string_view(name).substr(kPlaced.size())) : std::nullopt;
}

std::string real_path(storage::Driver& driver, const std::string& path) {
  return driver.follow_links(path);
}

Status begin_placed(storage::Driver& driver, const std::string& path, const std::string& real) {
  if (real == path) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(driver.make_link(real, path));
  const Status removed = driver.remove(real);
  return removed.code() == ErrorCode::kNotFound ? Status() : removed;
}

// A link that somebody else has made is no reason to remove what it leads to.
Status remove_placed(storage::Driver& driver, const std::string& path) {
  const std::string real = real_path(driver, path);
  const auto known = real != path ? path_of_placed(storage::file_name_of(real)) : std::nullopt;
  if (known && storage::file_name_of(*known) == storage::file_name_of(path)) {
    const Status removed = driver.remove(real);
    STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
  }
  return driver.remove(path);
}

}  // namespace stria::file
