#include "file/parity/replaced_file.hpp"

#include <algorithm>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/parity/parity_head.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/parts_table.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

bool has_mark(storage::Driver& driver, const std::string& path) {
  const auto file = driver.open(path, {});
  const auto read = file.ok() ? read_head(**file) : Result<ReadHead>(file.status());
  return read.ok() && read->is_committed;
}

void append_parts(storage::Driver& driver, const std::string& path, std::vector<std::string>& found) {
  const auto table = find_parts(driver, path);
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

ReplacedFile ReplacedFile::find(storage::Driver& driver, const std::string& path) noexcept {
  ReplacedFile replaced;
  static_cast<void>(or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const bool is_there, driver.exists(path));
    if (!is_there) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const auto names, driver.list_directory(storage::directory_of(path)));
    const std::string own_name = storage::file_name_of(path);
    std::vector<std::string> found;
    for (const std::string& name : names) {
      if (parity_generation_of(own_name, name) && has_mark(driver, path_beside(path, name))) {
        found.push_back(path_beside(path, name));
      }
    }
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return generation_of(own_name, name); })) {
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
