// One file's bytes on one server: a file of the local file system, with checksums beside it.
//
// Problem: a small piece costs a microsecond by a system call, and nanoseconds by a copy through a
// mapping. But a mapping raises a signal where a call returns an error (full disk, bad disk, a file
// cut meanwhile). And a disk must give back what was written to it. To map and unmap a file takes
// as long as some calls, and most small files are written once.
// Method: pieces that are small on average are copied through a mapping that is kept, after the
// file was made long enough; not the first few of an object. A guard turns the signal into a
// failure; the pieces then go by system calls, which say why. All other pieces go by pread and
// pwrite. Long runs that are read are sent from another mapping, without a copy (View). Each block
// that is touched is locked, and what is read is compared with its sum. When a part of a block is
// written, its sum is updated by the words that change. Regular pieces of a block are moved by one
// loop.
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

#include "base/piece_row.hpp"
#include "server/objects/blocks/block_scrub.hpp"
#include "server/objects/blocks/block_views.hpp"
#include "server/objects/blocks/blocks.hpp"
#include "server/objects/time_of_change.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// This is thread-safe.
class Object {
 public:
  using View = BlockView;

  Object(std::string path, int descriptor, std::unique_ptr<BlockSums> sums, int64_t bytes);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  int64_t bytes() const { return blocks_.file.bytes(); }
  /// Writes the packed data to the pieces, which grow the object where they lie beyond its end. A
  /// block that is damaged stays so when a part of it is written. kCorrupted when a part is written
  /// of a block in doubt. \pre no piece is empty, and those of a row ascend without overlap
  Status write(std::span<const PieceRow> rows, const std::byte* data);
  /// Reads the pieces; what lies beyond the end, since somebody cut the object meanwhile, is zero.
  /// kCorrupted when a block is damaged. \pre as of write()
  Status read(std::span<const PieceRow> rows, std::byte* data);

  /// None when the place must be read instead. kCorrupted as read().
  Result<std::optional<View>> view(ByteRange place);
  /// Must be called when the view was sent. If a write came between, the receiver may ask again:
  /// for some seconds there are no views then.
  void sent(const View& view) { views_.sent(blocks_, view); }

  Status resize(int64_t bytes);
  Status reserve(int64_t bytes);
  /// Costs nothing where nothing was changed since the last. After a failure it always fails,
  /// because what was lost can't be known.
  Status sync();
  /// It was changed last at that time, in ns since 1970. To be called while nobody changes it.
  void set_modified(int64_t ns) { time_.set(blocks_.file, ns); }
  wire::Extent extent() const { return {bytes(), time_.tell(blocks_.file)}; }
  /// Returns how the file is striped, if that is noted.
  wire::Striped place() const;
  Status note_place(const wire::Striped& place);
  /// Compares some MiB of blocks with their sums, as they are on the disk, from one block on.
  Result<wire::Scrubbed> scrub(const wire::Scrub& request);
  /// Notes on the disk when nothing has been un-synced for a while, or at once. Must be called now
  /// and then.
  void rest(bool at_once);

 private:
  Status begin_change(int64_t end);
  Status grow(int64_t end);
  bool go_by_mapping(std::span<const PieceRow> rows);

  Blocks blocks_;
  BlockViews views_;
  ScrubPass scrubs_;
  mutable TimeOfChange time_;
  std::shared_mutex size_mutex_;  // exclusive while it is cut
  std::mutex sync_mutex_;         // held while it is synced
  std::atomic<bool> sync_failed_ = false;
  std::atomic<bool> unsynced_;  // before a change and after it; not during a sync
  std::atomic<int64_t> last_change_s_;
  std::atomic<int64_t> few_pieces_ = 0;  // pieces that were short, and went by calls
};

}  // namespace stria::server
