// One step of a reduction.
#pragma once

#include <algorithm>

#include "comm/comm.hpp"

namespace stria {

template <typename T>
T reduced(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return a + b;
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
  }
  return a;
}

}  // namespace stria
