// The chunks that a rank has assembled: bytes as the file is to have them, not yet placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "container/chunking.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

/// A chunk in the file, and the sum of its bytes there.
struct SummedChunk {
  container::StoredChunk place;
  uint64_t sum = 0;
};

/// Describes bytes of chunks: in memory as the file is to have them, or in the packed stream of a
/// put.
struct ChunkPiece {
  int64_t bytes = 0;
  std::byte* memory = nullptr;
  int transfer = -1;         ///< the put, where there is no memory
  int64_t stream_begin = 0;  ///< in its stream
  size_t first_chunk = 0;    ///< among those of the dataset
};

/// Holds chunks of one dataset, one behind the other. Their offsets begin at 0 until they are
/// placed.
class PackedChunks {
 public:
  /// Adds a chunk, whose bytes stay where they are.
  void add(SummedChunk chunk, std::span<std::byte> bytes);
  /// Adds a chunk that a put has just so, from `stream_begin` of its packed stream on. Its sum
  /// comes later.
  void add_raw(SummedChunk chunk, int transfer, int64_t stream_begin);

  std::vector<SummedChunk>& chunks() { return chunks_; }
  /// Returns the bytes of all chunks: as few pieces as they lie in.
  std::span<const ChunkPiece> pieces() const { return pieces_; }
  int64_t size() const { return size_; }

 private:
  void append(SummedChunk chunk, ChunkPiece piece, bool follows);

  std::vector<SummedChunk> chunks_;
  std::vector<ChunkPiece> pieces_;
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
  int64_t used_ = 0;  // what the last extent has used
};

/// All chunks that a rank has assembled.
struct PackedFile {
  std::vector<PackedChunks> datasets;  ///< the datasets as the catalog has them
  ChunkMemory memory;
};

void encode_chunks(std::span<const SummedChunk> chunks, FieldWriter& fields);
/// Adds those of a message to `chunks`.
void decode_chunks(FieldReader& fields, std::vector<SummedChunk>& chunks);

}  // namespace stria::file
