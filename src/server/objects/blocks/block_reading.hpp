// Reads from blocks, whose bytes are compared with their sums.
//
// Cost: one system call per run, or one copy per piece; a multiplication for each 8 bytes of a
// block of which a part is read.
#pragma once

#include "server/objects/blocks/blocks.hpp"
#include "server/objects/blocks/parts.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// Reads a part to its memory. Pieces go through the mapping where it may be used (`mapped`, what
/// can_map() said of their end). kCorrupted when a block is damaged.
Status read_part(Blocks& blocks, const Part& part, bool mapped);

/// Reads all bytes of a block, not compared with anything.
Status read_block(const Blocks& blocks, int64_t block, std::byte* content);

}  // namespace stria::server
