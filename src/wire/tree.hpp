// The fields of the messages by which a store is used as a file system: all that is known of a
// name or of a directory's names, times, links, attributes that users give, and how the servers'
// parts of many files are (docs/formats/wire.md). They are apart from messages.hpp, because
// programs that only read and write files send few of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/messages.hpp"

namespace stria::wire {

inline constexpr size_t kMaxAttributeNameBytes = 255;
/// Names and values of all attributes of a file together.
inline constexpr size_t kMaxAttributeBytes = size_t{64} << 10;
/// Symbolic links that are followed on the way to a name.
inline constexpr int kMaxLinks = 40;

enum class NameKind : uint8_t {
  kFile = 0,
  kDirectory = 1,
  kLink = 2,  ///< symbolic
};

/// The times count nanoseconds since 1970. The manager knows those that were set; a file's servers
/// know when it was written.
struct Times {
  int64_t created_ns = 0;
  int64_t changed_ns = 0;  ///< owner, mode, names and the like; 0: not since it was made
  std::optional<int64_t> accessed_ns = {};
  std::optional<int64_t> modified_ns = {};
  /// What the file's servers told as its last write when modified_ns was set: it holds until they
  /// tell of a later one.
  int64_t written_before_ns = 0;

  // Each file has the time when its servers say that it was written; 0 for what has none.

  int64_t modified(int64_t written_ns) const;
  int64_t accessed(int64_t written_ns) const { return accessed_ns.value_or(modified(written_ns)); }
  int64_t changed(int64_t written_ns) const;

  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// All that the manager knows of what a name means.
struct NameState {
  NameKind kind = NameKind::kFile;
  uint64_t number = 0;
  uint64_t names = 1;  ///< the names of a file: hard links
  Ownership owner = {};
  Times times = {};
  std::string target = {};  ///< the target of a link
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers = {};  ///< the servers of a file, by slot: places (layout.hpp)
  Ticket ticket = {};                 ///< to ask for the size alone
  bool is_directory() const { return kind == NameKind::kDirectory; }
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Returns where the file's bytes are. `places` has those of its servers.
Opened place_of(const NameState& state, std::span<const ServerPlace> places);

/// Says what a path means. The links on the way are followed always, and one that the path itself
/// names if `follow` says so.
struct Look {
  static constexpr const char* kName = "look";
  std::string path;
  bool follow = true;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Looked {
  static constexpr const char* kName = "looked";
  NameState state;
  std::vector<ServerPlace> places;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A file that was made, open, and what its name and its directory mean now. It is asked as by
/// kOpen.
struct Made {
  static constexpr const char* kName = "made";
  Opened opened;
  NameState file;
  NameState directory;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Handles to give up, by their numbers.
struct Handles {
  static constexpr const char* kName = "handles";
  std::vector<uint64_t> handles;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A directory's names, sorted, with what they mean. It is asked as by kList.
struct LookedAll {
  static constexpr const char* kName = "looked all";
  struct Entry {
    std::string name;
    NameState state;
  };
  std::vector<Entry> entries;
  std::vector<ServerPlace> places;
  bool more = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct TimeChange {
  enum class How : uint8_t { kStays = 0, kGiven = 1, kNow = 2 };
  How how = How::kStays;
  int64_t ns = 0;  ///< kGiven: since 1970
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what is to change of a name; the rest stays.
struct Change {
  static constexpr const char* kName = "change";
  Look what = {};
  std::optional<uint32_t> uid = {};
  std::optional<uint32_t> gid = {};
  std::optional<uint32_t> mode = {};
  TimeChange accessed = {};
  TimeChange modified = {};
  int64_t written_ns = 0;  ///< with `modified`: what the file's servers tell as its last write
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Another name: a symbolic link at `path`, whose text is `target`; or, by kLinkName, a second name
/// at `path` of the file `target`.
struct NewLink {
  static constexpr const char* kName = "new link";
  std::string path;
  std::string target;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// An attribute that a user gives a file or a directory.
struct SetAttribute {
  static constexpr const char* kName = "set attribute";
  enum class How : uint8_t { kAny = 0, kCreate = 1, kReplace = 2, kRemove = 3 };
  Look what = {};
  How how = How::kAny;
  std::string name;
  std::string value;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks for the value of one attribute, or with an empty name for the names of all.
struct GetAttribute {
  static constexpr const char* kName = "get attribute";
  Look what = {};
  std::string name;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct UserAttributes {
  static constexpr const char* kName = "attributes of users";
  struct Entry {
    std::string name;
    std::string value;  ///< only where one was asked for
  };
  std::vector<Entry> entries;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks an I/O server where its bytes of each file end.
struct ExtentsOf {
  static constexpr const char* kName = "extents of";
  struct Entry {
    uint64_t file = 0;
    Ticket ticket = {};
  };
  std::vector<Entry> files;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// One for each file, in order.
struct Extents {
  static constexpr const char* kName = "extents";
  struct Entry {
    ErrorCode error = ErrorCode::kOk;  ///< why the server can't tell
    Extent extent = {};
    int64_t allocated_bytes = 0;  ///< what they take on the server's disk: holes take none
  };
  std::vector<Entry> entries;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

}  // namespace stria::wire
