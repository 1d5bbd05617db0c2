// One step of a reduction.
#pragma once

#include <algorithm>

#include "comm/comm.hpp"

namespace stria {

inline int64_t reduced(int64_t a, int64_t b, ReduceOp op) {
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
