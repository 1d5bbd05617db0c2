// Describes what a server counts while it works, for `stria status` and for monitoring. The
// counters are atomics, without locks.
// Cost: some nanoseconds per request.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::server {

struct SharedState;

struct Counters {
  using Count = std::atomic<int64_t>;
  struct OfKind {
    Count requests = 0;
    Count nanoseconds = 0;  ///< from the message to its answer
  };
  static constexpr size_t kKinds = 0x60;
  static constexpr size_t kCodes = static_cast<size_t>(ErrorCode::kInternal) + 1;

  Count open_connections = 0;
  Count connections = 0;
  Count refused = 0;
  Count made_room = 0;
  Count timed_out = 0;
  Count written_bytes = 0;
  Count read_bytes = 0;
  std::array<OfKind, kKinds> kinds;
  std::array<Count, kCodes> errors{};
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  void count_request(wire::Kind kind, std::chrono::nanoseconds time) {
    if (const auto index = static_cast<size_t>(kind); index < kKinds) {
      ++kinds[index].requests;
      kinds[index].nanoseconds += time.count();
    }
  }
  void count_error(ErrorCode code) {
    if (const auto index = static_cast<size_t>(code); index < kCodes) {
      ++errors[index];
    }
  }
};

/// "write", "read" and so on.
const char* name_of_kind(wire::Kind kind);

/// Returns all figures of a server in a fixed order, with their Prometheus names without the
/// prefix.
wire::Figures figures_of(const SharedState& shared);

/// Returns the figures in Prometheus' text format.
std::string metrics_text(const wire::Figures& figures);

}  // namespace stria::server
