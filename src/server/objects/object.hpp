// One file's bytes on one server: a file of the local file system, with checksums beside it.
//
// Problem: a small piece costs a microsecond by a system call, and nanoseconds by a copy through a
// mapping. But a mapping raises a signal where a call returns an error (full disk, bad disk, a file
// cut meanwhile). And a disk must give back what was written to it.
// Method: pieces that are small on average are copied through a mapping that is kept, after the
// file was made long enough. A guard turns the signal into a failure; the pieces then go by system
// calls, which say why. All other pieces go by pread and pwrite. Long runs that are read are sent
// from another mapping, without a copy (View). Each block that is touched is locked, and what is
// read is compared with its sum. When a part of a block is written, its sum is updated by the words
// that change. Regular pieces of a block are moved by one loop.
// Cost: one system call per run of neighbours, or one copy per piece; a multiplication for each 8
// bytes, two where only a part of a block is written, and one for each 8 bytes of a block of which
// a part is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>

#include "base/byte_range.hpp"
#include "server/objects/block_locks.hpp"
#include "server/objects/block_sums.hpp"
#include "server/objects/mapping.hpp"
#include "server/objects/parts.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// A mapping of an object grows by this.
inline constexpr int64_t kMapUnitBytes = int64_t{64} << 20;

/// Thread-safe.
class Object {
 public:
  Object(std::string path, int descriptor, std::unique_ptr<BlockSums> sums, int64_t bytes);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  int64_t bytes() const { return bytes_.load(); }
  /// Writes the packed data to the pieces, which grow the object where they lie beyond its end. A
  /// block that is damaged stays so when a part of it is written. kCorrupted when a part is written
  /// of a block in doubt. \pre no piece is empty, and those of a row ascend without overlap
  Status write(std::span<const PieceRow> rows, const std::byte* data);
  /// Reads the pieces; what lies beyond the end, since somebody cut the object meanwhile, is zero.
  /// kCorrupted when a block is damaged. \pre as of write()
  Status read(std::span<const PieceRow> rows, std::byte* data);

  /// Bytes as they lie in the system's cache, compared with their sums a moment ago. A write may
  /// change them at any time; then they no longer have their hash, which their receiver checks.
  struct View {
    std::span<const std::byte> bytes;
    uint64_t sum = 0;      ///< hash_bytes() of them
    uint64_t changes = 0;  ///< of the object, up to when they were compared
    std::shared_ptr<const Mapping> keeps;
  };
  /// None when the place must be read instead. kCorrupted as read().
  Result<std::optional<View>> view(ByteRange place);
  /// To be called when the view was sent. If a write came between, the receiver may ask again: for
  /// some seconds there are no views then.
  void sent(const View& view);

  Status resize(int64_t bytes);
  Status reserve(int64_t bytes);
  /// After a failure it always fails, because what was lost can't be known.
  Status sync();
  wire::Extent extent() const;
  /// Compares some MiB of blocks with their sums, as they are on the disk, from one block on.
  Result<wire::Scrubbed> scrub(const wire::Scrub& request);
  /// To be called now and then: notes on the disk when nothing has been un-synced for a while, or
  /// at once.
  void rest(bool at_once);

 private:
  Status write_run(const Run& run);
  Status write_pieces(const Part& part, bool mapped);
  Status read_run(const Run& run);
  Status read_pieces(const Part& part, bool mapped);
  bool read_mapped(const Part& part, BlockSum* sum, uint64_t* found);
  Status new_sums(const Run& run, std::span<BlockSum> sums, std::span<BlockSum> settled);
  /// Scrubs that follow each other from the first block on, whoever asks for them.
  struct Pass {
    int64_t next = 0;
    bool found = false;  ///< something that stays wrong
  };
  /// Blocks [first, end) have been looked at. True when the pass has seen all up to `end`, and
  /// nothing is wrong.
  bool add_to_pass(int64_t first, int64_t end, bool found);
  int64_t read_for_scrub(int direct, int64_t first, std::span<std::byte> content);
  /// What the sums of a block are while it is written; whether they can be known.
  struct Flight {
    BlockSum sum;
    bool known = false;
  };
  /// For pieces of one block, of which some stays: puts them into `content`, with what is between
  /// them.
  Result<Flight> prepare(std::span<const Pieces> pieces, const BlockSum& stored, bool mapped, std::byte* content);
  /// For pieces of one block that ascend without overlap: by stores to the mappings alone. False
  /// when it could not be done; part of it may be done then, and the block in flight.
  bool write_in_place(std::span<const Pieces> pieces);
  /// Bytes of the file, zero beyond its end.
  Status get(ByteRange range, bool mapped, std::byte* to);
  /// All bytes of a block.
  Status get_block(int64_t block, std::byte* content);
  Status put(ByteRange range, const std::byte* data);
  void settle(int64_t first, std::span<BlockSum> sums);
  Status mismatch(int64_t block, const BlockSum& sum) const;
  static bool are_short(std::span<const PieceRow> rows);
  static bool are_in_order(std::span<const PieceRow> rows);
  static int64_t end_of(std::span<const PieceRow> rows);
  bool can_map(int64_t end);
  bool map(int64_t end);
  bool copy_mapped(int64_t offset, std::byte* data, size_t bytes, bool writes);
  Status error(const char* operation, int error_number) const;
  Status begin_change(int64_t end);
  Status grow(int64_t end);
  std::shared_ptr<const Mapping> mapping_of(int64_t end);
  int64_t modified_ns() const;
  void keep_time_of_change();

  std::string path_;
  int descriptor_;
  std::unique_ptr<BlockSums> sums_;
  BlockLocks locks_;
  std::atomic<int64_t> bytes_;
  std::shared_mutex size_mutex_;  // exclusive while it is cut
  std::shared_mutex map_mutex_;   // exclusive while it is mapped anew
  std::byte* map_ = nullptr;
  int64_t map_bytes_ = 0;
  std::atomic<bool> sync_failed_ = false;
  std::mutex sync_mutex_;  // held while it is synced
  std::atomic<bool> unsynced_;
  Pass pass_;
  std::mutex pass_mutex_;
  std::atomic<int64_t> last_change_s_ = 0;
  std::atomic<int64_t> stored_ns_ = 0;  // when the mapping was written last
  // Somebody was told when it was changed last, and the next change needs a later time: a file
  // system's clock stands still for some milliseconds.
  mutable std::atomic<bool> time_is_known_ = true;
  std::mutex view_mutex_;
  std::shared_ptr<const Mapping> view_map_;
  std::atomic<uint64_t> changes_ = 0;  // counted with the block locked, before its bytes change
  std::atomic<int64_t> copies_until_s_ = 0;
};

}  // namespace stria::server
