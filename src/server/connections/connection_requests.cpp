// Requests of one message, with one message as reply: names, sizes, syncs, locks, scrubs.
#include <algorithm>
#include <string>

#include "server/connections/background.hpp"
#include "server/connections/connection.hpp"
#include "server/connections/move_requests.hpp"
#include "server/objects/part_survey.hpp"
#include "wire/region.hpp"
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

// The most memory that a decoded datatype takes per byte of its description, because lists
// share sub-trees.
constexpr int64_t kDescriptionFactor = 64;
constexpr int64_t kSmallDescriptionBytes = 256;

/// The most memory that the datatype of a transfer takes, 0 where it hardly takes any; `body` is
/// that of the request.
int64_t memory_of_description(std::span<const std::byte> body) {
  wire::Reader reader(body);
  wire::Transfer().get(reader);
  const auto bytes = static_cast<int64_t>(body.size());
  return wire::Region::is_type(reader) && bytes > kSmallDescriptionBytes ? bytes * kDescriptionFactor : 0;
}

/// The parts that a server has, whatever files they are of.
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

/// Whoever moves a part was asked for nothing more than there is.
Status may_grow(const SharedState& shared, const Object& object, const wire::LocalFile& request) {
  const bool grows = request.local_bytes > object.bytes() && (request.ticket.rights & wire::kMayMove) == 0;
  return grows ? shared.growth.check(request.file) : Status();
}

/// Where the server's bytes of one end. kNotFound while the part moves to another server.
Status extent_of(SharedState& shared, const wire::ExtentsOf::Entry& asked, Tickets::Known& known, wire::Extents::Entry& told) {
  STRIA_RETURN_IF_ERROR(shared.tickets.check(wire::file_of_part(asked.file), asked.ticket, 0, known));
  STRIA_RETURN_IF_ERROR(shared.moving.check(asked.file, asked.ticket));
  STRIA_RETURN_IF_ERROR(shared.objects->look(asked.file, told));
  return shared.moving.check(asked.file, asked.ticket);
}

/// Where the server's bytes of each file end. What can't be told of one keeps none of the others.
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

/// The rights, one of which a ticket has to give. `changes`: the request locks others out, or takes
/// blocks as they are.
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

}  // namespace

asio::awaitable<void> Connection::handle() {
  if (moves_data(header_.kind)) {
    const Budget::Share description = co_await wait_for(shared_->descriptions, memory_of_description(body_));
    const Budget::Share share = co_await wait_for(shared_->buffers.budget(), 1);
    Buffers::Lease lease = shared_->buffers.take();
    if (header_.kind == Kind::kWrite) {
      co_await write_data(lease.data());
    } else {
      co_await read_data(lease.data());
    }
    co_return;
  }
  if (header_.payload_bytes != 0 || header_.more) {
    throw Error(ErrorCode::kFormat, "data where none belong");
  }
  if (wire::first_version_of(header_.kind) > version_) {
    const Status why(ErrorCode::kUnsupported, "version " + std::to_string(*version_) + " of the protocol has no such request");
    co_await refuse(why);
    co_return;
  }
  if (is_of_manager(header_.kind)) {
    co_await ask_manager();
  } else {
    co_await small_request();
  }
}

asio::awaitable<void> Connection::give(const Answer& answer) {
  if (answer.status.ok()) {
    co_await reply(wire::reply_to(header_.kind), answer.body);
  } else {
    co_await refuse(answer.status);
  }
}

asio::awaitable<void> Connection::ask_manager() {
  if (shared_->manager == nullptr) {
    const Status why(ErrorCode::kUnsupported, "this server is no manager of names: use the address of the one that is");
    co_await refuse(why);
    co_return;
  }
  const Question question{session_, header_.kind, header_.request, body_, caller_, *version_};
  std::function<Answer()> work = [shared = shared_, question] { return shared->manager->answer(question); };
  const Answer answer =
      co_await in_background<Answer>(shared_->manager_thread, std::move(work), kWorkingEvery, [this] { return say_working(); });
  handles_ = answer.handles;
  co_await give(answer);
}

Answer Connection::change_object(const wire::LocalFile& request) {
  const bool creates = header_.kind != Kind::kExtent && request.local_bytes > 0;
  const auto object = find_part(*shared_, {request.file, request.ticket, creates, {}});
  if (!object.ok()) {
    return {object.status(), {}};
  }
  if (*object == nullptr) {
    return {{}, header_.kind == Kind::kExtent ? wire::encode(wire::Extent()) : std::vector<std::byte>()};
  }
  if (header_.kind == Kind::kExtent) {
    return {{}, wire::encode((*object)->extent())};
  }
  if (const Status may = may_grow(*shared_, **object, request); !may.ok()) {
    return {may, {}};
  }
  shared_->growth.changed(request.file);
  switch (header_.kind) {
    case Kind::kResize: {
      const Status outcome = (*object)->resize(request.local_bytes);
      shared_->moving.changed_from(request.file, request.local_bytes);
      return {outcome, {}};
    }
    default:
      return {(*object)->reserve(request.local_bytes), {}};
  }
}

