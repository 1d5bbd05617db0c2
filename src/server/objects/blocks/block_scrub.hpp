// Looks at all blocks of an object, as the disk has them where the system's cache can be avoided.
#pragma once

#include <cstdint>
#include <mutex>

#include "server/objects/blocks/blocks.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// Scrubs that follow each other from the first block on, whoever asks for them. Thread-safe.
class ScrubPass {
 public:
  /// Blocks [first, end) have been looked at; `found`: something that stays wrong. True when the
  /// pass has seen all up to `end`, and nothing is wrong.
  bool add(int64_t first, int64_t end, bool found);

 private:
  std::mutex mutex_;
  int64_t next_ = 0;
  bool found_ = false;
};

/// Compares some MiB of blocks with their sums, from the one that the request names on. Where it
/// accepts them, blocks that were in flight get the sums of what they are. The caller keeps the
/// object from being cut meanwhile.
Result<wire::Scrubbed> scrub_blocks(Blocks& blocks, const wire::Scrub& request, ScrubPass& pass);

}  // namespace stria::server
