// Describes how the ranks of a node wait for each other at a meeting.
#pragma once

#include "comm/comm.hpp"

namespace stria {

/// True once `is_over()` is, which is asked so often before a sleep pays: ranks meet between pieces
/// of work, where a sleep and the wake from it would take a tenth of a small operation. So they
/// first yield for some hundred microseconds, which leaves the processor to any rank that has work.
template <typename IsOver>
bool yield_until(Comm& comm, IsOver&& is_over) {
  constexpr int kYields = 1000;
  for (int i = 0; i < kYields && !is_over(); ++i) {
    comm.pause(0);
  }
  return is_over();
}

}  // namespace stria
