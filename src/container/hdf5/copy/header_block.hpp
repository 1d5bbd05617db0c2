// The blocks of an object header (format specification IV.A.1), as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// The type of the message that says where a header goes on.
inline constexpr int64_t kContinuation = 0x10;

struct HeaderBlock {
  int64_t offset = 0;  ///< in the file
  std::vector<std::byte> bytes;
  bool is_v2 = false;  ///< the last 4 bytes are a checksum then
  size_t messages_at = 0;
  size_t head_bytes = 0;  ///< the bytes of each message

  /// Returns where the messages end.
  size_t end() const { return bytes.size() - (is_v2 ? 4 : 0); }
  /// Renews the checksum, where there is one.
  void renew_sum();
};

/// Reads the first block of the header at `offset`. kCorrupted when it is cut short.
Result<HeaderBlock> read_first_block(storage::File& file, int64_t offset);
/// Reads all blocks of the header at `offset` of a file whose addresses begin at `base`.
Result<std::vector<HeaderBlock>> read_blocks(storage::File& file, int64_t offset, int64_t base);

/// A message in a block of a header.
struct MessagePlace {
  int64_t type = 0;
  size_t at = 0;   ///< where its head is
  size_t end = 0;  ///< the end of its content
};
/// Returns the messages of a block, in order. kCorrupted when they make no sense.
Result<std::vector<MessagePlace>> messages_of(const HeaderBlock& block);

}  // namespace stria::container::h5
