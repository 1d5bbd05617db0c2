// The fields of the messages by which a store is looked after: which servers take new files, a copy
// of the names while the manager runs, and what a check of the store compares and mends
// (docs/formats/wire.md). They are apart from messages.hpp, because programs that only use files
// send none of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

/// Why a server takes no new files.
enum class Condition : uint8_t {
  kGood = 0,        ///< it takes them
  kNearlyFull = 1,  ///< less is free than its reserve: it takes them where all servers are so
  kReadOnly = 2,    ///< its disk may not be written
  kFailing = 3,     ///< its disk has failed of late
  kLeaving = 4,     ///< it is ending, or has ended in order
};

/// Returns "good", "nearly full" and so on.
const char* condition_name(Condition condition);

/// Says what a server tells of itself, after its pulse.
struct ServerCondition {
  static constexpr const char* kName = "condition";
  Identity server{};
  Condition condition = Condition::kGood;
  std::string why;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Conditions {
  static constexpr const char* kName = "conditions";
  struct Entry {
    int64_t server = 0;
    Condition condition = Condition::kGood;
    bool closed = false;  ///< whoever looks after the store wants no new files there
    std::string why;
    bool takes_new_files() const { return !closed && condition <= Condition::kNearlyFull; }
  };
  std::vector<Entry> entries;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says whether a server is to take new files.
struct NewFiles {
  static constexpr const char* kName = "new files";
  int64_t server = 0;
  bool taken = true;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks for a part of a copy of the names. Number 0 begins another copy.
struct Backup {
  static constexpr const char* kName = "backup";
  uint64_t number = 0;
  int64_t offset = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

inline constexpr uint64_t kMaxBackupPartBytes = kMaxBodyBytes / 2;

struct BackupPart {
  static constexpr const char* kName = "backup part";
  uint64_t number = 0;
  int64_t total_bytes = 0;  ///< 0: the copy is being made; ask again
  std::vector<std::byte> bytes;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says how a file is striped, as a part of it or its name knows.
struct Striped {
  int64_t stripe_bytes = 0;  ///< 0: not known
  int64_t slot_count = 0;
  int64_t slot = 0;
  bool known() const { return stripe_bytes > 0; }
  bool operator==(const Striped&) const = default;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks an I/O server which parts it has, those behind the file `after` in its own order; or, with
/// `files`, how these are.
struct Parts {
  static constexpr const char* kName = "parts";
  uint64_t after = 0;
  std::vector<uint64_t> files;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class PartState : uint8_t {
  kAbsent = 0,   ///< never written, as far as the server knows
  kPresent = 1,  ///< present, as long as its checksums say
  kLost = 2,     ///< the server had it
  kRemoved = 3,  ///< the server was told to remove it
  kOtherSize = 4,
};

struct PartsListed {
  static constexpr const char* kName = "parts listed";
  struct Entry {
    uint64_t file = 0;
    PartState state = PartState::kAbsent;
    int64_t bytes = 0;
    int64_t expected_bytes = 0;  ///< kOtherSize: by its checksums
    Striped striped;
  };
  std::vector<Entry> entries;
  bool more = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks the manager for the files with a number above `after`.
struct Named {
  static constexpr const char* kName = "named";
  uint64_t after = 0;
  void put(Writer& writer) const { writer.natural(after); }
  void get(Reader& reader) { after = reader.natural(); }
};

struct NamedListed {
  static constexpr const char* kName = "named listed";
  struct Entry {
    uint64_t file = 0;
    bool named = true;  ///< false: it is only open
    int64_t stripe_bytes = 0;
    std::vector<int64_t> servers;  ///< by slot
  };
  std::vector<Entry> entries;
  bool more = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks the manager what it knows of parts on a server; also for kDiscard, by which it has the
/// server remove those that no name needs, and for kPaths, where the server doesn't matter.
struct PartsOf {
  static constexpr const char* kName = "parts of";
  int64_t server = 0;
  std::vector<uint64_t> files;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class PartKnown : uint8_t {
  kUnknown = 0,    ///< no file of that number
  kHere = 1,       ///< a file has its part on that server
  kElsewhere = 2,  ///< there is the file, and its parts are on other servers
  kLeaves = 3,     ///< the server is to remove it
};

/// One for each file, in order.
struct PartsKnown {
  static constexpr const char* kName = "parts known";
  struct Entry {
    PartKnown known = PartKnown::kUnknown;
    Striped striped;  ///< for kHere
  };
  std::vector<Entry> entries;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A path for each file, in order; empty where it has no name.
struct Paths {
  static constexpr const char* kName = "paths";
  std::vector<std::string> paths;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Gives a file without a name one in /lost+found, which the reply tells (Path); or a file with a
/// name other servers.
struct Adopt {
  static constexpr const char* kName = "adopt";
  uint64_t file = 0;
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers;  ///< by slot
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says how many files' parts are to go.
struct Discarded {
  static constexpr const char* kName = "discarded";
  uint64_t files = 0;
  void put(Writer& writer) const { writer.natural(files); }
  void get(Reader& reader) { files = reader.natural(); }
};

}  // namespace stria::wire
