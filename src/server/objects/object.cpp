#include "server/objects/object.hpp"

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"
#include "server/objects/blocks/block_content.hpp"
#include "server/objects/blocks/block_reading.hpp"
#include "server/objects/blocks/block_writing.hpp"
#include "server/objects/blocks/parts.hpp"
#include "server/objects/part_place.hpp"

namespace stria::server {

namespace {

// A system call per run costs no more than a copy through the mapping where runs have this average
// size.
constexpr int64_t kWorthCallBytes = 16 << 10;
// A synced object is noted as clean so long after its last change. If that were done at once, a
// client that writes and syncs in turn would wait for two more syncs each time.
constexpr int64_t kRestSeconds = 10;

// An object is mapped after so many short pieces of it, which go by calls.
constexpr int64_t kFewPieces = 8;

int64_t count_of(std::span<const PieceRow> rows) {
  int64_t pieces = 0;
  for (const PieceRow& row : rows) {
    pieces += row.count;
  }
  return pieces;
}

bool are_short(std::span<const PieceRow> rows) {
  int64_t bytes = 0;
  for (const PieceRow& row : rows) {
    bytes += row.bytes();
  }
  return bytes < kWorthCallBytes * count_of(rows);
}

[[maybe_unused]] bool are_in_order(std::span<const PieceRow> rows) {
  return std::all_of(rows.begin(), rows.end(), [](const PieceRow& row) {
    return row.begin >= 0 && row.count > 0 && row.piece_bytes > 0 && (row.count == 1 || row.stride >= row.piece_bytes);
  });
}

int64_t end_of(std::span<const PieceRow> rows) {
  int64_t end = 0;
  for (const PieceRow& row : rows) {
    end = std::max(end, row.end());
  }
  return end;
}

/// Notes at its end that there is something to sync: a sync that came after the change had begun
/// may have missed what it wrote.
class NoteOfChange {
 public:
  explicit NoteOfChange(std::atomic<bool>& note) : note_(note) {}
  NoteOfChange(const NoteOfChange&) = delete;
  NoteOfChange& operator=(const NoteOfChange&) = delete;
  ~NoteOfChange() { note_ = true; }

 private:
  std::atomic<bool>& note_;
};

}  // namespace

Object::Object(std::string path, int descriptor, std::unique_ptr<BlockSums> sums, int64_t bytes)
    : blocks_(std::move(path), descriptor, std::move(sums), bytes),
      unsynced_(!blocks_.sums->is_clean()),
      last_change_s_(now_s()) {}

Object::~Object() {
  rest(true);
  time_.keep(blocks_.file);
}

bool Object::go_by_mapping(std::span<const PieceRow> rows) {
  return are_short(rows) && (few_pieces_ > kFewPieces || (few_pieces_ += count_of(rows)) > kFewPieces);
}

wire::Striped Object::place() const {
  return blocks_.sums->is_new() ? wire::Striped() : noted_place(blocks_.sums->descriptor());
}

Status Object::note_place(const wire::Striped& place) {
  return server::note_place(blocks_.sums->descriptor(), blocks_.sums->path(), place);
}

Status Object::read(std::span<const PieceRow> rows, std::byte* data) {
  STRIA_ASSERT(are_in_order(rows));
  const std::shared_lock lock(size_mutex_);
  const bool mapped = go_by_mapping(rows) && blocks_.file.can_map(end_of(rows));
  Parts parts(rows, data);
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(read_part(blocks_, part, mapped));
  }
  return {};
}

Result<std::optional<Object::View>> Object::view(ByteRange place) {
  const std::shared_lock lock(size_mutex_);
  return views_.view(blocks_, place);
}

Status Object::begin_change(int64_t end) {
  STRIA_ASSERT(end >= 0, end);
  unsynced_ = true;
  last_change_s_ = now_s();
  time_.begin();
  STRIA_RETURN_IF_ERROR(blocks_.sums->make_dirty());
  return blocks_.sums->reserve(block_end(end));
}

// The object becomes longer before short pieces are written, so that they go through the mapping.
Status Object::grow(int64_t end) {
  const std::unique_lock nobody_writes(size_mutex_);
  if (end > bytes()) {
    const NoteOfChange note(unsynced_);
    STRIA_RETURN_IF_ERROR(begin_change(end));
    return blocks_.file.resize(end, "write");
  }
  return {};
}

Status Object::write(std::span<const PieceRow> rows, const std::byte* data) {
  STRIA_ASSERT(are_in_order(rows));
  const int64_t end = end_of(rows);
  const bool short_pieces = go_by_mapping(rows);
  if (short_pieces && end > bytes()) {
    STRIA_RETURN_IF_ERROR(grow(end));
  }
  const std::shared_lock lock(size_mutex_);
  const NoteOfChange note(unsynced_);
  STRIA_RETURN_IF_ERROR(begin_change(end));
  const bool mapped = short_pieces && blocks_.file.can_map(end);
  if (mapped) {
    time_.note_mapped();
  }
  Parts parts(rows, const_cast<std::byte*>(data));
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(write_part(blocks_, part, mapped));
  }
  return {};
}

Status Object::resize(int64_t bytes) {
  const std::unique_lock lock(size_mutex_);
  if (bytes == this->bytes()) {
    return {};
  }
  const NoteOfChange note(unsynced_);
  ++blocks_.changes;
  STRIA_RETURN_IF_ERROR(begin_change(0));
  return resize_blocks(blocks_, bytes);
}

Status Object::reserve(int64_t bytes) {
  const std::unique_lock lock(size_mutex_);
  const NoteOfChange note(unsynced_);
  STRIA_RETURN_IF_ERROR(begin_change(0));
  return blocks_.file.reserve(bytes);
}

Status Object::sync() {
  const std::lock_guard lock(sync_mutex_);
  // There is nothing to do also where another client's sync, for which this one has waited, has
  // done it.
  if (unsynced_.exchange(false)) {
    time_.keep(blocks_.file);
    Status outcome = blocks_.file.sync();
    if (outcome.ok()) {
      outcome = blocks_.sums->sync();
    }
    if (!outcome.ok()) {
      sync_failed_ = true;
      unsynced_ = true;
      return outcome;
    }
  }
  return sync_failed_ ? blocks_.file.error("sync", EIO) : Status();
}

Result<wire::Scrubbed> Object::scrub(const wire::Scrub& request) {
  const std::shared_lock lock(size_mutex_);
  if (request.accept) {
    STRIA_RETURN_IF_ERROR(begin_change(0));
  }
  auto scrubbed = scrub_blocks(blocks_, request, scrubs_);
  if (request.accept) {
    unsynced_ = true;
  }
  return scrubbed;
}

void Object::rest(bool at_once) {
  if (unsynced_ || blocks_.sums->is_clean() || (!at_once && now_s() - last_change_s_ < kRestSeconds)) {
    return;
  }
  const std::unique_lock nobody_writes(size_mutex_, std::try_to_lock);
  const std::unique_lock nobody_syncs(sync_mutex_, std::try_to_lock);
  if (nobody_writes && nobody_syncs && !unsynced_) {
    // If that fails, the object stays as it was on the disk: perhaps not synced.
    static_cast<void>(blocks_.sums->make_clean(bytes()));
  }
}

}  // namespace stria::server
