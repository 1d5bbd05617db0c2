#include "tracing/python_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "stria/status.hpp"

namespace stria::tool {

PythonProcess::PythonProcess(const char* script, const std::string& argument, Pipe pipe) {
  const char* chosen = std::getenv("STRIA_PYTHON");
  program_ = chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    Status::from_errno(errno, "make a pipe").throw_if_error();
  }
  const size_t its = pipe == Pipe::kToInput ? 0 : 1;
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(ends[its], pipe == Pipe::kToInput ? STDIN_FILENO : STDOUT_FILENO);
    ::execlp(program_.c_str(), program_.c_str(), "-B", "-c", script, argument.c_str(), nullptr);
    _exit(127);
  }
  const int error = errno;
  ::close(ends[its]);
  pipe_ = ends[1 - its];
  if (process_ < 0) {
    close_pipe();
    Status::from_errno(error, "start Python").throw_if_error();
  }
}

PythonProcess::~PythonProcess() {
  close_pipe();
  wait();
}

bool PythonProcess::send(std::span<const std::byte> bytes) {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);  // Python itself says why it reads no more
  bool sent = true;
  while (sent && !bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    sent = written >= 0 || errno == EINTR;
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  std::signal(SIGPIPE, before);
  return sent;
}

std::string PythonProcess::take() {
  std::string text;
  std::array<char, 1 << 16> some{};
  for (;;) {
    const ssize_t got = ::read(pipe_, some.data(), some.size());
    if (got == 0) {
      return text;
    }
    if (got < 0 && errno != EINTR) {
      Status::from_errno(errno, fmt::format("read what {} says", program_)).throw_if_error();
    }
    text.append(some.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
}

bool PythonProcess::finish(const std::string& package) {
  close_pipe();
  const int state = wait();
  if (WIFEXITED(state) && WEXITSTATUS(state) == 127) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("'{}' does not start; name a Python with {} in STRIA_PYTHON", program_, package));
  }
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

void PythonProcess::close_pipe() {
  if (pipe_ >= 0) {
    ::close(pipe_);
    pipe_ = -1;
  }
}

int PythonProcess::wait() {
  int state = 0;
  if (process_ > 0) {
    while (::waitpid(process_, &state, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
  }
  return state;
}

}  // namespace stria::tool
