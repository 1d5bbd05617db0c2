#include "server/manager/moves.hpp"

#include <algorithm>

#include "server/manager/database/names_fields.hpp"

namespace stria::server {

namespace {

// A part may take days to copy, where the rate is limited.
constexpr uint64_t kTicketLifeMs = uint64_t{7} * 24 * 3600 * 1000;
constexpr uint64_t kNsOfTicketMs = 1000000;
constexpr const char* kMoveTables = R"(
CREATE TABLE IF NOT EXISTS moves (file INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS moved_places (file INTEGER NOT NULL, place INTEGER NOT NULL, slot INTEGER NOT NULL,
  PRIMARY KEY (file, place)) WITHOUT ROWID;
)";

uint64_t expiry_now_ms() {
  return static_cast<uint64_t>(now_ns()) / kNsOfTicketMs + kTicketLifeMs;
}

Status check_mover(const Caller& caller) {
  return caller.is_super ? Status()
                         : Status(ErrorCode::kPermissionDenied, "only root and the manager's user move parts of files");
}

uint64_t part_at(uint64_t file, int64_t place) {
  return wire::part_number(file, wire::is_second(place));
}

bool has(const std::vector<int64_t>& places, int64_t place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

}  // namespace

bool Moves::Move::concerns(int64_t server, uint64_t part, uint64_t file) const {
  return (wire::server_of(from) == server && part_at(file, from) == part) ||
         (wire::server_of(to) == server && part_at(file, to) == part);
}

Status Moves::load() {
  last_expiry_ms_ = expiry_now_ms();
  STRIA_ASSIGN_OR_RETURN(const bool any, names_.database().has_table("moves"));
  if (!any) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(names_.database().script(kMoveTables));
  STRIA_RETURN_IF_ERROR(names_.database().run("DELETE FROM moved_places WHERE file NOT IN (SELECT id FROM inodes)"));
  std::vector<uint64_t> left;
  {
    Query rows = names_.database().query("SELECT file FROM moves");
    while (rows.next()) {
      left.push_back(static_cast<uint64_t>(rows.number(0)));
    }
    STRIA_RETURN_IF_ERROR(rows.status());
  }
  for (const uint64_t file : left) {
    STRIA_RETURN_IF_ERROR(end(file));
  }
  return {};
}

Result<Moves::Row> Moves::row_of(uint64_t file) {
  Query query = names_.database().query("SELECT stripe_bytes, servers FROM inodes WHERE id = ? AND directory = 0",
                                        static_cast<int64_t>(file));
  if (!query.next()) {
    return query.status().ok() ? Status(ErrorCode::kNotFound, "the file has been removed") : query.status();
  }
  return Row{query.number(0), decode_servers(query.bytes(1))};
}

Result<bool> Moves::is_free(uint64_t file, int64_t place, int64_t slot, const Row& row) {
  if (has(row.places, place)) {
    return false;
  }
  Query had =
      names_.database().query("SELECT slot FROM moved_places WHERE file = ? AND place = ?", static_cast<int64_t>(file), place);
  const bool is_other = had.next() && had.number(0) != slot;
  STRIA_RETURN_IF_ERROR(had.status());
  return !is_other;
}

Status Moves::keep_place(uint64_t file, int64_t place, int64_t slot) {
  return names_.database().run("INSERT OR IGNORE INTO moved_places VALUES (?, ?, ?)", static_cast<int64_t>(file), place, slot);
}

/// Chooses which of the file's parts goes, and as which it comes.
Result<Moves::Move> Moves::chosen(const wire::MoveBegin& request, const Row& row) {
  const auto from =
      std::find_if(row.places.begin(), row.places.end(), [&](int64_t place) { return wire::server_of(place) == request.from; });
  if (from == row.places.end()) {
    return Status(ErrorCode::kNotFound, "the file has no part on server " + std::to_string(request.from));
  }
  Move move{.ticket = {}, .session = {}, .from = *from, .to = -1};
  for (const bool second : {false, true}) {
    const int64_t place = wire::place_on(request.to, second);
    STRIA_ASSIGN_OR_RETURN(const bool may, is_free(request.file, place, from - row.places.begin(), row));
    if (may && move.to < 0 && request.to != request.from) {
      move.to = place;
    }
  }
  if (move.to < 0) {
    return Status(
        ErrorCode::kInvalidArgument,
        "server " + std::to_string(request.to) + " has two parts of the file, the most that a server may have, or had others");
  }
  Query leaving = names_.database().query("SELECT 1 FROM dead WHERE server = ? AND file = ?", request.to,
                                          static_cast<int64_t>(part_at(request.file, move.to)));
  if (leaving.next()) {
    return Status(ErrorCode::kAborted, "server " + std::to_string(request.to) + " is still to remove what it had of the file");
  }
  STRIA_RETURN_IF_ERROR(leaving.status());
  return move;
}

Result<wire::MoveBegun> Moves::begin(const Caller& caller, const wire::Identity& session, const wire::MoveBegin& request) {
  STRIA_RETURN_IF_ERROR(check_mover(caller));
  if (const auto before = moves_.find(request.file); before != moves_.end()) {
    if (before->second.session != session) {
      return Status(ErrorCode::kAlreadyExists, "another command moves a part of the file");
    }
    STRIA_RETURN_IF_ERROR(end(request.file));
  }
  STRIA_ASSIGN_OR_RETURN(const Row row, row_of(request.file));
  // Made by the first move, so that a store without moves needs no space for them.
  STRIA_RETURN_IF_ERROR(names_.database().script(kMoveTables));
  STRIA_ASSIGN_OR_RETURN(Move move, chosen(request, row));
  std::vector<wire::ServerPlace> ends;
  STRIA_RETURN_IF_ERROR(fleet_.describe(std::vector<int64_t>{move.from, move.to}, ends));
  for (const wire::ServerPlace& server : ends) {
    if (server.address.empty()) {
      return Status(ErrorCode::kIo, "server " + std::to_string(server.index) + " is gone");
    }
  }
  names_.unsynced().note();
  const auto slot = std::find(row.places.begin(), row.places.end(), move.from) - row.places.begin();
  for (const int64_t place : {move.from, move.to}) {
    STRIA_RETURN_IF_ERROR(keep_place(request.file, place, slot));
  }
  STRIA_RETURN_IF_ERROR(
      names_.database().run("INSERT OR REPLACE INTO moves VALUES (?, ?)", static_cast<int64_t>(request.file), move.to));
  // The names are synced, so that the target removes what it gets in vain, also after a loss of
  // power.
  STRIA_RETURN_IF_ERROR(names_.unsynced().sync());
  // Each move has a ticket of its own.
  last_expiry_ms_ = std::max(last_expiry_ms_ + 1, expiry_now_ms());
  constexpr uint8_t kRights = wire::kMayRead | wire::kMayWrite | wire::kMayMove;
  move.ticket = wire::issue_ticket(names_.seals().tickets, request.file, kRights, last_expiry_ms_);
  move.session = session;
  moves_[request.file] = move;
  return wire::MoveBegun{
      move.ticket, {row.stripe_bytes, static_cast<int64_t>(row.places.size())}, slot, std::move(ends[0]), std::move(ends[1])};
}

/// The server of that place removes its part of the file.
Status Moves::leave(uint64_t file, int64_t place) {
  names_.unsynced().note();
  return names_.database().run("INSERT OR IGNORE INTO dead VALUES (?, ?)", wire::server_of(place),
                               static_cast<int64_t>(part_at(file, place)));
}

/// Ends a move that was not committed.
Status Moves::end(uint64_t file) {
  moves_.erase(file);
  int64_t target = -1;
  {
    Query row = names_.database().query("SELECT target FROM moves WHERE file = ?", static_cast<int64_t>(file));
    target = row.next() ? row.number(0) : -1;
    STRIA_RETURN_IF_ERROR(row.status());
  }
  if (target < 0) {
    return {};
  }
  const auto row = row_of(file);
  if (!row.ok() && row.status().code() != ErrorCode::kNotFound) {
    return row.status();
  }
  if (!row.ok() || !has(row->places, target)) {
    STRIA_RETURN_IF_ERROR(leave(file, target));
  }
  return names_.database().run("DELETE FROM moves WHERE file = ?", static_cast<int64_t>(file));
}

Status Moves::commit(const Caller& caller, const wire::MoveOf& move) {
  STRIA_RETURN_IF_ERROR(check_mover(caller));
  const auto found = moves_.find(move.file);
  if (found == moves_.end() || found->second.ticket != move.ticket) {
    return wire::move_is_over();
  }
  const Move made = found->second;
  std::vector<wire::ServerPlace> target;
  STRIA_RETURN_IF_ERROR(fleet_.describe(std::vector<int64_t>{made.to}, target));
  if (target.front().address.empty()) {
    return Status(ErrorCode::kAborted, "the server was taken out of the store meanwhile");
  }
  STRIA_ASSIGN_OR_RETURN(Row row, row_of(move.file));
  const auto slot = std::find(row.places.begin(), row.places.end(), made.from);
  if (slot == row.places.end()) {
    return Status(ErrorCode::kAborted, "the part was moved by others");
  }
  *slot = made.to;
  names_.unsynced().note();
  STRIA_RETURN_IF_ERROR(names_.database().run("UPDATE inodes SET servers = ? WHERE id = ?",
                                              std::span<const std::byte>(encode_servers(row.places)),
                                              static_cast<int64_t>(move.file)));
  STRIA_RETURN_IF_ERROR(leave(move.file, made.from));
  STRIA_RETURN_IF_ERROR(names_.database().run("DELETE FROM moves WHERE file = ?", static_cast<int64_t>(move.file)));
  moves_.erase(move.file);
  return {};
}

Status Moves::undo(const Caller& caller, const wire::MoveOf& move) {
  STRIA_RETURN_IF_ERROR(check_mover(caller));
  const auto found = moves_.find(move.file);
  return found == moves_.end() || found->second.ticket != move.ticket ? Status() : end(move.file);
}

Result<wire::PartMoves> Moves::state_of(int64_t server, const wire::MovesAsked::Entry& asked) {
  const uint64_t file = wire::file_of_part(asked.part);
  if (const auto found = moves_.find(file); found != moves_.end() && found->second.concerns(server, asked.part, file)) {
    if (!asked.ends) {
      return wire::PartMoves::kUnderWay;
    }
    STRIA_RETURN_IF_ERROR(end(file));
  }
  const auto row = row_of(file);
  if (!row.ok()) {
    return row.status().code() == ErrorCode::kNotFound ? Result<wire::PartMoves>(wire::PartMoves::kElsewhere) : row.status();
  }
  return has(row->places, wire::place_on(server, file != asked.part)) ? wire::PartMoves::kHere : wire::PartMoves::kElsewhere;
}

// A server that starts has forgotten what it knew of moves, so these are at an end.
Status Moves::server_starts(int64_t server, std::optional<uint64_t> after, std::vector<uint64_t>& left_behind) {
  std::vector<uint64_t> ended;
  for (const auto& [file, move] : moves_) {
    if (wire::server_of(move.from) == server || wire::server_of(move.to) == server) {
      ended.push_back(file);
    }
  }
  for (const uint64_t file : ended) {
    STRIA_RETURN_IF_ERROR(end(file));
  }
  std::vector<uint64_t> leaving;
  {
    Query query = names_.database().query("SELECT file FROM dead WHERE server = ? AND (file > ? OR ? = 0) ORDER BY file",
                                          server, static_cast<int64_t>(after.value_or(0)), static_cast<int64_t>(after ? 1 : 0));
    while (query.next()) {
      leaving.push_back(static_cast<uint64_t>(query.number(0)));
    }
    STRIA_RETURN_IF_ERROR(query.status());
  }
  for (const uint64_t part : leaving) {
    if (left_behind.size() == wire::kMaxListed) {
      break;
    }
    const Status known = row_of(wire::file_of_part(part)).status();
    if (known.ok()) {
      left_behind.push_back(part);
    } else if (known.code() != ErrorCode::kNotFound) {
      return known;
    }
  }
  return {};
}

// Clients are let to a part or kept from it by what is said here: neither a loss of power nor a
// standby that takes over may undo it.
Result<wire::MovesTold> Moves::ask(const wire::MovesAsked& asked, bool unsure) {
  STRIA_ASSIGN_OR_RETURN(const int64_t server, fleet_.index_of(asked.server));
  wire::MovesTold told;
  if (asked.starts) {
    const auto after = asked.parts.empty() ? std::optional<uint64_t>() : asked.parts.back().part;
    STRIA_RETURN_IF_ERROR(server_starts(server, after, told.gone));
    told.last_expiry_ms = last_expiry_ms_;
  }
  for (const wire::MovesAsked::Entry& entry : asked.parts) {
    STRIA_ASSIGN_OR_RETURN(const wire::PartMoves state,
                           unsure ? Result<wire::PartMoves>(wire::PartMoves::kUnderWay) : state_of(server, entry));
    told.parts.push_back(state);
  }
  const bool any_over = std::any_of(told.parts.begin(), told.parts.end(),
                                    [](wire::PartMoves state) { return state != wire::PartMoves::kUnderWay; });
  STRIA_RETURN_IF_ERROR(
      any_over || !told.gone.empty() ? with_reserve(names_.reserve(), [&] { return names_.unsynced().sync(); }) : Status());
  return told;
}

Result<wire::Places> Moves::where(const wire::Where& request) {
  STRIA_ASSIGN_OR_RETURN(const Row row, row_of(request.file));
  wire::Places places;
  STRIA_RETURN_IF_ERROR(fleet_.describe(row.places, places.slots));
  return places;
}

bool Moves::comes_to(int64_t server, uint64_t part) const {
  const auto found = moves_.find(wire::file_of_part(part));
  return found != moves_.end() && wire::server_of(found->second.to) == server &&
         part_at(found->first, found->second.to) == part;
}

void Moves::session_ended(const wire::Identity& session) {
  std::vector<uint64_t> ended;
  for (const auto& [file, move] : moves_) {
    if (move.session == session) {
      ended.push_back(file);
    }
  }
  for (const uint64_t file : ended) {
    // What can't be noted now stays in the table, until the file moves again or the manager starts.
    static_cast<void>(with_reserve(names_.reserve(), [&] { return end(file); }));
  }
}

}  // namespace stria::server
