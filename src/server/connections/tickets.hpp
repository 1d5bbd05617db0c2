// Checks the tickets that come with requests for bytes. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "stria/status.hpp"
#include "wire/ticket.hpp"

namespace stria::server {

class Tickets {
 public:
  /// What the manager says every second: the secret that seals tickets, and its clock, which goes
  /// on by ours until it says more.
  void learn(const wire::StoreSecret& secret, uint64_t manager_now_ms);
  /// kPermissionDenied unless the ticket is the manager's, is for the file, isn't over, and gives
  /// one of the rights `any_of`, if there are any.
  Status check(uint64_t file, const wire::Ticket& ticket, uint8_t any_of) const;

 private:
  mutable std::mutex mutex_;
  wire::StoreSecret secret_{};
  uint64_t manager_ms_ = 0;
  std::chrono::steady_clock::time_point heard_at_;
};

}  // namespace stria::server
