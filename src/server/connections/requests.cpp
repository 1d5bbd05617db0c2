#include "server/connections/requests.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/connections/data_requests.hpp"
#include "server/connections/move_requests.hpp"
#include "server/connections/resources/background.hpp"
#include "server/connections/standby_requests.hpp"
#include "server/objects/part_survey.hpp"
#include "wire/tree.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;
using wire::Kind;

constexpr milliseconds kLongestLockWait{10000};
constexpr size_t kFewFilesBytes = 160;   // a question about so few files is answered at once
constexpr milliseconds kLockSlice{250};  // a server that ends waits no longer for clients that wait

bool is_of_manager(Kind kind) {
  return (kind >= Kind::kOpen && kind <= Kind::kRetire) || (kind >= Kind::kCondition && kind <= Kind::kDiscard) ||
         (kind >= Kind::kMoveBegin && kind <= Kind::kUsage) || (kind >= Kind::kLook && kind <= Kind::kCloseAll);
}

bool moves_data(Kind kind) {
  return kind == Kind::kWrite || kind == Kind::kRead;
}

/// Returns the parts that a server has, whatever files they are of.
Answer parts_of(SharedState& shared, const Caller& caller, std::span<const std::byte> body) {
  if (!caller.is_super) {
    return {Status(ErrorCode::kPermissionDenied, "only root and the servers' user may see the parts of all files"), {}};
  }
  const auto request = wire::decode<wire::Parts>(body);
  if (!request.ok()) {
    return {request.status(), {}};
  }
  const auto page = survey_parts(shared.paths, *request);
  return {page.status(), page.ok() ? wire::encode(*page) : std::vector<std::byte>()};
}

/// Asks whether the request may make the part longer. A client that moves a part was asked for
/// nothing more than there is.
Status may_grow(const SharedState& shared, const Object& object, const wire::LocalFile& request) {
  const bool grows = request.local_bytes > object.bytes() && (request.ticket.rights & wire::kMayMove) == 0;
  return grows ? shared.growth.check(request.file) : Status();
}

/// Tells where the server's bytes of one end. kNotFound while the part moves to another server.
Status extent_of(SharedState& shared, const wire::ExtentsOf::Entry& asked, Tickets::Known& known, wire::Extents::Entry& told) {
  STRIA_RETURN_IF_ERROR(shared.tickets.check(wire::file_of_part(asked.file), asked.ticket, 0, known));
  STRIA_RETURN_IF_ERROR(shared.moving.check(asked.file, asked.ticket));
  STRIA_RETURN_IF_ERROR(shared.objects->look(asked.file, told));
  return shared.moving.check(asked.file, asked.ticket);
}

/// Returns where the server's bytes of each file end. What can't be told of one keeps none of the
/// others.
Answer extents_of(SharedState& shared, std::span<const std::byte> body) {
  const auto request = wire::decode<wire::ExtentsOf>(body);
  if (!request.ok()) {
    return {request.status(), {}};
  }
  Tickets::Known known;
  wire::Extents told;
  for (const wire::ExtentsOf::Entry& each : request->files) {
    wire::Extents::Entry& entry = told.entries.emplace_back();
    entry.error = extent_of(shared, each, known, entry).code();
  }
  return {{}, wire::encode(told)};
}

/// Returns the rights, one of which a ticket has to give. `changes`: the request locks others out,
/// or takes blocks as they are.
uint8_t rights_for(Kind kind, bool changes = false) {
  switch (kind) {
    case Kind::kExtent:
      return 0;
    case Kind::kSync:
    case Kind::kIsLocked:
      return wire::kMayRead | wire::kMayWrite;
    case Kind::kLock:
    case Kind::kScrub:
      return changes ? wire::kMayWrite : wire::kMayRead;
    default:
      return wire::kMayWrite;
  }
}

/// `part`: the number of the part that is asked for.
Status check_ticket(Client& client, uint64_t part, const wire::Ticket& ticket, uint8_t any_of) {
  return client.shared->tickets.check(wire::file_of_part(part), ticket, any_of, client.known_tickets);
}

asio::awaitable<Answer> ask_manager(Client& client) {
  if (!client.shared->manager.is_here()) {
    co_return Answer{wire::no_manager(client.shared->role->manager()), {}};
  }
  Answer answer = co_await done_by_manager(client);
  client.handles = answer.handles;
  const Status may = co_await may_be_told(client, answer);
  co_return may.ok() ? answer : Answer{may, {}};
}

