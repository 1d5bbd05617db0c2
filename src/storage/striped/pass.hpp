// The ticket of an open file, which every request to its I/O servers carries; renewed in time.
//
// Method: the manager is asked again when half of the ticket's time is over, by the next request
// that needs it. So a file that is left alone costs nothing, and one in use a message in some
// minutes. While the manager is away, the ticket is used to its end. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/striped/server_link.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

class Store;

class Pass {
 public:
  Pass(std::shared_ptr<Store> store, uint64_t handle, const wire::Renewed& good);

  /// Puts the ticket into the body of a request about bytes.
  Status stamp(std::vector<std::byte>& body);
  /// A server knows the ticket no more, since another manager has taken over: the next request asks
  /// for one of that manager.
  void forget();

 private:
  Status renew();
  void take(const wire::Renewed& good, Clock::time_point asked);

  std::shared_ptr<Store> store_;
  uint64_t handle_;
  std::mutex mutex_;
  wire::Ticket ticket_;
  Clock::time_point renew_at_;
  Clock::time_point ends_at_;
};

}  // namespace stria::storage
