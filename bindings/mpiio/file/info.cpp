#include "mpiio/file/info.hpp"

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace stria::mpiio {

namespace {

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Hints hints_of(MPI_Info info) {
  Hints hints;
  if (info == MPI_INFO_NULL) {
    return hints;
  }
  int count = 0;
  MPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    char name[MPI_MAX_INFO_KEY + 1] = {};
    MPI_Info_get_nthkey(info, i, name);
    int length = 0;
    int found = 0;
    MPI_Info_get_valuelen(info, name, &length, &found);
    std::string value(static_cast<size_t>(length) + 1, '\0');
    MPI_Info_get(info, name, length, value.data(), &found);
    if (found != 0) {
      hints[name] = trimmed(value.c_str());
    }
  }
  return hints;
}

Hints parse_hint_list(const std::string& text) {
  Hints hints;
  std::istringstream stream(text);
  for (std::string entry; std::getline(stream, entry, ';');) {
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) {
      hints[trimmed(entry.substr(0, equals))] = trimmed(entry.substr(equals + 1));
    } else if (!trimmed(entry).empty()) {
      hints[trimmed(entry)] = "";  // reported as a value that can't be used
    }
  }
  return hints;
}

Hints with_environment(const Hints& own, const access::FileHints& from_files, std::vector<std::string>& problems) {
  access::FileHints files = from_files;
  Hints hints = own;
  hints.merge(files.hints);
  problems.insert(problems.end(), files.problems.begin(), files.problems.end());
  if (const char* list = environment("STRIA_HINTS")) {
    for (const auto& [name, value] : parse_hint_list(list)) {
      hints[name] = value;
    }
  }
  return hints;
}

MPI_Info info_of(const Hints& hints) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [name, value] : hints) {
    // MPI takes no empty value and none beyond its own limits.
    if (!value.empty() && value.size() < MPI_MAX_INFO_VAL && name.size() < MPI_MAX_INFO_KEY) {
      MPI_Info_set(info, name.c_str(), value.c_str());
    }
  }
  return info;
}

bool is_verbose() {
  return environment("STRIA_VERBOSE") != nullptr && !is_silent();
}

bool is_silent() {
  const char* value = environment("STRIA_VERBOSE");
  return value != nullptr && std::string_view(value) == "0";
}

}  // namespace stria::mpiio
