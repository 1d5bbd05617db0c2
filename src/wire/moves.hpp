// The messages by which parts of files move to other servers (docs/formats/wire.md, "Moves").
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

/// Asks the manager to let a part of the file move from one server to another.
struct MoveBegin {
  static constexpr const char* kName = "move begin";
  uint64_t file = 0;
  int64_t from = 0;  ///< servers, by their indices
  int64_t to = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Holds what the mover has to know. The ticket is of this move alone, and stands for it.
struct MoveBegun {
  static constexpr const char* kName = "move begun";
  Ticket ticket;
  Layout layout;
  int64_t slot = 0;
  ServerPlace from;
  ServerPlace to;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A move, for kMoveCommit and kMoveAbort.
struct MoveOf {
  static constexpr const char* kName = "move";
  uint64_t file = 0;
  Ticket ticket;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what an I/O server asks the manager about parts on their way to it or from it.
struct MovesAsked {
  static constexpr const char* kName = "moves asked";
  struct Entry {
    uint64_t part = 0;
    bool ends = false;  ///< the move has kept clients waiting for too long, and is to end
  };
  Identity server{};
  bool starts = false;  ///< the server has just started: moves of its parts are at an end
  std::vector<Entry> parts;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

enum class PartMoves : uint8_t {
  kUnderWay = 0,
  kHere = 1,       ///< there is no move, and the part is that server's
  kElsewhere = 2,  ///< there is no move, and it is not
};

struct MovesTold {
  static constexpr const char* kName = "moves told";
  std::vector<PartMoves> parts;  ///< the answers, in the order of the questions
  // A server that starts is told:
  std::vector<uint64_t> gone;   ///< parts that have moved away, and are still there
  uint64_t last_expiry_ms = 0;  ///< moves with tickets up to this one are at an end
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Asks where the parts of a file are.
struct Where {
  static constexpr const char* kName = "where";
  uint64_t file = 0;
  void put(Writer& writer) const { writer.natural(file); }
  void get(Reader& reader) { file = reader.natural(); }
};

struct Places {
  static constexpr const char* kName = "places";
  std::vector<ServerPlace> slots;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what a server is to do with a part that moves. From kHold on only the bearer of the move's
/// ticket gets at it.
enum class MoveStep : uint8_t {
  kFollow = 0,   ///< source: notes what clients change from now on; tells what they have changed
  kHold = 1,     ///< source: lets no client to it any more; tells what they have changed
  kRelease = 2,  ///< source: clients may have it again
  kReceive = 3,  ///< target: removes what it has of the part, and takes it from the mover alone
  kOpen = 4,     ///< target: the part is the file's now
  kGone = 5,     ///< source: the part is the file's no more
};

/// An I/O server is told this.
struct MovePart {
  static constexpr const char* kName = "move part";
  uint64_t part = 0;
  Ticket ticket;
  MoveStep step = MoveStep::kFollow;
  uint64_t since = 0;       ///< kFollow, kHold: tells of changes from this number of theirs on
  int64_t modified_ns = 0;  ///< kOpen: when the part's bytes changed last
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Returns what a server or the manager says of a move that has ended before, as the manager was
/// started again or another has taken over.
Status move_is_over();
bool is_move_over(const Status& status);

struct PartMoved {
  static constexpr const char* kName = "part moved";
  Extent extent;
  bool exists = false;
  uint64_t changes = 0;            ///< the number of the next change
  std::vector<ByteRange> changed;  ///< ranges of the part's own bytes
  void put(Writer& writer) const;
  void get(Reader& reader);
};

}  // namespace stria::wire
