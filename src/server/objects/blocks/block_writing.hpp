// Writes to blocks. The sum of a block changes before and after its bytes (block_sums.hpp).
//
// Cost: one system call per run, or one copy per piece; a multiplication for each 8 bytes, two
// where only a part of a block is written.
#pragma once

#include "server/objects/blocks/blocks.hpp"
#include "server/objects/blocks/parts.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// Writes a part from its memory. Pieces go through the mapping where it may be used (`mapped`, as
/// of read_part()). A block that is damaged stays so when a part of it is written. kCorrupted when
/// a part is written of a block in doubt. \pre the blocks' sums have room
Status write_part(Blocks& blocks, const Part& part, bool mapped);

/// Makes the object as long as that; the last block keeps its first bytes and has zeros behind
/// them. The caller keeps others from using the blocks meanwhile.
Status resize_blocks(Blocks& blocks, int64_t bytes);

}  // namespace stria::server