asio::awaitable<void> Connection::small_request() {
  if (header_.kind >= Kind::kLock && header_.kind <= Kind::kIsLocked) {
    co_await lock_range();
    co_return;
  }
  if (header_.kind == Kind::kScrub) {
    co_await scrub();
    co_return;
  }
  if (header_.kind == Kind::kStatus) {
    const Answer answer{wire::decode<wire::Nothing>(body_).status(), wire::encode(figures_of(*shared_))};
    co_await give(answer);
    co_return;
  }
  if (header_.kind == Kind::kExtents && body_.size() <= kFewFilesBytes) {
    const Answer answer = extents_of(*shared_, body_);
    co_await give(answer);
    co_return;
  }
  if (header_.kind == Kind::kParts || header_.kind == Kind::kMovePart || header_.kind == Kind::kExtents) {
    std::function<Answer()> work = [self = shared_from_this(), kind = header_.kind] {
      if (kind == Kind::kExtents) {
        return extents_of(*self->shared_, self->body_);
      }
      const auto answer = kind == Kind::kParts ? parts_of : move_part;
      return answer(*self->shared_, self->caller_, self->body_);
    };
    const Answer answer =
        co_await in_background<Answer>(shared_->disk_threads, std::move(work), kWorkingEvery, [this] { return say_working(); });
    co_await give(answer);
    co_return;
  }
  const auto request = wire::decode<wire::LocalFile>(body_);
  const bool known = header_.kind >= Kind::kExtent && header_.kind <= Kind::kSync;
  Status why(ErrorCode::kUnsupported, "this server doesn't know that request");
  if (known && request.ok()) {
    why = check_ticket(request->file, request->ticket, rights_for(header_.kind));
  } else if (known) {
    why = request.status();
  }
  if (!why.ok()) {
    co_await refuse(why);
    co_return;
  }
  Answer answer;
  if (header_.kind == Kind::kExtent) {
    answer = change_object(*request);
  } else {
    std::function<Answer()> work = [this, self = shared_from_this(), request = *request] {
      return header_.kind == Kind::kSync ? Answer{sync_part(*shared_, request), {}} : change_object(request);
    };
    const Ending ending = header_.kind == Kind::kSync ? Ending::kAnyTime : Ending::kAfterwards;
    answer = co_await in_background<Answer>(
        shared_->disk_threads, std::move(work), kWorkingEvery, [this] { return say_working(); }, ending);
  }
  co_await give(answer);
}

asio::awaitable<void> Connection::scrub() {
  const auto request = wire::decode<wire::Scrub>(body_);
  Status may = request.status();
  if (may.ok()) {
    may = check_ticket(request->file, request->ticket, rights_for(header_.kind, request->accept));
  }
  if (!may.ok()) {
    co_await refuse(may);
    co_return;
  }
  std::function<Answer()> work = [self = shared_from_this(), request = *request]() -> Answer {
    const auto object = find_part(*self->shared_, {request.file, request.ticket, false, {}});
    if (!object.ok()) {
      return {object.status(), {}};
    }
    if (*object == nullptr) {
      return {{}, wire::encode(wire::Scrubbed{0, 0, true, {}})};
    }
    const auto scrubbed = (*object)->scrub(request);
    return {scrubbed.status(), scrubbed.ok() ? wire::encode(*scrubbed) : std::vector<std::byte>()};
  };
  const Answer answer =
      co_await in_background<Answer>(shared_->disk_threads, std::move(work), kWorkingEvery, [this] { return say_working(); });
  co_await give(answer);
}

asio::awaitable<void> Connection::lock_range() {
  const auto request = wire::decode<wire::LockRange>(body_);
  Status may = request.status();
  if (may.ok() && header_.kind != Kind::kUnlock) {
    may = check_ticket(request->file, request->ticket, rights_for(header_.kind, request->exclusive));
  }
  if (!may.ok()) {
    co_await refuse(may);
    co_return;
  }
  wire::Answer answer;
  Status outcome;
  if (header_.kind == Kind::kUnlock) {
    answer.yes = shared_->locks.unlock(*request, number_);
  } else if (header_.kind == Kind::kIsLocked) {
    answer.yes = shared_->locks.is_locked(*request);
    outcome = shared_->moving.check(request->file, request->ticket);
  } else {
    const auto until = std::chrono::steady_clock::now() + std::min(milliseconds(header_.deadline_ms), kLongestLockWait);
    while (true) {
      const auto bell = std::make_shared<Bell>(stream_.executor());
      auto got = shared_->locks.try_lock(*request, number_, [bell] { bell->ring(); });
      // Asked after it was taken: a part that is to move has looked for locks after it was held.
      if (const Status moves = shared_->moving.check(request->file, request->ticket); !moves.ok()) {
        static_cast<void>(got.ok() && *got && shared_->locks.unlock(*request, number_));
        got = moves;
      }
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      outcome = got.status();
      answer.yes = got.ok() && *got;
      if (!got.ok() || *got || left.count() <= 0 || shared_->stopping) {
        break;
      }
      co_await bell->wait(std::min(left, kLockSlice));
    }
    shared_->locks.give_up(request->file, number_);
  }
  const Answer given{outcome, wire::encode(answer)};
  co_await give(given);
}

}  // namespace stria::server
