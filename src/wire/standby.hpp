// The messages by which a standby manager follows the manager, and takes over from it
// (docs/formats/wire.md, "A standby manager").
//
// Several processes may once have been the store's manager. The one of the highest epoch is it, and
// every server keeps the highest epoch that it has heard of. Within an epoch the manager numbers
// its marks, each of which says which standby has every change; every server keeps the newest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

struct Mark {
  uint64_t epoch = 0;
  uint64_t number = 0;
  Identity in_step{};  ///< the standby that has every change; zeros: none
  bool is_newer_than(const Mark& other) const { return epoch > other.epoch || (epoch == other.epoch && number > other.number); }
  bool operator==(const Mark&) const = default;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class RoleStep : uint8_t {
  kAsk = 0,
  kNote = 1,   ///< keep the mark, if it is newer
  kFence = 2,  ///< from now on the epoch is that of the mark, and the manager is at `manager`
};

/// Any server of the store may be asked this.
struct Role {
  static constexpr const char* kName = "role";
  RoleStep step = RoleStep::kAsk;
  Mark mark;            ///< kFence: of the new epoch
  std::string manager;  ///< where the manager of the epoch is
  Mark seen = {};       ///< kFence: not where a newer one is known
  bool forced = false;  ///< kFence: whatever is known
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class RoleKind : uint8_t {
  kServer = 0,
  kManager = 1,
  kStandby = 2,   ///< a server that can become the manager
  kReplaced = 3,  ///< it was the manager
};

/// Holds what a server knows after that.
struct RoleTold {
  static constexpr const char* kName = "role told";
  RoleKind kind = RoleKind::kServer;
  Mark mark;
  std::string manager;  ///< the manager of the mark's epoch; empty: it has not been told
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A standby asks for a copy of the names, piece by piece, and then for what has changed since.
struct Follow {
  static constexpr const char* kName = "follow";
  Identity standby{};
  uint64_t number = 0;   ///< the number of the copy; 0 begins another
  bool whole = false;    ///< the copy is there, and the changes up to `applied` are in it
  int64_t offset = 0;    ///< the offset of the copy
  uint64_t applied = 0;  ///< the last change, as durable as it was asked to be
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class ChangeForm : uint8_t {
  kRows = 0,    ///< a changeset of SQLite's session extension
  kSchema = 1,  ///< an SQL statement that makes a table, an index or a trigger
};

struct Followed {
  static constexpr const char* kName = "followed";
  /// A piece of a change.
  struct Piece {
    uint64_t sequence = 0;
    ChangeForm form = ChangeForm::kRows;
    bool durable = false;  ///< it, and all before it, are to survive a loss of power
    bool last = true;      ///< the change is complete
    std::vector<std::byte> bytes;
  };
  uint64_t number = 0;
  int64_t total_bytes = 0;  ///< the bytes of the copy; 0: it is being made
  uint64_t first = 0;       ///< the last change that is in the copy
  std::vector<std::byte> copy;
  std::vector<Piece> pieces;
  bool ended = false;  ///< there will be no further changes: the manager was replaced
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Has a standby become the manager.
struct Promote {
  static constexpr const char* kName = "promote";
  bool even_if_behind = false;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Promoted {
  static constexpr const char* kName = "promoted";
  uint64_t epoch = 0;
  std::string manager;
  bool was_reached = false;            ///< the manager before has ended its work in order
  std::vector<std::string> unreached;  ///< servers that have not heard of it
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Returns what a server answers that isn't the store's manager, or not any more. `manager`: who
/// is, if that is known.
Status no_manager(const std::string& manager);
Status replaced_manager(const std::string& manager);
/// Returns true for both: another address of a list may be the manager's.
bool is_no_manager(const Status& status);

}  // namespace stria::wire
