#include "server/connections/move_requests.hpp"

#include <algorithm>

#include "server/connections/client.hpp"

namespace stria::server {

namespace {

using wire::MoveStep;

Status busy(const char* why) {
  return Status(ErrorCode::kAborted, std::string("the part can't move now: ") + why);
}

/// Notes end as they do when a server is started again: their holders take them again where the
/// part is then.
void drop_notes(SharedState& shared, const std::vector<RangeLocks::Owner>& owners) {
  const std::lock_guard lock(shared.sessions_mutex);
  for (const auto& [session, client] : shared.sessions) {
    if (std::find(owners.begin(), owners.end(), client->number) != owners.end()) {
      client->stop();
    }
  }
}

Status hold(SharedState& shared, const wire::MovePart& request) {
  STRIA_RETURN_IF_ERROR(shared.moving.hold(request.part, request.ticket));
  const auto notes = shared.locks.owners_of_notes(request.part);
  Status outcome = notes ? Status() : busy("a client has locked bytes of the file");
  if (outcome.ok() && !shared.objects->wait_until_unused(request.part)) {
    outcome = busy("a client is in the midst of a request");
  }
  if (!outcome.ok()) {
    shared.moving.release(request.part, request.ticket);
    return outcome;
  }
  drop_notes(shared, *notes);
  return {};
}

Status take_step(SharedState& shared, const wire::MovePart& request) {
  switch (request.step) {
    case MoveStep::kFollow:
      return shared.moving.follow(request.part, request.ticket);
    case MoveStep::kHold:
      return hold(shared, request);
    case MoveStep::kRelease:
      shared.moving.release(request.part, request.ticket);
      return {};
    case MoveStep::kReceive:
      STRIA_RETURN_IF_ERROR(shared.moving.receive(request.part, request.ticket));
      return shared.objects->make_way(request.part);
    case MoveStep::kOpen:
      return shared.moving.open(request.part, request.ticket, [&] {
        return request.modified_ns > 0 ? shared.objects->set_modified(request.part, request.modified_ns) : Status();
      });
    case MoveStep::kGone:
      return shared.moving.gone(request.part, request.ticket);
  }
  return {};
}

Result<wire::PartMoved> moved(SharedState& shared, const wire::MovePart& request) {
  STRIA_RETURN_IF_ERROR(take_step(shared, request));
  wire::PartMoved answer;
  if (request.step != MoveStep::kFollow && request.step != MoveStep::kHold) {
    return answer;
  }
  shared.moving.tell_changes(request.part, request.since, answer);
  STRIA_ASSIGN_OR_RETURN(const auto object, shared.objects->find(request.part, false));
  answer.exists = object != nullptr;
  answer.extent = answer.exists ? object->extent() : wire::Extent();
  return answer;
}

}  // namespace

Result<std::shared_ptr<Object>> find_part(SharedState& shared, const PartUse& use) {
  // The check comes before, since a part that comes would be made anew here; and after, since only
  // a user that has the object keeps it from being held.
  STRIA_RETURN_IF_ERROR(shared.moving.check(use.part, use.ticket));
  STRIA_ASSIGN_OR_RETURN(auto object, shared.objects->find(use.part, use.creates, use.place));
  STRIA_RETURN_IF_ERROR(shared.moving.check(use.part, use.ticket));
  return object;
}

Status sync_part(SharedState& shared, const wire::LocalFile& request) {
  STRIA_ASSIGN_OR_RETURN(const auto object, find_part(shared, {request.file, request.ticket, false, {}}));
  return shared.objects->sync(request.file);
}

Answer move_part(SharedState& shared, const Caller& caller, std::span<const std::byte> body) {
  if (!caller.is_super) {
    return {Status(ErrorCode::kPermissionDenied, "only root and the servers' user move parts of files"), {}};
  }
  const auto request = wire::decode<wire::MovePart>(body);
  if (!request.ok()) {
    return {request.status(), {}};
  }
  Tickets::Known unknown;
  const Status genuine = shared.tickets.check(wire::file_of_part(request->part), request->ticket, wire::kMayMove, unknown);
  if (!genuine.ok()) {
    return {genuine, {}};
  }
  const auto answer = moved(shared, *request);
  return {answer.status(), answer.ok() ? wire::encode(*answer) : std::vector<std::byte>()};
}

}  // namespace stria::server
