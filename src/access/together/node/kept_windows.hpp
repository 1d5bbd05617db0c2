// The windows of a node that stay from one operation to the next.
#pragma once

#include <cstdint>
#include <memory>

#include "access/together/node/node_windows.hpp"

namespace stria::access {

/// One object per open file and rank.
struct KeptWindows {
  std::unique_ptr<NodeWindows> windows;  ///< null: the ranks share no memory, or have not met yet
  bool impossible = false;               ///< they could not be made

  /// Asks ShortCalls::may_pass().
  bool may_pass(bool write, int64_t bytes) const;
  /// Passes. \pre may_pass() has said so for this call
  void pass(Comm& comm, bool write, int64_t bytes) const;
  /// Has this rank come to the next call: the hints have changed.
  void stop_passing() const;
};

}  // namespace stria::access