Answer resize_or_reserve(SharedState& shared, Kind kind, const wire::LocalFile& request) {
  const auto object = find_part(shared, {request.file, request.ticket, request.local_bytes > 0, {}});
  if (!object.ok()) {
    return {object.status(), {}};
  }
  if (*object == nullptr) {
    return {};
  }
  if (const Status may = may_grow(shared, **object, request); !may.ok()) {
    return {may, {}};
  }
  shared.growth.changed(request.file);
  if (kind != Kind::kResize) {
    return {(*object)->reserve(request.local_bytes), {}};
  }
  const Status outcome = (*object)->resize(request.local_bytes);
  shared.moving.changed_from(request.file, request.local_bytes);
  return {outcome, {}};
}

Answer extent_answer(SharedState& shared, const wire::LocalFile& request) {
  const auto object = find_part(shared, {request.file, request.ticket, false, {}});
  if (!object.ok()) {
    return {object.status(), {}};
  }
  return {{}, wire::encode(*object == nullptr ? wire::Extent() : (*object)->extent())};
}

/// Returns where the server's bytes of a file end, how many it is to have, or that they survive a
/// power loss.
asio::awaitable<Answer> local_file(Client& client) {
  const Kind kind = client.messages.header().kind;
  const auto request = wire::decode<wire::LocalFile>(client.messages.body());
  if (!request.ok()) {
    co_return Answer{request.status(), {}};
  }
  const Status may = check_ticket(client, request->file, request->ticket, rights_for(kind));
  if (!may.ok()) {
    co_return Answer{may, {}};
  }
  if (kind == Kind::kExtent) {
    co_return extent_answer(*client.shared, *request);
  }
  std::function<Answer()> work = [shared = client.shared, kind, request = *request] {
    return kind == Kind::kSync ? Answer{sync_part(*shared, request), {}} : resize_or_reserve(*shared, kind, request);
  };
  const Ending ending = kind == Kind::kSync ? Ending::kAnyTime : Ending::kAfterwards;
  co_return co_await done_by(client.shared->disk_threads, std::move(work), client, ending);
}

/// Answers requests that look at many files or parts.
asio::awaitable<Answer> survey(Client& client) {
  const Kind kind = client.messages.header().kind;
  if (kind == Kind::kExtents && client.messages.body().size() <= kFewFilesBytes) {
    co_return extents_of(*client.shared, client.messages.body());
  }
  std::function<Answer()> work = [self = client.shared_from_this(), kind] {
    if (kind == Kind::kExtents) {
      return extents_of(*self->shared, self->messages.body());
    }
    const auto answer = kind == Kind::kParts ? parts_of : move_part;
    return answer(*self->shared, self->caller, self->messages.body());
  };
  // A step of a move that was asked for twice would be taken in the midst of a later one: it would
  // let clients to a part that is held, or remove what has come.
  const Ending ending = kind == Kind::kMovePart ? Ending::kAfterwards : Ending::kAnyTime;
  co_return co_await done_by(client.shared->disk_threads, std::move(work), client, ending);
}

Answer scrub_part(SharedState& shared, const wire::Scrub& request) {
  const auto object = find_part(shared, {request.file, request.ticket, false, {}});
  if (!object.ok()) {
    return {object.status(), {}};
  }
  if (*object == nullptr) {
    return {{}, wire::encode(wire::Scrubbed{0, 0, true, {}})};
  }
  const auto scrubbed = (*object)->scrub(request);
  return {scrubbed.status(), scrubbed.ok() ? wire::encode(*scrubbed) : std::vector<std::byte>()};
}

asio::awaitable<Answer> scrub(Client& client) {
  const auto request = wire::decode<wire::Scrub>(client.messages.body());
  Status may = request.status();
  if (may.ok()) {
    may = check_ticket(client, request->file, request->ticket, rights_for(Kind::kScrub, request->accept));
  }
  if (!may.ok()) {
    co_return Answer{may, {}};
  }
  std::function<Answer()> work = [shared = client.shared, request = *request] { return scrub_part(*shared, request); };
  co_return co_await done_by(client.shared->disk_threads, std::move(work), client);
}

