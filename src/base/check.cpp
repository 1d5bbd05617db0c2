#include "base/check.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace stria::check {

namespace {

std::atomic<int> rank_of_process{-1};
thread_local int rank_of_thread = -1;

std::string describe(const Place& place, std::initializer_list<Value> values) {
  std::string line = std::string(place.file) + ":" + std::to_string(place.line) + ": ";
  const int rank = rank_of_thread >= 0 ? rank_of_thread : rank_of_process.load();
  if (rank >= 0) {
    line += "rank " + std::to_string(rank) + ": ";
  }
  line += std::string(place.macro) + "(" + place.condition + ") failed";
  const char* separator = " = ";
  if (values.size() > 0) {
    line += std::string(": ") + place.names;
  }
  for (const Value& value : values) {
    line += separator + value.text();
    separator = ", ";
  }
  return line + "\n";
}

}  // namespace

void fail(const Place& place, std::initializer_list<Value> values) noexcept {
  const std::string line = describe(place, values);
  // One call, so that the lines of several ranks don't mix.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

void note_rank_of_process(int rank) {
  rank_of_process = rank;
}

void note_rank_of_thread(int rank) {
  rank_of_thread = rank;
}

}  // namespace stria::check
