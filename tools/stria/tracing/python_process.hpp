// A Python process that runs a script which this program contains, and a pipe to it or from it.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace stria::tool {

class PythonProcess {
 public:
  enum class Pipe { kToInput, kFromOutput };

  /// Starts the interpreter that STRIA_PYTHON names, else python3. Throws stria::Error where there
  /// can be no process; that the interpreter is missing shows in finish().
  PythonProcess(const char* script, const std::string& argument, Pipe pipe);
  /// Waits for the process.
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  /// Sends to its input. False when it reads no more.
  bool send(std::span<const std::byte> bytes);
  /// Returns all of its output, until it ends. Throws stria::Error.
  std::string take();
  /// Closes the pipe and waits. True when the script succeeded; if not, stderr has what it said.
  /// Throws stria::Error when the interpreter doesn't start; `package` is what it needs to have.
  bool finish(const std::string& package);
  const std::string& program() const { return program_; }

 private:
  void close_pipe();
  int wait();

  std::string program_;
  pid_t process_ = -1;
  int pipe_ = -1;
};

}  // namespace stria::tool
