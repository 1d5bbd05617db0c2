#include "server/joining.hpp"

#include <chrono>
#include <map>
#include <string>
#include <thread>

namespace stria::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr int kLooksBetweenAttempts = 5;
// The same reason is told again now and then, for those who look at the end of a log.
constexpr std::chrono::minutes kTellAgainAfter{5};

}  // namespace

Status wait_for_manager(const Joining& joining, const Status& first, const Watch& watch) {
  Status outcome = first;
  // Where there are several addresses, reasons take turns.
  std::map<std::string, Clock::time_point> told;
  while (outcome.code() == ErrorCode::kIo) {
    const auto [reason, is_new] = told.try_emplace(outcome.message(), Clock::now());
    if (is_new || Clock::now() - reason->second > kTellAgainAfter) {
      reason->second = Clock::now();
      watch.tell({Level::kWarning, "waits_for_manager", "waits for the store's manager (--join): " + outcome.message()});
    }
    for (int look = 0; look < kLooksBetweenAttempts; ++look) {
      if (joining.gives_up && joining.gives_up()) {
        return Status(ErrorCode::kAborted, "ended while it waited for the store's manager: " + outcome.message());
      }
      joining.meanwhile();
      std::this_thread::sleep_for(kLook);
    }
    outcome = joining.attempt();
  }
  return outcome;
}

}  // namespace stria::server
