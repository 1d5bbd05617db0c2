// Describes what a server does that is the store's manager, so that a standby can take its place:
// it sees whether the standby is there, tells the other servers, and the log.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "server/connections/shared_state.hpp"
#include "server/standby/marks.hpp"

namespace stria::server {

class SuccessionDuty {
 public:
  /// `shared` outlives this. `address`: its own.
  SuccessionDuty(SharedState& shared, Connect connect, const std::string& address);

  /// Must be called some times a second.
  void tend();

 private:
  Marks::Manager manager_thread();
  void tell_log();

  SharedState& shared_;
  std::string address_;
  Marks marks_;  // for the standby thread while it tells, else for tend()'s
  std::atomic<bool> telling_ = false;
  ChangeStream::State told_state_ = ChangeStream::State::kAlone;
  bool told_replaced_ = false;
};

}  // namespace stria::server
