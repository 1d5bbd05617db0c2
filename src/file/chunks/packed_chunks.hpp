// The chunks that a rank has assembled: bytes as the file is to have them, not yet placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "container/chunks/chunking.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

/// A chunk in the file, and the sum of its bytes there.
struct SummedChunk {
  container::StoredChunk place;
  uint64_t sum = 0;
};

/// Of one dataset: chunks one behind the other. Their offsets begin at 0 until they are placed.
class PackedChunks {
 public:
  /// Adds a chunk, whose bytes stay where they are.
  void add(SummedChunk chunk, std::span<std::byte> bytes);

  std::vector<SummedChunk>& chunks() { return chunks_; }
  /// The bytes of all chunks: as few pieces of memory as they lie in.
  std::span<const std::span<std::byte>> pieces() const { return pieces_; }
  int64_t size() const { return size_; }

 private:
  std::vector<SummedChunk> chunks_;
  std::vector<std::span<std::byte>> pieces_;
  int64_t size_ = 0;
};

/// Memory for the chunks of all datasets, in the order in which they are made. It grows without
/// moving what it has, and in pieces that become huge pages.
class ChunkMemory {
 public:
  /// Keeps a copy of the bytes, for as long as this lives.
  std::span<std::byte> keep(std::span<const std::byte> bytes);

 private:
  std::list<Buffer> extents_;
  int64_t used_ = 0;  // of the last extent
};

/// All chunks that a rank has assembled.
struct PackedFile {
  std::vector<PackedChunks> datasets;  ///< as the catalog has them
  ChunkMemory memory;
};

void encode_chunks(std::span<const SummedChunk> chunks, FieldWriter& fields);
/// Adds those of a message to `chunks`.
void decode_chunks(FieldReader& fields, std::vector<SummedChunk>& chunks);

}  // namespace stria::file
