#include "access/request/granule.hpp"

#include "datatype/node.hpp"

namespace stria::access {

namespace {

uint64_t bits_of(const datatype::Node& node) {
  uint64_t bits = 0;
  switch (node.kind) {
    case datatype::NodeKind::kEmpty:
      break;
    case datatype::NodeKind::kRun:
      bits = static_cast<uint64_t>(node.size);
      break;
    default:
      bits = static_cast<uint64_t>(node.stride);
  }
  bits |= static_cast<uint64_t>(node.entry_bytes);
  for (int64_t displacement : node.displacements) {
    bits |= static_cast<uint64_t>(displacement);
  }
  for (int64_t offset : node.stream_offsets) {
    bits |= static_cast<uint64_t>(offset);
  }
  for (const auto& child : node.children) {
    bits |= bits_of(*child);
  }
  return bits;
}

}  // namespace

uint64_t granule_bits(const Stream& stream) {
  if (stream.size() == 0) {
    return 0;
  }
  return bits_of(stream.file_type.node()) | static_cast<uint64_t>(stream.displacement + stream.file_type.displacement()) |
         static_cast<uint64_t>(stream.skip_bytes) | static_cast<uint64_t>(stream.size());
}

int64_t granule_of(uint64_t bits) {
  bits |= static_cast<uint64_t>(kLargestGranuleBytes);
  return static_cast<int64_t>(bits & (~bits + 1));
}

}  // namespace stria::access
