#include "command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "stria/status.hpp"

namespace stria::tool {

void print(MPI_Comm comm, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

std::map<std::string, std::string> parse_hints(const std::vector<std::string>& entries) {
  std::map<std::string, std::string> hints;
  for (const std::string& entry : entries) {
    size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("--hint '{}' is not of the form name=value", entry));
    }
    hints[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return hints;
}

void on_root(MPI_Comm comm, const std::function<void()>& action) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string message;
  int code = 0;
  if (rank == 0) {
    try {
      action();
    } catch (const Error& error) {
      message = error.what();
      code = static_cast<int>(error.code());
    }
  }
  int header[2] = {code, static_cast<int>(message.size())};
  MPI_Bcast(header, 2, MPI_INT, 0, comm);
  if (header[0] == 0) {
    return;
  }
  message.resize(static_cast<size_t>(header[1]));
  MPI_Bcast(message.data(), header[1], MPI_CHAR, 0, comm);
  throw Error(static_cast<ErrorCode>(header[0]), message);
}

void write_text(MPI_Comm comm, const std::string& path, const std::string& text) {
  on_root(comm, [&] {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) {
      throw Error(ErrorCode::kIo, fmt::format("'{}' could not be written", path));
    }
  });
}

}  // namespace stria::tool
