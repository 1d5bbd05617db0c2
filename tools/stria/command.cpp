#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "stria/hints.hpp"
#include "stria/status.hpp"

namespace stria::tool {

namespace {

void write_file(const std::string& path, std::ios::openmode mode, const std::string& text) {
  errno = 0;
  std::ofstream file(path, mode);
  file << text;
  file.close();
  if (!file) {
    Status::from_errno(errno == 0 ? EIO : errno, fmt::format("write '{}'", path)).throw_if_error();
  }
}

}  // namespace

void print(Ranks& ranks, const std::string& text) {
  if (ranks.rank() == 0) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void warn(Ranks& ranks, const std::string& text) {
  if (ranks.rank() == 0) {
    fmt::print(stderr, "stria: warning: {}\n", text);
  }
}

std::string own_program() {
  std::string program(PATH_MAX, '\0');
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  if (length < 0) {
    Status::from_errno(errno, "find this program").throw_if_error();
  }
  program.resize(static_cast<size_t>(length));
  // The part for an MPI is started by the command.
  const auto here = std::filesystem::path(program).parent_path();
  const auto command = (here / STRIA_COMMAND_FROM_PART).lexically_normal();
  const bool is_part = (command.parent_path() / STRIA_PARTS_FROM_COMMAND).lexically_normal() == here.parent_path();
  std::error_code ignored;
  return is_part && std::filesystem::exists(command, ignored) ? command.string() : program;
}

void become(std::vector<std::string> words) {
  std::vector<char*> raw;
  for (std::string& word : words) {
    raw.push_back(word.data());
  }
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  throw Error(ErrorCode::kIo, fmt::format("start '{}': {}", words[0], std::strerror(errno)));
}

std::map<std::string, std::string> parse_hints(Ranks& ranks, const std::vector<std::string>& entries) {
  std::map<std::string, std::string> hints;
  for (const std::string& entry : entries) {
    size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("--hint '{}' is not of the form name=value", entry));
    }
    hints[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  for (const std::string& problem : hint_problems(hints)) {
    warn(ranks, problem);
  }
  return hints;
}

void on_root(Ranks& ranks, const std::function<void()>& action) {
  Status outcome;
  if (ranks.rank() == 0) {
    try {
      action();
    } catch (const Error& error) {
      outcome = Status(error);
    }
  }
  ranks.agree(outcome).throw_if_error();
}

void write_text(Ranks& ranks, const std::string& path, const std::string& text) {
  on_root(ranks, [&] { write_file(path, std::ios::trunc, text); });
}

// A reader of a pipe would take a file that is opened and closed for all that comes. A link may
// lead to a file that isn't there yet: the link stays.
void check_writable(Ranks& ranks, const std::string& path) {
  on_root(ranks, [&] {
    std::error_code ignored;
    const auto kind = std::filesystem::status(path, ignored).type();
    if (kind == std::filesystem::file_type::directory) {
      Status::from_errno(EISDIR, fmt::format("write '{}'", path)).throw_if_error();
    }
    if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular) {
      if (access(path.c_str(), W_OK) != 0) {
        Status::from_errno(errno, fmt::format("write '{}'", path)).throw_if_error();
      }
      return;
    }
    write_file(path, std::ios::app, "");
    if (kind == std::filesystem::file_type::not_found) {
      std::filesystem::remove(std::filesystem::canonical(path, ignored), ignored);
    }
  });
}

}  // namespace stria::tool
