// The checksums of one object's blocks, in a file beside it. They find bytes that have
// changed on the disk.
//
// Problem: data and sums are two files that reach the disk in any order, and a server may be killed
// between a change of the one and of the other. Such a block must be told apart from one that a
// disk has damaged.
// Method: each block has two sums, those of before and after the write under way. A writer stores
// the second sum, then the data, then the first sum. So after a kill, a whole block fits one of
// them. For a loss of power, the file's head says whether anything may be un-synced. It says so on
// the disk before the first byte of a clean object changes; some seconds after a sync it says that
// the object is clean again. A block that fits neither sum is in doubt if the object was not clean
// when the server last ended; otherwise it is damaged.
//
// Invariant: the sum of a block of zeros is 0, and so is that of a hole and of what has no sum.
// Cost: 16 bytes a block of 4 KiB; memory only as the system caches it; one sync when a clean
// object is first written. The sums are mapped, but not for an object of a megabyte before the
// eighth use: to map and unmap takes longer than a few system calls. Layout: docs/formats/store.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>

#include "base/check.hpp"
#include "server/objects/blocks/block_sum.hpp"
#include "server/objects/blocks/guarded_copy.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// Thread-safe, provided that no two threads change the same block at the same time.
class BlockSums {
 public:
  /// Says what the file's head says.
  enum class State : uint64_t { kClean = 1, kDirty = 2, kDoubtful = 3 };

  /// Opens or makes the file. `run` is a number of this run of the server; `object_bytes` the
  /// object's end. kCorrupted when the head is damaged, or the object is not as long as it was.
  static Result<std::unique_ptr<BlockSums>> open(const std::string& path, uint64_t run, int64_t object_bytes);
  /// Returns how long the object of that file of checksums is, if the file says that everything is
  /// synced.
  static std::optional<int64_t> clean_bytes(const std::string& path);
  BlockSums(std::string path, int descriptor, uint64_t run) : path_(std::move(path)), descriptor_(descriptor), run_(run) {}
  BlockSums(const BlockSums&) = delete;
  BlockSums& operator=(const BlockSums&) = delete;
  ~BlockSums();

  /// Makes room for the sums of so many blocks.
  Status reserve(int64_t blocks);
  /// Sums of the blocks from `first` on; zero where there is no room yet.
  Status load(int64_t first, std::span<BlockSum> sums);
  /// Whether reserve() has made room for so many, or store() will.
  bool covers(int64_t blocks);
  /// Stores sums of blocks that reserve() covers.
  Status store(int64_t first, std::span<const BlockSum> sums);
  /// Calls copy(BlockSum&) with the block's sum as it is mapped, guarded (guarded_copy.hpp). False
  /// when it isn't mapped, or a page could not be used.
  template <typename Copy>
  bool in_place(int64_t block, const Copy& copy) {
    STRIA_ASSERT(block >= 0, block);
    const std::shared_lock lock(map_mutex_);
    auto run = [&] { copy(map_[block]); };
    return block < std::min(room_, mapped_) && guarded_copy(run);
  }
  /// Drops all blocks from number `blocks` on.
  Status cut(int64_t blocks);
  Status sync();

  /// Says on the disk, before data change, that they may be un-synced.
  Status make_dirty();
  /// Says on the disk that everything is synced, as it is, while nobody writes.
  Status make_clean(int64_t object_bytes);
  /// The file was not there, or had nothing in it.
  bool is_new() const { return is_new_; }
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  bool is_clean() const { return state_ == State::kClean; }
  /// True when a block that fits no sum may have been in flight as the server ended.
  bool is_doubtful() const { return state_ == State::kDoubtful; }
  /// Every block has been looked at.
  Status end_doubt();

 private:
  struct Head;
  Status take_head(int64_t object_bytes);
  Status write_head(State state, int64_t object_bytes);
  Status change_state(State state, int64_t object_bytes);
  Status error(const char* operation, int error_number) const;
  bool map_locked();
  /// Tells whether they are read and written by system calls so far.
  bool by_calls() const { return map_ == nullptr && calls_ < kFewCalls && room_ <= kFewBlocks; }
  Status store_by_call(int64_t first, std::span<const BlockSum> sums);

  static constexpr int kFewCalls = 16;
  static constexpr int64_t kFewBlocks = 256;  // in the same page of the file

  std::string path_;
  int descriptor_;
  uint64_t run_;
  bool is_new_ = false;
  std::atomic<State> state_ = State::kDirty;
  std::mutex head_mutex_;
  std::shared_mutex map_mutex_;  // exclusive while it is mapped anew or cut
  BlockSum* map_ = nullptr;
  int64_t mapped_ = 0;  // blocks
  int64_t room_ = 0;    // blocks that the file has space for
  std::atomic<int> calls_ = 0;
};

}  // namespace stria::server
