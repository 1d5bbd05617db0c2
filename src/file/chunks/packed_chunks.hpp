// The chunks that a rank has assembled: bytes as the file is to have them, not yet placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/chunks/chunking.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

/// A chunk in the file, and the sum of its bytes there.
struct SummedChunk {
  container::StoredChunk place;
  uint64_t sum = 0;
};

/// Of one dataset: chunks one behind the other. Their offsets begin at 0 until they are placed.
struct PackedChunks {
  std::vector<SummedChunk> chunks;
  std::vector<std::byte> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
};

void encode_chunks(std::span<const SummedChunk> chunks, FieldWriter& fields);
/// Adds those of a message to `chunks`.
void decode_chunks(FieldReader& fields, std::vector<SummedChunk>& chunks);

}  // namespace stria::file
