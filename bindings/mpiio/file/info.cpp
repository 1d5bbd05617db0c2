#include "mpiio/file/info.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
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

// More than any list of hints has.
constexpr size_t kMostHintBytes = 1 << 20;

/// Of a file that is closed when its reader is done.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
};

// Reads a whole regular file of moderate size. Returns why it can't be read, or nothing. A pipe or
// a device might never end.
std::string read_hint_file(const char* path, std::string& text) {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const Descriptor file{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat details = {};
  if (file.number < 0 || fstat(file.number, &details) != 0) {
    return std::strerror(errno);
  }
  if (!S_ISREG(details.st_mode)) {
    return "it is not a regular file";
  }
  std::array<char, 4096> buffer;
  ssize_t now = 0;
  while ((now = ::read(file.number, buffer.data(), buffer.size())) > 0 && text.size() <= kMostHintBytes) {
    text.append(buffer.data(), static_cast<size_t>(now));
  }
  if (text.size() > kMostHintBytes) {
    return "it is larger than 1 MiB";
  }
  return now < 0 ? std::strerror(errno) : "";
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

Hints parse_hint_lines(const std::string& text) {
  Hints hints;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    const size_t blank = line.find_first_of(" \t");
    if (!line.empty()) {
      // As in ROMIO, the first line of a name counts.
      hints.emplace(line.substr(0, blank), blank == std::string::npos ? "" : trimmed(line.substr(blank)));
    }
  }
  return hints;
}

Hints with_environment(const Hints& own, std::vector<std::string>& problems) {
  Hints hints = own;
  if (const char* path = environment("ROMIO_HINTS")) {
    std::string text;
    if (const std::string problem = read_hint_file(path, text); problem.empty()) {
      hints.merge(parse_hint_lines(text));
    } else {
      problems.push_back("ROMIO_HINTS names '" + std::string(path) + "', which is left out: " + problem);
    }
  }
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
  const char* value = environment("STRIA_VERBOSE");
  return value != nullptr && std::string_view(value) != "0";
}

}  // namespace stria::mpiio
