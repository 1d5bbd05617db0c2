// Checks the tickets that come with requests for bytes. Thread-safe.
//
// Problem: whether a ticket is genuine costs a keyed hash, a good part of what a small request
// costs.
// Method: each connection remembers the last few tickets that it found genuine. A client shows the
// same ticket again and again, and a comparison of bytes tells. Whether it has expired, and what it
// allows, is looked at each time.
// Cost: 400 bytes a connection; a hash for each new ticket of a connection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "stria/status.hpp"
#include "wire/trust/ticket.hpp"

namespace stria::server {

class Tickets {
 public:
  /// Tickets that were found genuine; of one connection, and for its thread only.
  class Known {
   public:
    bool has(uint64_t file, const wire::Ticket& ticket, uint64_t secret_number) const;
    /// Forgets the one that came in longest ago.
    void add(uint64_t file, const wire::Ticket& ticket, uint64_t secret_number);

   private:
    struct Entry {
      uint64_t file = 0;
      uint64_t secret_number = 0;  // 0: none
      wire::Ticket ticket;
    };
    std::array<Entry, 8> entries_;
    size_t next_ = 0;
  };

  /// Takes what the manager says every second: the store's secret, its epoch, from which tickets
  /// are sealed, and its clock, which goes on by ours until it says more.
  void learn(const wire::StoreSecret& secret, uint64_t epoch, uint64_t manager_now_ms);
  /// Another manager has taken over: tickets of the one before are none any more.
  void fence(uint64_t epoch);
  /// kPermissionDenied unless the ticket is the manager's, is for the file, isn't over, and gives
  /// one of the rights `any_of`, if there are any.
  Status check(uint64_t file, const wire::Ticket& ticket, uint8_t any_of, Known& known) const;

 private:
  void seal_by(const wire::StoreSecret& secret);
  bool is_genuine(uint64_t file, const wire::Ticket& ticket, Known& known) const;

  mutable std::mutex mutex_;
  wire::StoreSecret store_secret_{};
  bool knows_store_ = false;
  wire::StoreSecret secret_{};
  std::atomic<uint64_t> secret_number_ = 0;  // another secret has another number
  std::atomic<int64_t> ahead_ms_ = 0;        // the manager's clock, before our steady one
};

}  // namespace stria::server
