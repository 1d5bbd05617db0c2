// Atomic mode of an open file, and the turn that its accesses take.
#pragma once

#include "mpiio/ranks/shared_state.hpp"

namespace stria::mpiio {

class AtomicMode {
 public:
  bool is_on() const { return is_on_; }
  /// Returns the turn of an atomic access; null outside atomic mode, and where ranks of several
  /// nodes lock the file's ranges instead.
  NodeTurn* turn() const { return turn_; }
  /// Collective: yes, over `comm`, whose ranks have `shared` together.
  void set(bool on, SharedState& shared, Comm& comm) {
    is_on_ = on;
    turn_ = on && comm.size() > 1 ? shared.atomic_turn(comm) : nullptr;
  }

 private:
  bool is_on_ = false;
  NodeTurn* turn_ = nullptr;
};

}  // namespace stria::mpiio
