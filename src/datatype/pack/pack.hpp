// Moves data between the application's memory and packed streams, for many operands in one
// pass over memory.
//
// Problem: unk(var,i,j,k,block) interleaves its variables, so that packing them one at a time reads
// every cache line once for each variable.
// Method: operands are packed together, by transposing kernels, when their datatypes are equal
// trees and their base addresses lie within one innermost stride of each other. The datatype leaves
// out guard cells. Conversion, byte order, minimum and maximum are done on the way.
// Cost: each useful cache line is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datatype/convert/convert.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "stria/datatype.hpp"
#include "stria/element_type.hpp"

namespace stria {

/// One array in memory, and what its packed stream holds.
struct PackOperand {
  std::byte* memory = nullptr;  ///< base address of `type`; never written by pack()
  Datatype type;                ///< the bytes of memory, in stream order
  ElementType memory_element = ElementType::kByte;
  ElementType stored_element = ElementType::kByte;  ///< elements of the packed stream
  /// The stream's byte order is not the machine's.
  bool swap_bytes = false;
};

/// A range of one operand's packed stream, in bytes of stored elements, and the place of its first
/// byte in a buffer. The range may cut elements.
struct PackPart {
  int operand = 0;
  int64_t begin = 0;
  int64_t end = 0;
  std::byte* packed = nullptr;
};

class Packer {
 public:
  /// Unpacking past the caches takes less time from so many bytes on, even if all is used at once.
  static constexpr int64_t kPastCachesBytes = 8 << 20;

  /// Prepares to move these operands. kInvalidArgument when a type's size is not a multiple of its
  /// element, when the pieces of a numeric operand cut elements, or when there is no such
  /// conversion (kByte converts to nothing else). `isa` picks the kernels. Operands of at least
  /// `past_caches_bytes` together are unpacked past the caches. \pre pack::is_supported(isa)
  static Result<Packer> create(std::vector<PackOperand> operands, pack::Isa isa = pack::best_isa(),
                               int64_t past_caches_bytes = kPastCachesBytes);
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;
  ~Packer();

  int operand_count() const;
  /// Returns the bytes of the operand's packed stream.
  int64_t stream_bytes(int operand) const;
  /// Returns the number of the operand's group. Operands of one group share cache lines, so pack
  /// equal ranges of them in one call.
  int group(int operand) const;

  /// Packs memory into buffers. Parts of one group with equal [begin, end) are packed in one pass.
  /// `ranges`, when not empty, has one entry per operand and is widened by the values moved. This
  /// is fastest into a buffer that stays in the second-level cache, with the parts' packed
  /// addresses a multiple of 64 bytes apart, but not of 4096: streams that share sets of the
  /// first-level cache cost up to a third.
  void pack(std::span<const PackPart> parts, std::span<ValueRange> ranges = {}) const;
  /// Unpacks buffers into memory. Bytes outside the operands' types are not touched. When a range
  /// cuts an element that is converted, the element reaches memory once all its bytes have come, in
  /// any order. Without conversion every byte reaches memory at once.
  void unpack(std::span<const PackPart> parts) const;

 private:
  struct Impl;
  explicit Packer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria
