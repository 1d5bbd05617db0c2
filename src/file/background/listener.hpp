// Knows where a process can be reached by those of other nodes, and the port at which it listens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "file/background/link.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// The addresses of a machine and a port there, fit for a broadcast.
struct ListeningPlaces {
  static constexpr size_t kMost = 16;
  struct Place {
    bool is_v6 = false;
    std::array<uint8_t, 16> address{};  ///< the address of version 4: the first four bytes
  };
  std::array<Place, kMost> all{};  ///< those that other machines can reach come first
  size_t count = 0;
  uint16_t port = 0;  ///< in the order of the network
};

class Listener {
 public:
  /// Listens at a port that the system picks.
  static Result<Listener> open();
  Listener() = default;

  const ListeningPlaces& places() const { return places_; }
  /// Returns the connection of the next process that has connected; where none has since the last
  /// call, a socket that isn't open.
  Result<Socket> accept() const;

 private:
  Socket socket_;
  ListeningPlaces places_;
};

/// Returns a socket that connects while the caller does something else.
Result<Socket> begin_to_connect(const ListeningPlaces::Place& place, uint16_t port);

}  // namespace stria::file
