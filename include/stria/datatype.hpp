// The region algebra: a Datatype describes which bytes of a memory buffer or of a file are meant,
// as a compact tree.
//
// It has the meaning of an MPI derived datatype of bytes: a sequence of pieces (displacement,
// length) relative to a base. The order of the pieces is the order of the bytes in the packed
// stream. Its memory is in proportion to the description, never to the number of pieces. It is
// immutable, cheap to copy (a shared pointer), and safe to share among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stria/status.hpp"

namespace stria {

namespace datatype {
struct BlockList;
struct Node;
}  // namespace datatype

/// Says how the dimensions of an array follow each other in memory. kC: last dimension fastest;
/// kFortran: first dimension fastest.
enum class Order { kC, kFortran };

class Datatype {
 public:
  /// Describes no bytes at all.
  Datatype();

  /// Describes `count` consecutive bytes. \pre 0 <= count < 2^62
  static Datatype bytes(int64_t count);

  /// The constructors below have the meaning of their MPI namesakes. Displacements count bytes in
  /// `h…` constructors, elsewhere extents of `old`. Constructors normalise: a vector without gaps
  /// becomes contiguous, as does a subarray of the whole array. kInvalidArgument: negative counts,
  /// lists of unequal length, a subarray outside its array, nests deeper than 64 levels, or sizes,
  /// offsets and bounds that reach 2^62 bytes. Below that limit, a type and a displacement add up
  /// without overflow.
  static Result<Datatype> contiguous(int64_t count, const Datatype& old);
  static Result<Datatype> vector(int64_t count, int64_t block_length, int64_t stride, const Datatype& old);
  static Result<Datatype> hvector(int64_t count, int64_t block_length, int64_t stride_bytes, const Datatype& old);
  static Result<Datatype> indexed(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements,
                                  const Datatype& old);
  static Result<Datatype> hindexed(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements_bytes,
                                   const Datatype& old);
  static Result<Datatype> indexed_block(int64_t block_length, std::span<const int64_t> displacements, const Datatype& old);
  static Result<Datatype> hindexed_block(int64_t block_length, std::span<const int64_t> displacements_bytes,
                                         const Datatype& old);
  static Result<Datatype> structure(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements_bytes,
                                    std::span<const Datatype> types);
  static Result<Datatype> subarray(std::span<const int64_t> sizes, std::span<const int64_t> subsizes,
                                   std::span<const int64_t> starts, Order order, const Datatype& old);
  static Result<Datatype> resized(const Datatype& old, int64_t lower_bound_bytes, int64_t extent_bytes);

  int64_t size() const;              ///< bytes of data
  int64_t lower_bound() const;       ///< lb, bytes
  int64_t upper_bound() const;       ///< ub, bytes
  int64_t extent() const;            ///< ub - lb, bytes: the distance between repetitions
  int64_t true_lower_bound() const;  ///< offset of the lowest byte of data
  int64_t true_upper_bound() const;  ///< offset after the highest byte of data
  /// Returns the number of pieces, found without walking them. Neighbours in different sub-trees
  /// that touch count separately.
  int64_t piece_count() const;
  int depth() const;
  /// True when the data are one piece that begins at 0 and whose size is the extent; the
  /// lower bound is 0.
  bool is_contiguous() const;
  /// True when the pieces have increasing offsets and don't overlap. Such a type can describe a
  /// region of a file, and can be cut to a window of offsets in logarithmic time.
  bool is_sorted() const;

  /// Returns the offset of the first byte of the stream; 0 when there is none. Offsets in the tree
  /// are relative to it.
  int64_t displacement() const { return displacement_; }
  /// Returns a hash of what operator== compares, the same on every machine.
  uint64_t fingerprint() const;

  /// Structural equality of the normalised trees. Equal trees describe equal bytes in the same
  /// order, but two trees that do so need not be equal.
  friend bool operator==(const Datatype& a, const Datatype& b);

  /// Appends the compact binary form (docs/formats/datatype.md) to `out`.
  void serialize(std::vector<std::byte>& out) const;
  /// Reads one datatype from the front of `in` and sets `*consumed_bytes`. Input is not trusted:
  /// depth, counts, sums and sizes are all checked. kFormat when it isn't a valid description.
  static Result<Datatype> deserialize(std::span<const std::byte> in, size_t* consumed_bytes);

  /// Returns the type of a bare tree: the first byte of `node` is at offset 0, and the bounds are
  /// those of its data.
  static Datatype of_node(std::shared_ptr<const datatype::Node> node);
  const datatype::Node& node() const { return *node_; }
  const std::shared_ptr<const datatype::Node>& shared_node() const { return node_; }

 private:
  Datatype(std::shared_ptr<const datatype::Node> node, int64_t displacement, int64_t lower_bound, int64_t upper_bound);
  /// Makes a type of blocks. Checks what a tree alone can't know: that displaced offsets and bounds
  /// stay below the limit.
  static Result<Datatype> blocks(const datatype::BlockList& list, const Datatype& old);
  static Result<Datatype> create(std::shared_ptr<const datatype::Node> node, int64_t displacement, int64_t lower_bound,
                                 int64_t upper_bound);

  std::shared_ptr<const datatype::Node> node_;
  int64_t displacement_ = 0;
  int64_t lower_bound_ = 0;
  int64_t upper_bound_ = 0;
};

}  // namespace stria
