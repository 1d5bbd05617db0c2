// An object's blocks: their bytes, the sums that check them, and the locks that keep both together.
//
// Reading, writing, viewing and scrubbing are functions and classes beside this one; each locks the
// blocks that it touches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/objects/blocks/block_locks.hpp"
#include "server/objects/blocks/block_sums.hpp"
#include "server/objects/blocks/object_file.hpp"

namespace stria::server {

struct Blocks {
  Blocks(std::string path, int descriptor, std::unique_ptr<BlockSums> its_sums, int64_t bytes)
      : sums(std::move(its_sums)), file(std::move(path), descriptor, bytes) {}

  const std::unique_ptr<BlockSums> sums;
  ObjectFile file;
  BlockLocks locks;
  std::atomic<uint64_t> changes = 0;  ///< counted with the block locked, before its bytes change
};

/// Returns kCorrupted: the block has neither of its sums.
Status mismatch(const Blocks& blocks, int64_t block, const BlockSum& sum);

}  // namespace stria::server
