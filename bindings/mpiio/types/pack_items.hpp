// Items of one datatype in memory to one stretch of bytes, and back.
#pragma once

#include <cstddef>
#include <span>

#include "stria/datatype.hpp"
#include "stria/status.hpp"

namespace stria::mpiio {

/// Packs the first `packed.size()` bytes of the stream of `type` (all its repetitions) at `memory`.
Status pack_items(const Datatype& type, const void* memory, std::span<std::byte> packed);
/// Unpacks the first `packed.size()` bytes of it.
Status unpack_items(const Datatype& type, void* memory, std::span<const std::byte> packed);

}  // namespace stria::mpiio