/// Tells whether the server of a file's first part, which keeps its locks, is this one still. To be
/// asked after a lock was taken: a part that is to move looks for locks when it is held, and is
/// known as removed before it is no longer known as gone.
Status keeps_locks(SharedState& shared, const wire::LockRange& request) {
  STRIA_RETURN_IF_ERROR(shared.moving.check(request.file, request.ticket));
  return shared.objects->check_not_moved(request.file);
}

/// Takes a lock, or waits for it for as long as the client does. `*yes`: whether it has it.
asio::awaitable<Status> take_lock(Client& client, const wire::LockRange& request, bool* yes) {
  SharedState& shared = *client.shared;
  const milliseconds patience(client.messages.header().deadline_ms);
  const auto until = std::chrono::steady_clock::now() + std::min(patience, kLongestLockWait);
  Status outcome;
  while (true) {
    const auto bell = std::make_shared<Bell>(client.messages.stream().executor());
    auto got = shared.locks.try_lock(request, client.number, [bell] { bell->ring(); });
    if (const Status elsewhere = keeps_locks(shared, request); !elsewhere.ok()) {
      static_cast<void>(got.ok() && *got && shared.locks.unlock(request, client.number));
      got = elsewhere;
    }
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    outcome = got.status();
    *yes = got.ok() && *got;
    if (!got.ok() || *got || left.count() <= 0 || shared.stopping) {
      break;
    }
    co_await bell->wait(std::min(left, kLockSlice));
  }
  shared.locks.give_up(request.file, client.number);
  co_return outcome;
}

asio::awaitable<Answer> lock_range(Client& client) {
  const Kind kind = client.messages.header().kind;
  const auto request = wire::decode<wire::LockRange>(client.messages.body());
  Status outcome = request.status();
  if (outcome.ok() && kind != Kind::kUnlock) {
    outcome = check_ticket(client, request->file, request->ticket, rights_for(kind, request->exclusive));
  }
  if (!outcome.ok()) {
    co_return Answer{outcome, {}};
  }
  wire::Answer answer;
  if (kind == Kind::kUnlock) {
    answer.yes = client.shared->locks.unlock(*request, client.number);
  } else if (kind == Kind::kIsLocked) {
    answer.yes = client.shared->locks.is_locked(*request);
    outcome = keeps_locks(*client.shared, *request);
  } else {
    outcome = co_await take_lock(client, *request, &answer.yes);
  }
  co_return Answer{outcome, wire::encode(answer)};
}

/// Returns the answer of one message to a request of one message.
asio::awaitable<Answer> answer_of(Client& client) {
  const Kind kind = client.messages.header().kind;
  if (const uint16_t version = client.messages.version(); wire::first_version_of(kind) > version) {
    co_return Answer{
        Status(ErrorCode::kUnsupported, "version " + std::to_string(version) + " of the protocol has no such request"), {}};
  }
  if (is_of_manager(kind)) {
    co_return co_await ask_manager(client);
  }
  if (kind >= Kind::kLock && kind <= Kind::kIsLocked) {
    co_return co_await lock_range(client);
  }
  if (kind >= Kind::kExtent && kind <= Kind::kSync) {
    co_return co_await local_file(client);
  }
  switch (kind) {
    case Kind::kScrub:
      co_return co_await scrub(client);
    case Kind::kRole:
      co_return co_await tell_role(client);
    case Kind::kFollow:
      co_return co_await follow(client);
    case Kind::kPromote:
      co_return co_await promote(client);
    case Kind::kStatus:
      co_return Answer{wire::decode<wire::Nothing>(client.messages.body()).status(), wire::encode(figures_of(*client.shared))};
    case Kind::kParts:
    case Kind::kMovePart:
    case Kind::kExtents:
      co_return co_await survey(client);
    default:
      co_return Answer{Status(ErrorCode::kUnsupported, "this server doesn't know that request"), {}};
  }
}

}  // namespace

asio::awaitable<void> answer_request(Client& client) {
  Messages& messages = client.messages;
  if (moves_data(messages.header().kind)) {
    co_await move_data(client);
    co_return;
  }
  if (messages.header().payload_bytes != 0 || messages.header().more) {
    throw Error(ErrorCode::kFormat, "data where none belong");
  }
  const Answer answer = co_await answer_of(client);
  co_await messages.give(answer);
}

}  // namespace stria::server
