// This is where bytes live: one interface for the system's files, for servers and for test doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria {
class Datatype;
}

namespace stria::storage {

/// Says what the storage of one open file can do, and the units in which it is fast.
struct Capabilities {
  int64_t stripe_bytes = 0;  ///< 0: not striped or not known
  int stripe_count = 1;      ///< number of servers that hold the file
  /// A new file takes OpenOptions::striping, and the two above tell what this file has.
  bool striped_as_told = false;
  /// Two writers don't disturb each other when they write different units.
  int64_t lock_unit_bytes = 1;
  int64_t block_bytes = 4096;  ///< the file system's preferred unit
  /// Alignment of offset, length and memory for direct writes; 0: not offered.
  int64_t direct_align_bytes = 0;
  bool atomic_rename = true;
  bool native_list = false;  ///< a list of ranges travels as one request
  /// write_type() and read_type(): a datatype's description travels instead of its pieces.
  bool native_types = false;
  /// Writes into space that preallocate() reserved are faster than those that grow the file.
  bool reserving_pays = false;
  /// Writes land in this node's page cache (a local file system or tmpfs).
  bool node_local_cache = true;
  /// Ranks of one node that write different parts of a new file don't wait for each other.
  bool parallel_writes = false;
  bool asynchronous = false;  ///< start_write() returns before the bytes are written
  /// A node sees what another has written only after both have emptied their caches.
  bool caches_apart = false;
  /// The file locks the range of every access by itself, and those locks reach all nodes.
  bool locks_itself = false;
  /// A lock of a range keeps out every process that can open the file, on every node.
  bool locks_reach_all = true;
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

/// The stream of `type`, placed at `displacement` in the file; `window` is the part of the stream
/// that is meant. The type is sorted, and its pieces don't overlap.
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
  /// Blocks until every byte is handed over, and returns the outcome of the whole
  /// list. Call it once.
  virtual Status wait() = 0;
};

/// A locked range of a file. The destructor gives it up; it must run before the file's.
class RangeLock {
 public:
  virtual ~RangeLock() = default;
};

enum class LockMode { kShared, kExclusive };
using LockTaker = std::function<Result<std::unique_ptr<RangeLock>>()>;

/// Tells which file a name or a handle stands for. Two are equal when this node sees the same file
/// behind both, as long as some handle on it is open.
struct Identity {
  uint64_t device = 0;
  uint64_t number = 0;
  bool operator==(const Identity&) const = default;
};

/// Says what the storage tells of a name, without opening the file.
struct NameInfo {
  bool is_plain_file = true;  ///< not a link, a directory or a pipe, and it has no other name
  /// It belongs to this process's user, or the storage tells no owners.
  bool is_mine = true;
  /// When its bytes changed last, since 1970, by the storage's clock.
  std::optional<int64_t> changed_ns{};
};

/// Holds what a file has besides its name and its bytes.
struct FileAttributes {
  uint32_t mode = 0;  ///< who may read, write and execute it: 9 bits
  uint32_t owner = 0;
  uint32_t group = 0;
  /// The access list and the user's extended attributes, by the system's names.
  std::vector<std::pair<std::string, std::vector<std::byte>>> extended{};
};

/// Returns the mode of a file whose group can't be kept: who was in one of the two groups and is
/// now in the other, or among the others, must not gain by it.
inline uint32_t without_group(uint32_t mode) {
  constexpr uint32_t kRights = 07;
  const uint32_t both = mode & mode >> 3 & kRights;
  return (mode & ~077U) | both << 3 | both;
}

/// Says where a file goes that is to take a name.
struct Destination {
  std::string path;  ///< the name itself, or the one to which its links lead
  /// What the file has that will be replaced; nothing where there is none, or the storage keeps no
  /// attributes.
  std::optional<FileAttributes> replaced{};
};

/// An open file. Calls from several threads on one File must not overlap, unless a function says
/// otherwise; each rank opens its own File. Error messages name the file, the operation and the
/// system's error.
class File {
 public:
  virtual ~File() = default;
  virtual const std::string& path() const = 0;
  virtual const Capabilities& capabilities() const = 0;
  /// Returns which file this is. kUnsupported where the storage can't tell.
  virtual Result<Identity> identity();
  /// Returns the driver's own handle, where this one is wrapped around it.
  virtual const File& plain() const { return *this; }

