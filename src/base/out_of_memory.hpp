// Turns a lack of memory into an outcome.
#pragma once

#include <new>

#include "stria/status.hpp"

namespace stria {

/// Returns what `make` returns, or kResourceExhausted when it runs out of memory. An exception
/// would leave the other ranks waiting.
template <typename Make>
auto or_out_of_memory(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return {Status(ErrorCode::kResourceExhausted, "out of memory")};
  }
}

}  // namespace stria
