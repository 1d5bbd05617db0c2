// Long runs of an object as they lie in the system's cache: they are sent from there, without a
// copy of the server's own.
//
// Method: bytes are compared with their sums, and a hash of them goes with them. A write may change
// them until they are sent; their receiver then finds another hash, and asks again. After that the
// object is read by copies for some seconds, so that a file that is written and read at once is not
// asked for again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/byte_range.hpp"
#include "server/objects/blocks/blocks.hpp"
#include "server/objects/blocks/mapping.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// Bytes as they lie in the system's cache, compared with their sums a moment ago. A write may
/// change them at any time; then they no longer have their hash, which their receiver checks.
struct BlockView {
  std::span<const std::byte> bytes;
  uint64_t sum = 0;      ///< hash_bytes() of them
  uint64_t changes = 0;  ///< the object's changes when they were compared
  std::shared_ptr<const Mapping> keeps;
};

/// The views of one object. Thread-safe.
class BlockViews {
 public:
  /// None when the place must be read instead. kCorrupted when a block is damaged. The caller keeps
  /// the object from being cut meanwhile.
  Result<std::optional<BlockView>> view(Blocks& blocks, ByteRange place);
  /// The view was sent. If a write came between, there are no views for some seconds.
  void sent(const Blocks& blocks, const BlockView& view);

 private:
  std::shared_ptr<const Mapping> mapping_of(const ObjectFile& file, int64_t end);

  std::mutex mutex_;
  std::shared_ptr<const Mapping> mapping_;
  std::atomic<int64_t> copies_until_s_ = 0;
};

}  // namespace stria::server
