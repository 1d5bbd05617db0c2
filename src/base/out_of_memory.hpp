// What becomes of an operation that runs out of memory.
#pragma once

#include <new>

#include "stria/status.hpp"

namespace stria {

/// What `make` returns, or kResourceExhausted where it runs out of memory: an exception would leave the other ranks waiting.
template <typename Make>
auto or_out_of_memory(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return {Status(ErrorCode::kResourceExhausted, "out of memory")};
  }
}

}  // namespace stria
