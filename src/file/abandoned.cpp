// Removes what killed programs left behind.
#include <string_view>

#include "file/background/partial_file.hpp"
#include "file/background/staging_place.hpp"
#include "storage/registry/registry.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria {

namespace {

constexpr std::string_view kPartial = ".partial";

bool is_partial(const std::string& name, const std::string& prefix) {
  return name.size() > kPartial.size() + 1 && name[0] == '.' && name.ends_with(kPartial) &&
         name.compare(1, prefix.size(), prefix) == 0;
}

/// Returns what a killed program may have left of the files of a directory: names in it, and those
/// beside the files to which its links lead.
std::vector<std::string> possible_leftovers(storage::Driver& driver, const std::string& directory, const std::string& prefix) {
  std::vector<std::string> paths;
  const auto names = driver.list_directory(directory);
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    const std::string path = directory + "/" + (*names)[i];
    if (is_partial((*names)[i], prefix)) {
      paths.push_back(path);
    } else if (const std::string real = (*names)[i].starts_with(prefix) ? driver.follow_links(path) : path; real != path) {
      paths.push_back(file::partial_path(real));
    }
  }
  return paths;
}

}  // namespace

std::vector<std::string> remove_abandoned(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> removed;
  const auto driver = storage::make_driver("posix");
  for (const std::string& path : driver.ok() ? possible_leftovers(**driver, directory, prefix) : std::vector<std::string>()) {
    if (file::remove_unlocked(**driver, path)) {
      removed.push_back(path);
    }
  }
  return removed;
}

std::vector<std::string> drain_staged(const std::string& place) {
  Status failure;
  const auto brought = file::drain_place(storage::make_driver("posix").value(), place, failure);
  failure.throw_if_error();
  return brought;
}

}  // namespace stria
