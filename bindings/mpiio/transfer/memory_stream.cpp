#include "mpiio/transfer/memory_stream.hpp"

#include "base/check.hpp"

namespace stria::mpiio {

Result<std::unique_ptr<MemoryStream>> MemoryStream::create(std::byte* memory, const Datatype& type,
                                                           std::vector<int64_t> firsts) {
  std::unique_ptr<MemoryStream> made(new MemoryStream);
  made->firsts_ = std::move(firsts);
  if (type.piece_count() == 1) {
    made->one_piece_ = memory + type.displacement();
  }
  PackOperand operand;
  operand.memory = memory;
  operand.type = type;
  STRIA_ASSIGN_OR_RETURN(Packer packer, Packer::create({operand}));
  made->packer_ = std::make_unique<Packer>(std::move(packer));
  return made;
}

void MemoryStream::to_pack_parts(std::span<const access::StreamPart> parts) {
  parts_.clear();
  for (const access::StreamPart& part : parts) {
    STRIA_CHECK(0 <= part.stream_id && static_cast<size_t>(part.stream_id) < firsts_.size(), part.stream_id, firsts_.size());
    const int64_t first = firsts_[static_cast<size_t>(part.stream_id)];
    parts_.push_back({0, first + part.begin, first + part.end, part.packed});
  }
}

void MemoryStream::pack(std::span<const access::StreamPart> parts) {
  to_pack_parts(parts);
  packer_->pack(parts_);
}

void MemoryStream::unpack(std::span<const access::StreamPart> parts) {
  to_pack_parts(parts);
  packer_->unpack(parts_);
}

}  // namespace stria::mpiio
