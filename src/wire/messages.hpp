// The fields of every message (docs/formats/wire.md). Each message has put(), which appends the
// fields, and get(), which takes them. What get() takes may come from anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/status.hpp"
#include "wire/form/codec.hpp"
#include "wire/form/fields.hpp"
#include "wire/layout.hpp"
#include "wire/region.hpp"
#include "wire/trust/greeting.hpp"
#include "wire/trust/ticket.hpp"
#include "wire/trust/user.hpp"

namespace stria::wire {

inline constexpr size_t kMaxPathBytes = 4096;
inline constexpr size_t kMaxNameBytes = 255;
/// Entries of one answer to kList, and of other lists of small things.
inline constexpr uint64_t kMaxListed = 4096;
inline constexpr uint64_t kMaxServers = kMaxSlots;

/// It has no fields.
struct Nothing {
  static constexpr const char* kName = "nothing";
  void put(Writer&) const {}
  void get(Reader&) {}
};

/// Says what went wrong, in place of a reply. The words of a side that speaks a version without
/// reasons tell the reason.
struct Failure {
  static constexpr const char* kName = "error";
  ErrorCode code = ErrorCode::kInternal;
  std::string text;
  ErrorReason reason = ErrorReason::kNone;
  Status status() const { return Status(code, text, reason); }
  void put(Writer& writer) const;
  void get(Reader& reader);
};

// The following are the manager's messages.

enum class OpenMode : uint8_t { kRead = 0, kReadWrite = 1, kCreate = 2, kCreateNew = 3 };

struct Open {
  static constexpr const char* kName = "open";
  std::string path;
  OpenMode mode = OpenMode::kRead;
  bool exclusive = false;
  uint64_t handle = 0;        ///< the client's number for it, new in its session
  int64_t stripe_bytes = 0;   ///< the bytes of a new file; 0: the store's default
  int64_t server_count = 0;   ///< the same
  int64_t first_server = -1;  ///< the same, by its index; -1: the store's choice
  bool by_load = false;       ///< the store's choice: servers that have less to do
  uint32_t permissions = 0;   ///< the permissions of a new file
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A server of a file or of the store.
struct ServerPlace {
  int64_t index = 0;
  std::string address;
  bool second = false;  ///< the file's second part there (layout.hpp)
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Opened {
  static constexpr const char* kName = "opened";
  uint64_t file = 0;
  int64_t stripe_bytes = 0;
  bool cut = false;  ///< it had content that the client now has to cut
  std::vector<ServerPlace> slots;
  Ticket ticket;
  uint64_t ticket_ms = 0;  ///< how long it is good from now
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// kIo, which names the server, when one of the file's has no address any more.
Status check_servers(const Opened& opened);

/// A handle to give up, or to take up again after a connection was lost.
struct Handle {
  static constexpr const char* kName = "handle";
  uint64_t handle = 0;
  uint64_t file = 0;
  bool exclusive = false;
  uint8_t rights = 0;  ///< the rights that the ticket is to give
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what a handle is good for from now on.
struct Renewed {
  static constexpr const char* kName = "renewed";
  Ticket ticket;
  uint64_t ticket_ms = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Path {
  static constexpr const char* kName = "path";
  std::string path;
  void put(Writer& writer) const { writer.text(path); }
  void get(Reader& reader) { path = reader.text(kMaxPathBytes); }
};

struct Rename {
  static constexpr const char* kName = "rename";
  std::string from;
  std::string to;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct NewDirectory {
  static constexpr const char* kName = "make directory";
  std::string path;
  uint32_t permissions = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what is to change of a name's ownership; the rest stays.
struct SetOwnership {
  static constexpr const char* kName = "set ownership";
  std::string path;
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<uint32_t> mode;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Attributes {
  static constexpr const char* kName = "attributes";
  bool is_directory = false;
  int64_t created_ns = 0;  ///< since 1970
  Ownership owner;
  Opened place;  ///< where a file's bytes are, and a ticket for all that the asker may do
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct List {
  static constexpr const char* kName = "list";
  std::string path;
  std::string after;  ///< the last name of the answer before; empty at first
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Listed {
  static constexpr const char* kName = "listed";
  struct Entry {
    std::string name;
    bool is_directory = false;
  };
  std::vector<Entry> entries;
  bool more = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what a server tells the manager every second, and what it is told. With an empty address it
/// only asks which store this is.
struct Pulse {
  static constexpr const char* kName = "pulse";
  Identity server{};
  std::string address;
  int64_t total_bytes = 0;
  int64_t free_bytes = 0;
  /// Data that moved since the pulse before, or are on their way now.
  int64_t busy_bytes = 0;
  std::vector<uint64_t> removed;  ///< files whose bytes are gone, as asked
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct PulseAnswer {
  static constexpr const char* kName = "pulse answer";
  int64_t index = 0;
  StoreSecret secret{};          ///< the secret that seals tickets
  uint64_t now_ms = 0;           ///< since 1970, by the manager's clock
  std::vector<uint64_t> remove;  ///< files that nobody names any more
  /// Grows when another manager takes over (standby.hpp); from version 4 on.
  uint64_t epoch = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct StoreServers {
  static constexpr const char* kName = "servers";
  struct Entry {
    ServerPlace place;
    int64_t total_bytes = 0;
    int64_t free_bytes = 0;
    int64_t silent_ms = -1;  ///< since its last pulse; -1: none since the manager started
    int64_t load_bytes = 0;  ///< its last seconds; each second counts half of the one after it
  };
  std::vector<Entry> servers;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Takes a server out of the store.
struct Retire {
  static constexpr const char* kName = "retire";
  int64_t server = 0;  ///< its index
  bool lost = false;   ///< true: it goes even if files have parts on it
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Retired {
  static constexpr const char* kName = "retired";
  uint64_t files = 0;  ///< files that have a part on the server
  bool done = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

// The following are the I/O servers' messages.

/// A request for the bytes of a region that lie on one slot. The bytes of a write follow as its
/// stream of data; those of a read come back as one.
struct Transfer {
  uint64_t file = 0;
  Ticket ticket;
  Layout layout;
  int64_t slot = 0;
  /// Appends all but the region.
  void put(Writer& writer) const;
  /// Takes all but the region.
  void get(Reader& reader);
};

/// Says where a slot's bytes end.
struct Extent {
  static constexpr const char* kName = "extent";
  int64_t local_bytes = 0;
  int64_t modified_ns = 0;  ///< since 1970; 0: the slot has none
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A file, and with it a number of bytes of the slot's own: for kExtent (ignored), kResize,
/// kReserve, kSync (ignored).
struct LocalFile {
  static constexpr const char* kName = "file";
  uint64_t file = 0;
  Ticket ticket;
  int64_t local_bytes = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Looks at blocks of the slot's own, some MiB of them a request.
struct Scrub {
  static constexpr const char* kName = "scrub";
  uint64_t file = 0;
  Ticket ticket;
  int64_t first_block = 0;
  bool accept = false;  ///< takes what was in flight when the server ended as it is
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class BlockFault : uint8_t {
  kDamaged = 1,  ///< the disk gives other bytes than were written
  /// It was being written, and not synced, when the server was killed or lost its power.
  kInFlight = 2,
  kUnreadable = 3,  ///< the disk gives an error
};

struct Scrubbed {
  static constexpr const char* kName = "scrubbed";
  struct Bad {
    int64_t block = 0;  ///< the block of 4 KiB of the slot's own
    BlockFault fault = BlockFault::kDamaged;
  };
  int64_t local_bytes = 0;
  int64_t next_block = 0;  ///< where the next request goes on
  bool done = false;
  std::vector<Bad> bad;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says how a server is: figures by name, which differ from version to version.
struct Figures {
  static constexpr const char* kName = "figures";
  struct Entry {
    std::string name;
    int64_t value = 0;
  };
  std::vector<Entry> entries;
  void add(std::string name, int64_t value) { entries.push_back({std::move(name), value}); }
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct LockRange {
  static constexpr const char* kName = "lock";
  uint64_t file = 0;
  Ticket ticket = {};  ///< not looked at where a lock is given up
  ByteRange range;
  bool exclusive = false;
  /// The open file that asks, as a random number: its own locks don't keep it out.
  uint64_t holder = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Answer {
  static constexpr const char* kName = "answer";
  bool yes = false;
  void put(Writer& writer) const { writer.fixed(static_cast<uint8_t>(yes)); }
  void get(Reader& reader) { yes = reader.fixed<uint8_t>() != 0; }
};

}  // namespace stria::wire
