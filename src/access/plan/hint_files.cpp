#include "access/plan/hint_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <string_view>

#include "access/failure/memory_reserve.hpp"
#include "access/request/hints.hpp"
#include "base/out_of_memory.hpp"
#include "base/trimmed.hpp"
#include "storage/path.hpp"

namespace stria::access {

namespace {

constexpr const char* kDirectoryFile = ".stria-hints";
// More than any list of hints has.
constexpr size_t kMostHintBytes = 1 << 20;

/// The descriptor of a file that is closed when its reader is done.
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
std::string read_text(const Descriptor& file, const struct stat& details, std::string& text) {
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

FileHints left_out(const std::string& named, const std::string& why) {
  return {{}, {fmt::format("{}, which is left out: {}", named, why)}};
}

// A stranger's file in a directory that everyone may write to doesn't count.
bool is_trusted(const struct stat& file, const std::string& directory) {
  struct stat place = {};
  return file.st_uid == geteuid() || file.st_uid == 0 ||
         (::stat(directory.c_str(), &place) == 0 && file.st_uid == place.st_uid);
}

// `directory`: the one whose file this is, and which most often has none; null: the user names it.
FileHints read_hint_file(const std::string& path, const std::string& named, const std::string* directory) {
  // Opening a pipe waits for its writer without O_NONBLOCK.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat details = {};
  if (file.number < 0 || fstat(file.number, &details) != 0) {
    const bool is_none = directory != nullptr && (errno == ENOENT || errno == ENOTDIR);
    return is_none ? FileHints() : left_out(named, std::strerror(errno));
  }
  if (directory != nullptr && !is_trusted(details, *directory)) {
    return left_out(named, "it belongs neither to you nor to the directory's owner");
  }
  std::string text;
  const std::string problem = read_text(file, details, text);
  return problem.empty() ? parse_hint_lines(text, path) : left_out(named, problem);
}

// One rank reads the files, and tells the others what they hold.
FileHints read_files(const std::string& path, std::initializer_list<const char*> variables) {
  FileHints all;
  for (const char* variable : variables) {
    if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') {
      all.add(read_hint_file(named, fmt::format("{} names '{}'", variable, named), nullptr));
    }
  }
  if (!storage::is_remote_path(path)) {
    const std::string directory = storage::directory_of(path);
    const std::string file = directory + "/" + kDirectoryFile;
    all.add(read_hint_file(file, fmt::format("the directory has '{}'", file), &directory));
  }
  return all;
}

// Why a hint that is right for a program may not come from a file, or nothing. A file tunes; it
// neither drops the bytes nor ends the job.
std::string refusal(const std::string& name, const std::string& value) {
  if (name.rfind("stria_wait_", 0) == 0 || (name == "stria_driver" && value == "memory")) {
    return fmt::format("hint '{}' with the value '{}' is for programs and has no effect from a file", name, value);
  }
  ResolvedHints alone;
  return set_hint(alone, name, value);
}

// Strings end with a zero byte. First the number of hints, then their names and values, then the
// problems. Nothing at all where there are none, which most often is so.
std::string packed(const FileHints& from) {
  if (from.hints.empty() && from.problems.empty()) {
    return "";
  }
  std::string text = std::to_string(from.hints.size()) + '\0';
  for (const auto& [name, value] : from.hints) {
    text += name + '\0' + value + '\0';
  }
  for (const std::string& problem : from.problems) {
    text += problem + '\0';
  }
  return text;
}

FileHints unpacked(const std::string& text) {
  size_t at = 0;
  const auto next = [&] {
    const size_t end = text.find('\0', at);
    std::string part = text.substr(at, end - at);
    at = end + 1;
    return part;
  };
  FileHints result;
  if (text.empty()) {
    return result;
  }
  for (size_t left = std::stoull(next()); left > 0; --left) {
    std::string name = next();
    result.hints.emplace(std::move(name), next());
  }
  while (at < text.size()) {
    result.problems.push_back(next());
  }
  return result;
}

}  // namespace

void FileHints::add(FileHints&& lower) {
  hints.merge(lower.hints);
  problems.insert(problems.end(), lower.problems.begin(), lower.problems.end());
}

FileHints parse_hint_lines(const std::string& text, const std::string& path) {
  FileHints result;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    // A zero byte is in no hint, and would divide what rank 0 tells the others.
    line = line.substr(0, std::min(line.find('#'), line.find('\0')));
    const std::string_view entry = trimmed(line);
    const size_t blank = std::min(entry.find_first_of(" \t"), entry.size());
    const std::string name(entry.substr(0, blank)), value(trimmed(entry.substr(blank)));
    if (name.empty()) {
      continue;
    }
    const std::string problem = value.empty() ? fmt::format("hint '{}' has no value", name) : refusal(name, value);
    if (problem.empty()) {
      result.hints.emplace(name, value);
    } else {
      result.problems.push_back(fmt::format("'{}', line {}: {}", path, number, problem));
    }
  }
  return result;
}

Status hints_from_files(Comm& comm, const std::string& path, std::initializer_list<const char*> variables, FileHints& found) {
  std::string text;
  int64_t length = 0;
  Status mine;
  if (comm.rank() == 0) {
    mine = or_out_of_memory([&] {
      text = packed(read_files(path, variables));
      return Status();
    });
    length = mine.ok() ? static_cast<int64_t>(text.size()) : 0;
  }
  if (comm.size() > 1) {
    comm.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
    if (length > 0) {
      MemoryReserve none;
      none.surely([&] { text.resize(static_cast<size_t>(length)); });
      comm.broadcast(std::as_writable_bytes(std::span(text)), 0);
    }
  }
  STRIA_RETURN_IF_ERROR(mine);
  return or_out_of_memory([&] {
    found = unpacked(text);
    return Status();
  });
}

}  // namespace stria::access
