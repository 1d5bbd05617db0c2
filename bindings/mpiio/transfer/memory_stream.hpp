// The memory side of a transfer: packed streams out of a user's buffer and its datatype, and back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "access/request/request.hpp"
#include "datatype/pack/pack.hpp"
#include "stria/datatype.hpp"

namespace stria::mpiio {

/// One packed stream of memory. Several streams of the access layer share it: number i
/// begins at firsts[i].
class MemoryStream : public access::StreamSource, public access::StreamSink {
 public:
  /// `type` describes all items. Contiguous memory is never copied.
  static Result<std::unique_ptr<MemoryStream>> create(std::byte* memory, const Datatype& type, std::vector<int64_t> firsts);

  void pack(std::span<const access::StreamPart> parts) override;
  void unpack(std::span<const access::StreamPart> parts) override;
  const std::byte* straight_source(int stream_id) override { return straight_target(stream_id); }
  std::byte* straight_target(int stream_id) override {
    return one_piece_ == nullptr ? nullptr : one_piece_ + firsts_[static_cast<size_t>(stream_id)];
  }

 private:
  MemoryStream() = default;
  void to_pack_parts(std::span<const access::StreamPart> parts);

  std::byte* one_piece_ = nullptr;
  std::unique_ptr<Packer> packer_;
  std::vector<int64_t> firsts_;
  std::vector<PackPart> parts_;
};

}  // namespace stria::mpiio
