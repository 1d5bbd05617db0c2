// What Striping::first_server may be besides a server's number.
#pragma once

namespace stria::storage {

struct FirstServer {
  static constexpr int kInTurn = -1;  ///< another one for each file, or whatever the storage does
  static constexpr int kByLoad = -2;  ///< one that has less to do, where the storage knows
};

}  // namespace stria::storage
