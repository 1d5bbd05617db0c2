// Describes what Striping::first_server may be besides a server's number.
#pragma once

namespace stria::storage {

struct FirstServer {
  static constexpr int kAny = -1;     ///< whatever the storage does: in a store by load
  static constexpr int kByLoad = -2;  ///< one that has less to do, where the storage knows
  static constexpr int kInTurn = -3;  ///< another one for each file
};

}  // namespace stria::storage
