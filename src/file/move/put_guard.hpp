// What a put stores is what its memory held at the call: copies of small puts, samples of others.
//
// Problem: nothing moves before flush() or commit(). A program that uses a buffer again before that
// would store its last values, and their checksums would be right.
// Method: a small put is copied, packed and in its memory's own type, up to a limit for all small
// ones together; so is every put that asks for it. Of any other one a sample is hashed, and hashed
// again before anything moves: parts of cache lines, at places that only the number of bytes
// decides. What the datatype leaves out is neither copied nor looked at.
// Cost: a copy of small puts; of others one cache line of each kSampledEvery bytes, read twice. A
// small change between the sampled lines is not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Memory that is taken piece by piece and given back all at once. A thread keeps a few megabytes
/// of it for the next time, because new pages cost more than what is copied there.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { release(); }

  /// Throws std::bad_alloc. \pre bytes >= 0
  std::byte* take(int64_t bytes);
  void release() noexcept;
  int64_t bytes() const { return bytes_; }  ///< bytes taken, with what lies between them

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    int64_t bytes = 0;
  };
  struct Spare;
  static Spare& spare();
  void add_block(int64_t bytes);

  std::vector<Block> blocks_;
  std::byte* next_ = nullptr;
  int64_t left_bytes_ = 0;  // the bytes of the last block of usual size
  int64_t block_bytes_ = 0;
  int64_t bytes_ = 0;
};

class PutGuard {
 public:
  static constexpr int64_t kSmallBytes = 64 << 10;  ///< the largest put that is copied unasked
  /// Up to this size a copy takes less than the record of its put, and isn't counted.
  static constexpr int64_t kUncountedBytes = 256;
  static constexpr int64_t kSampledEvery = 16 << 10;

  struct Limits {
    int64_t copied_bytes = 0;  ///< the bytes of small puts together, until they are released
    bool samples = true;
  };
  explicit PutGuard(const Limits& limits) : limits_(limits) {}

  /// Has a put keep what its memory holds, or a sample of it. Throws std::bad_alloc where a copy
  /// was asked for, or the put itself can't be described; a small put that can't be copied is
  /// sampled.
  Status take(Transfer& put);
  /// kInvalidArgument, with dataset and put, when the memory of one of them has changed.
  /// `puts` are all that were taken since release() and have not been moved, in their order.
  Status check(std::span<const Transfer> puts, std::span<const DatasetEntry> datasets) const;
  /// Gives back the copies, to which no put refers any more.
  void release() noexcept;
  /// Returns the most memory that the copies have taken at a time.
  int64_t most_bytes() const { return most_bytes_; }

 private:
  Status copy(Transfer& put);

  Limits limits_;
  Arena copies_;
  int64_t counted_bytes_ = 0;
  int64_t most_bytes_ = 0;
};

/// Returns a hash of a sparse sample of what the memory describes; the same while the sampled bytes
/// are.
uint64_t sample_of(const Memory& memory);

}  // namespace stria::file
