// Moves data between memory as the application holds it and packed streams, for many operands in one pass over memory.
//
// Problem: unk(var,i,j,k,block) interleaves its variables, so that packing them one at a time reads every cache line once a
// variable. Method: operands whose datatypes are equal trees and whose base addresses lie within one innermost stride of each
// other are packed together, by transposing kernels; guard cells are skipped by the datatype; conversion, byte order and the
// minimum and maximum are done on the way. Cost: each useful cache line is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datatype/convert.hpp"
#include "datatype/pack_kernels.hpp"
#include "stria/datatype.hpp"
#include "stria/element_type.hpp"

namespace stria {

/// One array as it lies in memory, and what its packed stream holds.
struct PackOperand {
  std::byte* memory = nullptr;  ///< base address of `type`; never written by pack()
  Datatype type;                ///< which bytes of memory, in stream order
  ElementType memory_element = ElementType::kByte;
  ElementType stored_element = ElementType::kByte;  ///< elements of the packed stream
  bool swap_bytes = false;                          ///< the stream's byte order is not the machine's
};

/// A range of one operand's packed stream (bytes of stored elements) and the place of its first byte in a buffer. Any byte
/// range is allowed, also one that cuts an element.
struct PackPart {
  int operand = 0;
  int64_t begin = 0;
  int64_t end = 0;
  std::byte* packed = nullptr;
};

class Packer {
 public:
  /// Prepares to move these operands. kInvalidArgument when a type's size is not a multiple of its element, when a numeric
  /// operand's pieces cut elements, or when a conversion is not offered (kByte with anything else).
  /// `isa` picks the kernels. \pre pack::is_supported(isa)
  static Result<Packer> create(std::vector<PackOperand> operands, pack::Isa isa = pack::best_isa());
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;
  ~Packer();

  int operand_count() const;
  /// Bytes of the operand's packed stream.
  int64_t stream_bytes(int operand) const;
  /// Operands with the same group number share cache lines: pack equal ranges of them in one call.
  int group(int operand) const;

  /// Memory to buffers. Parts of one group with equal [begin, end) travel in one pass. `ranges`, when not empty, has one entry
  /// an operand and is widened by the values moved. Fastest into a buffer that stays in the second-level cache, with the parts'
  /// packed addresses a multiple of 64, but not of 4096, bytes apart: streams that share sets of the first-level cache cost up
  /// to a third.
  void pack(std::span<const PackPart> parts, std::span<ValueRange> ranges = {}) const;
  /// Buffers to memory; bytes outside of the operands' types are not touched. Where a range cuts an element that is converted
  /// on the way, the element reaches memory when all its bytes have come, in whatever order; without conversion every byte does
  /// at once.
  void unpack(std::span<const PackPart> parts) const;

 private:
  struct Impl;
  explicit Packer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria
