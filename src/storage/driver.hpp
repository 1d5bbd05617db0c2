// Where bytes live: the one interface behind which every system call, server or test double stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria {
class Datatype;
}

namespace stria::storage {

/// What the storage of one open file can do, and the units in which it is fast.
struct Capabilities {
  int64_t stripe_bytes = 0;      ///< 0: not striped or not known
  int stripe_count = 1;          ///< number of servers that hold the file
  bool striped_as_told = false;  ///< the two above are the file's own, and OpenOptions::striping what a new file was asked for
  int64_t lock_unit_bytes = 1;   ///< writers of different units don't disturb each other
  int64_t block_bytes = 4096;    ///< the file system's preferred unit
  int64_t direct_align_bytes = 0;  ///< alignment of offset, length and memory for direct writes; 0: not offered
  bool atomic_rename = true;
  bool native_list = false;      ///< a list of ranges travels as one request
  bool native_types = false;     ///< write_type() and read_type(): a datatype's description travels instead of its pieces
  bool reserving_pays = false;   ///< writes into space that preallocate() reserved are faster than those that grow the file
  bool node_local_cache = true;  ///< writes land in this node's page cache (a local file system or tmpfs)
  bool parallel_writes = false;  ///< those who write different parts of a new file on one node don't wait for each other
  bool asynchronous = false;     ///< start_write() returns before the bytes are written
  bool caches_apart = false;     ///< what one node reads and writes, others see only when both empty their caches
  bool locks_itself = false;     ///< every access is made under a lock of its range, which reaches all
  bool locks_reach_all = true;   ///< locks of ranges keep out every process that can open the file, on whatever node
};

/// Bytes to be written at, or read from, `offset` of the file.
struct WriteSegment {
  int64_t offset = 0;
  const std::byte* data = nullptr;
  int64_t bytes = 0;
};
struct ReadSegment {
  int64_t offset = 0;
  std::byte* data = nullptr;
  int64_t bytes = 0;
};

/// The bytes of `window` of the stream of `type`, placed at `displacement` in the file. \pre type.is_sorted(), without overlap
struct TypeWindow {
  const Datatype& type;
  int64_t displacement = 0;
  ByteRange window;
};

/// A write under way.
class PendingWrite {
 public:
  virtual ~PendingWrite() = default;
  /// True when wait() would not block.
  virtual bool done() = 0;
  /// Blocks until every byte is handed over; the outcome of the whole list. Call once.
  virtual Status wait() = 0;
};

/// A locked range of a file, given up by the destructor, which must come before the file's.
class RangeLock {
 public:
  virtual ~RangeLock() = default;
};

enum class LockMode { kShared, kExclusive };
using LockTaker = std::function<Result<std::unique_ptr<RangeLock>>()>;

/// What is behind a name or a handle: equal for the same file, as this node sees it, as long as some handle is open.
struct Identity {
  uint64_t device = 0;
  uint64_t number = 0;
  bool operator==(const Identity&) const = default;
};

/// An open file. Calls on one File from several threads must not overlap unless a call says otherwise; ranks open their own.
/// Error messages name the file, the operation and the system's error.
class File {
 public:
  virtual ~File() = default;
  virtual const std::string& path() const = 0;
  virtual const Capabilities& capabilities() const = 0;
  /// Which file this is. kUnsupported where the storage can't tell.
  virtual Result<Identity> identity();
  /// The driver's own handle, where this one is wrapped around it.
  virtual const File& plain() const { return *this; }

  /// Writes the whole list or fails; short writes and EINTR are continued inside. Segments may come in any order and must not
  /// overlap.
  virtual Status write(std::span<const WriteSegment> segments) = 0;
  /// Begins to write the list; data must stay until wait(). Drivers that can't do better write at once.
  virtual std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments);
  /// The same under a lock, which whoever writes takes just before and gives up just after: not the caller, who may have to
  /// wait for others before wait(). `take` is called from any thread.
  virtual std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take);
  /// Reads the list; returns the number of bytes read, which is short only where the file ends. What lies past the end is not
  /// touched, unless the file was cut while it was read: then the number is of those before the least end that was found.
  virtual Result<int64_t> read(std::span<const ReadSegment> segments) = 0;

  /// Writes the region from `data`, which holds its bytes one after another, or fails. kUnsupported unless
  /// capabilities().native_types.
  virtual Status write_type(const TypeWindow& region, const std::byte* data);
  /// Reads so, as read() does.
  virtual Result<int64_t> read_type(const TypeWindow& region, std::byte* data);

  /// Waits until no other handle, of this or of another process, holds a lock that overlaps (two shared ones may). Advisory: it
  /// keeps out those who lock, not reads and writes. A handle must not hold two locks that overlap, and must be open for
  /// writing to lock exclusively. kUnsupported where the storage has no such locks.
  virtual Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode);
  /// The same without waiting: null where another handle holds one that overlaps.
  virtual Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode);
  /// Whether another handle holds a lock that overlaps, whatever its mode.
  virtual Result<bool> is_locked_elsewhere(ByteRange range);
  /// While the result lives no other handle of any process has the file open: who opens it waits. kUnsupported where somebody
  /// has it open, or where the storage can't promise it. To be held for a moment; one at a time.
  virtual Result<std::unique_ptr<RangeLock>> own();

  // For storage whose nodes have caches apart; nothing to do elsewhere.

  /// What this handle reads of `range` after this, and its size, is what other nodes have handed over.
  virtual Status refresh(ByteRange /*range*/) { return {}; }
  /// What was written in `range` is seen by other nodes that refresh.
  virtual Status hand_over(ByteRange /*range*/) { return {}; }

  virtual Result<int64_t> size() = 0;
  /// Cuts or extends (with zeros) to exactly `bytes`.
  virtual Status resize(int64_t bytes) = 0;
  /// Reserves space for [0, bytes) so that later writes there can't run out of it, and extends the file; kUnsupported when the
  /// storage can't, kNoSpace when there isn't that much.
  virtual Status preallocate(int64_t bytes) = 0;
  /// Returns when everything written so far through any handle of this node survives a power loss.
  virtual Status sync() = 0;
  /// Closes; reports errors that the system kept until now. The destructor closes in silence.
  virtual Status close() = 0;
};

/// How the bytes of a file that is made are dealt out, on storage that has several servers and lets who makes a file say so.
/// What can't be had is as near to it as the storage can come: Capabilities tell what it became.
struct Striping {
  int64_t unit_bytes = 0;  ///< of one server, before it is the next one's turn; 0: the storage's choice
  int server_count = 0;    ///< 0: the storage's choice
  int first_server = -1;   ///< by its number in the storage; -1: the storage's choice
};

struct OpenOptions {
  enum class Mode {
    kRead,
    kReadWrite,
    kCreate,     ///< create or truncate
    kCreateNew,  ///< fail if it exists
  };
  Mode mode = Mode::kRead;
  /// Bypass the page cache: offsets, sizes and memory of writes must be multiples of capabilities().direct_align_bytes.
  /// kUnsupported when the storage doesn't offer it.
  bool direct = false;
  /// Take an exclusive advisory lock; kAlreadyExists ("in use by another program") when somebody else holds it. Released by
  /// close or death.
  bool exclusive_lock = false;
  /// The caller believes that nobody else writes the file meanwhile: what only pays where writers contend is spared. Nothing
  /// goes wrong where somebody does.
  bool sole_writer = false;
  /// Identity::number of the file that another node has just opened by this name, or 0. A node may remember for a while that
  /// the name meant another file, or none: it looks again, some seconds at the most. kIo when the name goes on meaning another
  /// file on storage whose numbers are the same on every node.
  uint64_t expected_number = 0;
  /// Of a file that is made; one that is there stays as it is.
  Striping striping = {};
};

/// A kind of storage: the namespace operations. Thread-safe.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const char* name() const = 0;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) = 0;
  /// Another handle on the very file that `file` has open, whatever its name has come to mean. `file` is one of this process's,
  /// of a driver of the same kind of storage. Neither creates nor takes an exclusive lock: kInvalidArgument. kUnsupported where
  /// the storage opens by name only.
  virtual Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) = 0;
  /// Which file `path` means now.
  virtual Result<Identity> identity(const std::string& path) = 0;
  /// Atomically gives `from` the name `to`, replacing what had it.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  virtual Result<bool> exists(const std::string& path) = 0;
  /// Makes renames and creations in the directory of `path` survive a power loss.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Names (without directory) of the entries of a directory, sorted.
  virtual Result<std::vector<std::string>> list_directory(const std::string& directory) = 0;
};

}  // namespace stria::storage
