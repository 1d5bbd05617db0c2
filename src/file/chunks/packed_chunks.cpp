#include "file/chunks/packed_chunks.hpp"

#include <algorithm>

namespace stria::file {

void PackedChunks::add(SummedChunk chunk, std::span<std::byte> bytes) {
  const ChunkPiece* const last = pieces_.empty() ? nullptr : &pieces_.back();
  const bool follows = last != nullptr && last->memory != nullptr && last->memory + last->bytes == bytes.data();
  append(chunk, {.bytes = static_cast<int64_t>(bytes.size()), .memory = bytes.data()}, follows);
}

void PackedChunks::add_raw(SummedChunk chunk, int transfer, int64_t stream_begin) {
  const ChunkPiece* const last = pieces_.empty() ? nullptr : &pieces_.back();
  const bool follows = last != nullptr && last->transfer == transfer && last->stream_begin + last->bytes == stream_begin;
  append(chunk, {.bytes = chunk.place.bytes, .transfer = transfer, .stream_begin = stream_begin}, follows);
}

void PackedChunks::append(SummedChunk chunk, ChunkPiece piece, bool follows) {
  chunk.place.offset = size_;
  piece.first_chunk = chunks_.size();
  chunks_.push_back(chunk);
  size_ += piece.bytes;
  if (follows) {
    pieces_.back().bytes += piece.bytes;
  } else {
    pieces_.push_back(piece);
  }
}

std::span<std::byte> ChunkMemory::keep(std::span<const std::byte> bytes) {
  constexpr int64_t kFirstBytes = 256 << 10;
  constexpr int64_t kMostBytes = 8 << 20;
  const auto size = static_cast<int64_t>(bytes.size());
  if (extents_.empty() || extents_.back().size() - used_ < size) {
    const int64_t next = extents_.empty() ? kFirstBytes : std::min(2 * extents_.back().size(), kMostBytes);
    extents_.emplace_back(std::max(next, size));
    used_ = 0;
  }
  std::byte* const to = extents_.back().data() + used_;
  std::copy(bytes.begin(), bytes.end(), to);
  used_ += size;
  return {to, bytes.size()};
}

void encode_chunks(std::span<const SummedChunk> chunks, FieldWriter& fields) {
  fields.bytes(std::as_bytes(chunks));
}

void decode_chunks(FieldReader& fields, std::vector<SummedChunk>& chunks) {
  fields.append_to(chunks);
}

}  // namespace stria::file