  /// Writes the whole list or fails. Short writes and EINTR are continued inside. Segments may come
  /// in any order; they must not overlap.
  virtual Status write(std::span<const WriteSegment> segments) = 0;
  /// Begins to write the list. The data must stay until wait(). A driver that can't do better
  /// writes at once.
  virtual std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments);
  /// Returns the same under a lock. The thread that writes takes the lock with `take` just before,
  /// and gives it up just after; so the caller doesn't hold it while it waits for other ranks.
  /// `take` is called from any thread.
  virtual std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take);
  /// Reads the list and returns the number of bytes read, which is short only where the file ends.
  /// Memory for bytes past the end is not touched. If the file is cut during the read, the number
  /// counts the bytes before the least end that was seen, and memory past it may be touched.
  virtual Result<int64_t> read(std::span<const ReadSegment> segments) = 0;
  /// Tells that a range will be read soon, so that the storage may begin to fetch it. Waits for
  /// nothing and can't fail; a driver that can't do this ignores it.
  virtual void will_read(ByteRange /*range*/) {}

  /// Writes the whole region or fails; `data` holds its bytes one after another. kUnsupported
  /// unless capabilities().native_types.
  virtual Status write_type(const TypeWindow& region, const std::byte* data);
  /// Reads a region likewise; counts as read() does.
  virtual Result<int64_t> read_type(const TypeWindow& region, std::byte* data);

  /// Locks a range. Waits until no other handle, of this or of another process, holds a lock that
  /// conflicts; two shared locks may overlap. Locks are advisory: they keep out other locks, not
  /// reads and writes. A handle must not hold two locks that overlap, and must be open for writing
  /// to lock exclusively. kUnsupported where the storage has no such locks.
  virtual Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode);
  /// Does the same without waiting; null where another handle holds a lock that conflicts.
  virtual Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode);
  /// Tells whether another handle holds a lock of any mode that overlaps.
  virtual Result<bool> is_locked_elsewhere(ByteRange range);
  /// While the result lives, no other handle of any process has the file open; a process that opens
  /// it waits. kUnsupported where another handle has it open, or where the storage can't promise
  /// this. Hold it for a moment only, and one at a time.
  virtual Result<std::unique_ptr<RangeLock>> own();

  // Storage whose nodes have separate caches has these. Elsewhere there is nothing to do.

  /// Makes reads of `range` and the size give what other nodes have handed over.
  virtual Status refresh(ByteRange /*range*/) { return {}; }
  /// Makes other nodes that refresh see what was written in `range`.
  virtual Status hand_over(ByteRange /*range*/) { return {}; }

  virtual Result<int64_t> size() = 0;
  /// Cuts the file, or extends it with zeros, to exactly `bytes`.
  virtual Status resize(int64_t bytes) = 0;
  /// Reserves space for [0, bytes), so that later writes there can't run out of space, and extends
  /// the file. kUnsupported when the storage can't; kNoSpace when there isn't enough.
  virtual Status preallocate(int64_t bytes) = 0;
  /// Returns when everything written so far, through any handle of this node, would
  /// survive a power loss.
  virtual Status sync() = 0;
  /// Closes the file and reports errors that the system has kept until now. The destructor closes
  /// without a report.
  virtual Status close() = 0;
};

/// Says how the bytes of a new file are dealt out, on storage that has several servers and lets the
/// creator of a file choose. Where the storage can't do as asked, it comes as near as it can;
/// Capabilities tell what it chose.
struct Striping {
  /// What one server gets before the next one's turn; 0: the storage's choice.
  int64_t unit_bytes = 0;
  int server_count = 0;   ///< 0: the storage's choice
  int first_server = -1;  ///< its number in the storage, or one of FirstServer (first_server.hpp)
};

