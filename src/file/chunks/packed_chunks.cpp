#include "file/chunks/packed_chunks.hpp"

#include <cstring>
#include <type_traits>

namespace stria::file {

static_assert(std::is_trivially_copyable_v<SummedChunk>);

void encode_chunks(std::span<const SummedChunk> chunks, FieldWriter& fields) {
  fields.bytes(std::as_bytes(chunks));
}

void decode_chunks(FieldReader& fields, std::vector<SummedChunk>& chunks) {
  const auto bytes = fields.bytes();
  if (bytes.empty()) {
    return;
  }
  const size_t before = chunks.size();
  chunks.resize(before + bytes.size() / sizeof(SummedChunk));
  std::memcpy(static_cast<void*>(chunks.data() + before), bytes.data(), (chunks.size() - before) * sizeof(SummedChunk));
}

}  // namespace stria::file
