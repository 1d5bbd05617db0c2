// Parts of files that move to other servers while clients use them, as the manager sees it.
//
// Problem: a part is on one server at any moment, whoever ends in the midst of a move: the one that
// copies (`stria server drain`), either server, or this manager.
// Method: a move is one file's, and has a ticket of its own, by which both servers know it. It ends
// with a change of the file's row, which also has the old server remove its part; or it is
// undone, and the new server removes what it got. Both servers ask here how a move stands, and a
// server that starts ends those of its parts before it lets clients in. So the manager alone
// decides, in the order of its requests. A move lives as long as the connection of who began it.
// The row in the table `moves` is for what the target has to remove after the manager was ended.
// A client that has a file open asks for a part by the file's number, where the part was when it
// opened the file. So a place that had a part of a file never gets another one, only the same
// again: `moved_places` keeps which.
// Cost: two syncs of the names for a move. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "server/manager/fleet/fleet.hpp"
#include "server/manager/names/names.hpp"
#include "wire/moves.hpp"

namespace stria::server {

class Moves {
 public:
  /// Both outlive this.
  Moves(Names& names, Fleet& fleet) : names_(names), fleet_(fleet) {}

  /// Undoes what is left of moves in the database.
  Status load();

  /// Begins a move. kAborted: for a moment it can't. kAlreadyExists: another command moves the
  /// file.
  Result<wire::MoveBegun> begin(const Caller& caller, const wire::Identity& session, const wire::MoveBegin& request);
  /// The part is on the new server from now on. kAborted when the move has been ended before.
  Status commit(const Caller& caller, const wire::MoveOf& move);
  /// Undoes a move; one that is over already is not touched.
  Status undo(const Caller& caller, const wire::MoveOf& move);
  /// Answers a server of the store. What is told lasts. `unsure`: a standby may take over without
  /// the last changes, so that nothing is said of moves but that they are under way.
  Result<wire::MovesTold> ask(const wire::MovesAsked& asked, bool unsure);
  Result<wire::Places> where(const wire::Where& request);
  /// Tells whether a part is being copied to that server.
  bool comes_to(int64_t server, uint64_t part) const;
  void session_ended(const wire::Identity& session);

 private:
  struct Move {
    wire::Ticket ticket;
    wire::Identity session{};
    int64_t from = 0;  ///< places, as the file's row has them
    int64_t to = 0;
    bool concerns(int64_t server, uint64_t part, uint64_t file) const;
  };
  struct Row {
    int64_t stripe_bytes = 0;
    std::vector<int64_t> places;
  };
  /// kNotFound when the file has gone.
  Result<Row> row_of(uint64_t file);
  Result<Move> chosen(const wire::MoveBegin& request, const Row& row);
  /// Tells whether the place of that file may have the part: nothing of it is there, and nothing
  /// was but this part.
  Result<bool> is_free(uint64_t file, int64_t place, int64_t slot, const Row& row);
  Status keep_place(uint64_t file, int64_t place, int64_t slot);
  Status leave(uint64_t file, int64_t place);
  Status end(uint64_t file);
  Result<wire::PartMoves> state_of(int64_t server, const wire::MovesAsked::Entry& asked);
  /// Adds to `left_behind` the parts that have left this server for another, and of which it may
  /// still have the bytes: those with numbers behind `after`, as many as a message may have.
  Status server_starts(int64_t server, std::optional<uint64_t> after, std::vector<uint64_t>& left_behind);

  Names& names_;
  Fleet& fleet_;
  std::map<uint64_t, Move> moves_;  ///< by file
  uint64_t last_expiry_ms_ = 0;
};

}  // namespace stria::server
