#include "file/parts/part_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/check.hpp"
#include "file/parts/part_places.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr std::string_view kMark = ".part-";
constexpr std::string_view kParityMark = ".parity-";

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return number;
}

// Reads FILE mark GENERATION - NUMBER.
std::optional<int64_t> generation_behind(std::string_view mark, const std::string& file_name, const std::string& name) {
  std::string_view rest = name;
  if (!rest.starts_with(file_name) || !rest.substr(file_name.size()).starts_with(mark)) {
    return std::nullopt;
  }
  rest.remove_prefix(file_name.size() + mark.size());
  const auto generation = take_number(rest);
  if (!generation || rest.empty() || rest.front() != '-') {
    return std::nullopt;
  }
  rest.remove_prefix(1);
  return take_number(rest) && rest.empty() ? generation : std::nullopt;
}

template <typename GenerationOf>
Result<std::vector<PartName>> list_names(storage::Driver& driver, const std::string& path,
                                         const GenerationOf& generation_of_name) {
  STRIA_ASSIGN_OR_RETURN(const auto names, driver.list_directory(storage::directory_of(path)));
  std::vector<PartName> found;
  for (const std::string& name : names) {
    if (const auto generation = generation_of_name(storage::file_name_of(path), name)) {
      found.push_back({name, *generation});
    }
  }
  return found;
}

Status remove_all(storage::Driver& driver, const std::string& path, const Result<std::vector<PartName>>& names) {
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    const Status removed = remove_placed(driver, path_beside(path, (*names)[i].name));
    if (removed.code() != ErrorCode::kNotFound) {  // another program may remove them too
      STRIA_RETURN_IF_ERROR(removed);
    }
  }
  return Status();
}

}  // namespace

std::string part_name(const std::string& file_name, int64_t generation, int part) {
  STRIA_ASSERT(generation > 0 && part >= 0 && file_name.find('/') == std::string::npos, generation, part, file_name);
  return fmt::format("{}{}{}-{}", file_name, kMark, generation, part);
}

std::string path_beside(const std::string& path, const std::string& name) {
  STRIA_ASSERT(name.find('/') == std::string::npos, name);
  return path.substr(0, path.size() - storage::file_name_of(path).size()) + name;
}

std::string parity_name(const std::string& file_name, int64_t generation, int number) {
  STRIA_ASSERT(generation >= 0 && number >= 0 && file_name.find('/') == std::string::npos, generation, number, file_name);
  return fmt::format("{}{}{}-{}", file_name, kParityMark, generation, number);
}

std::optional<int64_t> generation_of(const std::string& file_name, const std::string& name) {
  return generation_behind(kMark, file_name, name);
}

std::optional<int64_t> parity_generation_of(const std::string& file_name, const std::string& name) {
  return generation_behind(kParityMark, file_name, name);
}

Result<std::vector<PartName>> list_parity(storage::Driver& driver, const std::string& path) {
  return list_names(driver, path, parity_generation_of);
}

Result<std::vector<PartName>> list_parts(storage::Driver& driver, const std::string& path) {
  return list_names(driver, path, generation_of);
}

// The parts mean nothing without the file, so that it goes first.
Status remove_with_parts(storage::Driver& driver, const std::string& path) {
  STRIA_RETURN_IF_ERROR(driver.remove(path));
  STRIA_RETURN_IF_ERROR(remove_all(driver, path, list_parts(driver, path)));
  return remove_all(driver, path, list_parity(driver, path));
}

}  // namespace stria::file
