// The region algebra: a Datatype says which bytes, in a compact tree, of a memory buffer or of a file.
//
// It has the meaning of an MPI derived datatype of bytes: an ordered sequence of pieces (displacement, length) relative to
// a base; the order of the pieces is the order of the bytes in the packed stream. Memory is in proportion to the description
// and never to the number of pieces. Immutable and cheap to copy (a shared pointer); safe to share among threads.
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

/// How the dimensions of an array follow each other in memory: kC, last dimension fastest; kFortran, first dimension fastest.
enum class Order { kC, kFortran };

class Datatype {
 public:
  /// No bytes at all.
  Datatype();

  /// `count` consecutive bytes. \pre 0 <= count < 2^62
  static Datatype bytes(int64_t count);

  /// The constructors below have the meaning of their MPI namesakes; a displacement in `h…` constructors counts bytes,
  /// elsewhere extents of `old`. They normalise (a vector without gaps becomes contiguous, a subarray of everything too) and
  /// fail with kInvalidArgument on negative counts, lists of unequal length, a subarray outside its array, nests deeper than
  /// 64 levels, or sizes and offsets (bounds too) that reach 2^62 bytes: below that, a type and a displacement add up without
  /// overflow.
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
  /// Number of pieces, without walking them; neighbours that touch only across sub-trees count separately.
  int64_t piece_count() const;
  int depth() const;
  /// True when the data is one piece whose size is the extent, starting at lower bound 0.
  bool is_contiguous() const;
  /// True when the pieces come at increasing offsets without overlap, so that the type can describe a file region and be cut
  /// to a window of offsets in logarithmic time.
  bool is_sorted() const;

  /// Offset of the first byte of the stream; 0 when there is none. The tree's offsets are relative to it.
  int64_t displacement() const { return displacement_; }
  /// A hash of what operator== compares; the same on every machine.
  uint64_t fingerprint() const;

  /// Structural equality of the normalised trees (equal bytes in equal order always for equal trees; not conversely).
  friend bool operator==(const Datatype& a, const Datatype& b);

  /// Appends the compact binary form (docs/formats/datatype.md) to `out`.
  void serialize(std::vector<std::byte>& out) const;
  /// Reads one datatype from the front of `in` and sets `*consumed_bytes`. Input is not trusted: depth, counts, sums and sizes
  /// are all validated; kFormat when it isn't a valid description.
  static Result<Datatype> deserialize(std::span<const std::byte> in, size_t* consumed_bytes);

  /// The bare layout: `node` with its first byte at offset 0, as its bounds tell.
  static Datatype of_node(std::shared_ptr<const datatype::Node> node);
  const datatype::Node& node() const { return *node_; }
  const std::shared_ptr<const datatype::Node>& shared_node() const { return node_; }

 private:
  Datatype(std::shared_ptr<const datatype::Node> node, int64_t displacement, int64_t lower_bound, int64_t upper_bound);
  /// Checks what a tree alone cannot know: that displaced offsets and bounds stay below the limit.
  static Result<Datatype> blocks(const datatype::BlockList& list, const Datatype& old);
  static Result<Datatype> create(std::shared_ptr<const datatype::Node> node, int64_t displacement, int64_t lower_bound,
                                 int64_t upper_bound);

  std::shared_ptr<const datatype::Node> node_;
  int64_t displacement_ = 0;
  int64_t lower_bound_ = 0;
  int64_t upper_bound_ = 0;
};

}  // namespace stria
