#include "comm/waiting.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/check.hpp"

namespace stria {

namespace {

constexpr double kDefaultWarningSeconds = 10;
constexpr size_t kMostGroups = 6;  // groups of ranks that a line names

constinit thread_local const CallNote* innermost_note __attribute__((tls_model("initial-exec"))) = nullptr;

double seconds_of(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  const double value = text == nullptr ? otherwise : std::atof(text);
  return std::isfinite(value) && value > 0 ? value : 0;
}

const WaitLimits& limits_of_environment() {
  static const WaitLimits limits{seconds_of("STRIA_WAIT_WARNING_S", kDefaultWarningSeconds),
                                 seconds_of("STRIA_WAIT_DEADLINE_S", 0)};
  return limits;
}

/// Returns the end of the group that begins at `first`: consecutive ranks of one node.
size_t end_of_group(std::span<const int> ranks, std::span<const int> node_of_rank, size_t first) {
  size_t end = first + 1;
  while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1 &&
         node_of_rank[static_cast<size_t>(ranks[end])] == node_of_rank[static_cast<size_t>(ranks[first])]) {
    ++end;
  }
  return end;
}

}  // namespace

CallNote::CallNote(const char* call, std::string_view path, const WaitLimits& limits)
    : call_(call), path_(path), limits_(limits), outer_(innermost_note) {
  innermost_note = this;
}

CallNote::~CallNote() {
  innermost_note = outer_;
}

std::string CallNote::call() {
  return innermost_note == nullptr ? "" : innermost_note->call_;
}

std::string CallNote::text() {
  return innermost_note == nullptr ? "" : fmt::format("{} of '{}'", innermost_note->call_, innermost_note->path_);
}

WaitLimits CallNote::limits() {
  WaitLimits limits = innermost_note == nullptr ? WaitLimits() : innermost_note->limits_;
  limits.warning_s = limits.warning_s < 0 ? limits_of_environment().warning_s : limits.warning_s;
  limits.deadline_s = limits.deadline_s < 0 ? limits_of_environment().deadline_s : limits.deadline_s;
  return limits;
}

void LongWait::begin() {
  begin_ = Clock::now();
  limits_ = CallNote::limits();
  next_s_ = limits_.warning_s;
}

double LongWait::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

bool LongWait::is_due() {
  if (next_s_ <= 0 || seconds() < next_s_) {
    return false;
  }
  next_s_ = 2 * seconds();
  return true;
}

void say_line(const std::string& words) noexcept {
  try {
    std::fputs(("stria: " + words + "\n").c_str(), stderr);
  } catch (...) {
    // There is no report where memory is scarce.
  }
}

void say_wait(int rank, double seconds, const std::string& whom) noexcept {
  try {
    const std::string call = CallNote::text();
    say_line(fmt::format("rank {} on {} has waited {:.0f} s{} for {}", rank, host_name(), seconds,
                         call.empty() ? "" : " in " + call, whom));
  } catch (...) {
    // There is no report where memory is scarce.
  }
}

std::string describe_ranks(std::span<const int> ranks, std::span<const int> node_of_rank, std::span<const std::string> hosts) {
  STRIA_ASSERT(std::is_sorted(ranks.begin(), ranks.end()));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  size_t groups = 0;
  for (size_t first = 0; first < ranks.size();) {
    if (groups++ == kMostGroups) {
      return text + fmt::format(" and {} more", ranks.size() - first);
    }
    const size_t end = end_of_group(ranks, node_of_rank, first);
    text += fmt::format("{}{}", first == 0 ? "" : ", ", ranks[first]);
    text += end - first > 1 ? fmt::format("-{}", ranks[end - 1]) : "";
    text += " on " + hosts[static_cast<size_t>(node_of_rank[static_cast<size_t>(ranks[first])])];
    first = end;
  }
  return text;
}

std::string host_name() {
  char host[HOST_NAME_MAX + 1] = "";
  static_cast<void>(gethostname(host, sizeof host - 1));
  return host;
}

}  // namespace stria
