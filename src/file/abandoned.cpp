// Removes what killed programs left behind.
#include "file/background/staging_place.hpp"
#include "storage/registry.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria {

std::vector<std::string> remove_abandoned(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> removed;
  auto driver = storage::make_driver("posix");
  auto names = driver.ok() ? (*driver)->list_directory(directory) : Result<std::vector<std::string>>(driver.status());
  if (!names.ok()) {
    return removed;
  }
  for (const std::string& name : *names) {
    bool partial = name.size() > 9 && name[0] == '.' && name.compare(name.size() - 8, 8, ".partial") == 0 &&
                   name.compare(1, prefix.size(), prefix) == 0;
    if (!partial) {
      continue;
    }
    std::string path = directory + "/" + name;
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    open.exclusive_lock = true;
    // A program that writes the file holds its lock until the file has its name or is gone.
    auto locked = (*driver)->open(path, open);
    if (locked.ok() && (*driver)->remove(path).ok()) {
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
