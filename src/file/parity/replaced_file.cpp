#include "file/parity/replaced_file.hpp"

#include <optional>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/parts_table.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

void append_parts(storage::Driver& driver, const std::string& path, std::vector<std::string>& found) {
  const auto file = driver.open(path, {});
  const auto table = file.ok() ? find_parts(**file, path) : Result<std::optional<PartsTable>>(file.status());
  if (!table.ok() || !*table) {
    return;
  }
  for (const storage::PartMap::Part& part : (*table)->map.parts) {
    if (generation_of(storage::file_name_of(path), storage::file_name_of(part.path))) {
      found.push_back(part.path);
    }
  }
}

}  // namespace

ReplacedFile ReplacedFile::find(storage::Driver& driver, const std::string& path, Successor successor) noexcept {
  ReplacedFile replaced;
  if (successor.has_parts && successor.has_parity) {
    return replaced;
  }
  static_cast<void>(or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const bool is_there, driver.exists(path));
    if (!is_there) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto names, driver.list_directory(storage::directory_of(path)));
    const std::string own_name = storage::file_name_of(path);
    std::vector<std::string> found;
    bool any_parts = false;
    for (const std::string& name : names) {
      if (!successor.has_parity && parity_generation_of(own_name, name)) {
        found.push_back(path_beside(path, name));
      }
      any_parts = any_parts || generation_of(own_name, name);
    }
    if (!successor.has_parts && any_parts) {
      append_parts(driver, path, found);
    }
    replaced.beside_ = std::move(found);
    return Status();
  }));
  return replaced;
}

void ReplacedFile::remove(storage::Driver& driver) noexcept {
  for (const std::string& path : beside_) {
    static_cast<void>(or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(const bool is_seen, driver.exists(real_path(driver, path)));
      return is_seen ? remove_placed(driver, path) : Status();
    }));
  }
  beside_.clear();
}

}  // namespace stria::file