struct OpenOptions {
  enum class Mode {
    kRead,
    kReadWrite,
    kCreate,     ///< create or truncate
    kCreateNew,  ///< fail if it exists
  };
  Mode mode = Mode::kRead;
  /// Bypass the page cache: offsets, sizes and memory of writes must be multiples of
  /// capabilities().direct_align_bytes. kUnsupported when the storage doesn't offer it.
  bool direct = false;
  /// Take an exclusive advisory lock; kAlreadyExists ("in use by another program") when another
  /// handle holds it. It is released when the file is closed or the process ends.
  bool exclusive_lock = false;
  /// Take a shared advisory lock, as programs do that read with libhdf5, and keep out those that
  /// write with it; kAlreadyExists when one of these has the file open. Where the storage has no
  /// such locks there is none.
  bool beside_readers = false;
  /// Take nothing but what NameInfo calls a plain file of this process's user, and follow no link:
  /// kPermissionDenied. For names that other users could make. A file is created so only with
  /// exclusive_lock; one that is there and not in use is then removed first, so that nothing of it
  /// is left, neither its mode nor other programs' handles.
  bool mine_only = false;
  /// Take nothing but a plain file, of any user, and follow no link: kPermissionDenied. For the
  /// file that another rank has just created by this name. With expected_number, a file of another
  /// number is refused on local storage, too.
  bool plain_only = false;
  /// Says who may open a new file, less what the system's umask takes away. An existing file keeps
  /// its own.
  uint32_t permissions = 0666;
  /// The caller expects no other writer. The storage then leaves out what only pays where writers
  /// contend. If there is another writer, nothing goes wrong.
  bool sole_writer = false;
  /// Identity::number of the file that another node has just opened by this name, or 0. A node may
  /// remember for a while that the name meant another file, or none; open() then looks again, for
  /// some seconds at most. kIo when the name still means another file, on storage whose numbers are
  /// the same on every node.
  uint64_t expected_number = 0;
  /// A new file gets this striping; an existing one stays as it is.
  Striping striping = {};
};

/// A kind of storage: opening files, and operations on names. Thread-safe.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const char* name() const = 0;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) = 0;
  /// Opens another handle on the very file that `file` has open, whatever its name means by now.
  /// `file` belongs to this process and to a driver of the same kind of storage. Options that
  /// create a file or take an exclusive lock: kInvalidArgument. kUnsupported where the storage
  /// opens by name only.
  virtual Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) = 0;
  /// Returns which file `path` means now.
  virtual Result<Identity> identity(const std::string& path) = 0;
  /// Returns what the storage tells of `path`; a link is not followed. kNotFound.
  virtual Result<NameInfo> name_info(const std::string& path);
  /// Returns the name to which `path` leads: links are followed, also to what isn't there. `path`
  /// itself where it is no link, or the storage has none.
  virtual std::string follow_links(const std::string& path) { return path; }
  /// Returns where a file goes that is to replace what `path` means, or to be the first of that
  /// name. kInvalidArgument for a directory, a pipe, a device, a socket, and for links that lead in
  /// a circle; kPermissionDenied for a file that this process may not write to, and for links of
  /// other users in a directory that all may write to.
  virtual Result<Destination> find_destination(const std::string& path);
  /// Gives a new file the attributes of the one that it will replace, as far as this process may.
  /// Where owner or group can't be kept, nobody gets more rights than before.
  virtual Status set_attributes(File& file, const FileAttributes& attributes);
  /// Gives the file `from` the name `to`, atomically; a file that had this name is replaced.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Makes the new name `path` a link that leads to `target`, which needn't be there yet.
  /// kAlreadyExists where there is such a name; kUnsupported where the storage has no links.
  virtual Status make_link(const std::string& target, const std::string& path);
  virtual Result<bool> exists(const std::string& path) = 0;
  /// Makes renames and creations in the directory of `path` survive a power loss.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Returns the names of a directory's entries, without the directory, sorted.
  virtual Result<std::vector<std::string>> list_directory(const std::string& directory) = 0;
};

}  // namespace stria::storage
