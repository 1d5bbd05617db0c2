// Describes how ranks divide work among them that each could do alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/byte_range.hpp"
#include "comm/comm.hpp"

namespace stria::file {

/// This rank's share of [0, total): the shares of lower ranks lie before it, and differ from it in
/// size by one at most. Collective: no.
inline ByteRange share_of(int64_t total, const Comm& comm) {
  const auto before = [&](int64_t ranks) { return total / comm.size() * ranks + std::min(ranks, total % comm.size()); };
  return {before(comm.rank()), before(comm.rank() + 1)};
}

}  // namespace stria::file
