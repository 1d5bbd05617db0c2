// Shows how far a command on a store is.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "store/store_command.hpp"

namespace stria::tool {

/// Shows the progress on a terminal, a few times a second.
class Progress {
 public:
  /// `total` is 0 when it is not known.
  explicit Progress(int64_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (said_) {
      fmt::print(stderr, "\n");
    }
  }
  void say(int64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(200)) {
      return;
    }
    last_ = now;
    said_ = true;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const auto rate = static_cast<int64_t>(static_cast<double>(done) / std::max(seconds, 1e-3));
    const std::string of = total_ == 0 ? "" : " of " + readable(total_);
    fmt::print(stderr, "\r{}{}, {}/s   ", readable(done), of, readable(rate));
  }

 private:
  int64_t total_;
  bool shown_;
  bool said_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace stria::tool
