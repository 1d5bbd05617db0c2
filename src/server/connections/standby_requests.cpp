#include "server/connections/standby_requests.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "wire/address.hpp"
#include "wire/standby.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;

// A manager that waits for servers is asked so often whether it has heard of them.
constexpr milliseconds kAskAgainAfter{25};
// A standby that hears nothing for so long asks whether the manager lives.
constexpr milliseconds kNewsEvery{1000};
// A client learns after so long that neither the standby nor enough servers answer.
constexpr std::chrono::seconds kLongestDoubt{20};
// The standby that takes over fetches what it doesn't have.
constexpr std::chrono::seconds kForLastChanges{5};

wire::RoleTold role_of(const SharedState& shared) {
  wire::RoleTold told{wire::RoleKind::kServer, shared.role->mark(), shared.role->manager()};
  if (shared.manages()) {
    told.kind = wire::RoleKind::kManager;
    told.mark.epoch = std::max(told.mark.epoch, shared.manager->epoch());
  } else if (shared.was_replaced()) {
    told.kind = wire::RoleKind::kReplaced;
  } else if (shared.promote) {
    told.kind = wire::RoleKind::kStandby;
  }
  return told;
}

/// This runs on the manager's thread, so that what it has done before goes to the standby, and
/// nothing is done after.
Answer keep_role(SharedState& shared, const wire::Role& request) {
  if (const Status place = wire::Address::parse(request.manager).status(); !place.ok()) {
    return {place, {}};
  }
  const uint64_t before = shared.role->epoch();
  const Status kept =
      request.step == wire::RoleStep::kFence ? shared.role->fence(request) : shared.role->note(request.mark, request.manager);
  if (!kept.ok()) {
    return {kept, {}};
  }
  if (const uint64_t epoch = shared.role->epoch(); epoch > before) {
    shared.tickets.fence(epoch);
    shared.watch.tell({Level::kInfo, "manager_changed",
                       "the store's manager is now the one at " + shared.role->manager() + ", epoch " + std::to_string(epoch)});
  }
  return {{}, wire::encode(role_of(shared))};
}

Status check_trusted(const Client& client) {
  return client.caller.trusted ? Status()
                               : Status(ErrorCode::kPermissionDenied, "only a server of the store says who its manager is");
}

Status in_doubt() {
  return Status(ErrorCode::kIo,
                "it isn't known whether that will last: neither the manager's standby nor most servers of the store answer");
}

/// Returns true for what the manager answers in some microseconds, without a wait for the disk:
/// most of what a client asks for one name.
bool is_quick(wire::Kind kind) {
  using wire::Kind;
  switch (kind) {
    case Kind::kOpen:
    case Kind::kMake:
    case Kind::kClose:
    case Kind::kCloseAll:
    case Kind::kReclaim:
    case Kind::kStat:
    case Kind::kLook:
    case Kind::kRename:
    case Kind::kRemove:
    case Kind::kMakeDirectory:
    case Kind::kChange:
    case Kind::kGetAttribute:
      return true;
    default:
      return false;
  }
}

/// Runs `work` on this thread where the manager has nothing else to do, and otherwise on the
/// manager's.
asio::awaitable<Answer> asked_of_manager(Client& client, std::function<Answer()> work, bool at_once) {
  const auto shared = client.shared;
  std::optional<Answer> answer;
  if (!at_once || !shared->manager_thread.try_now([&] { answer = work(); })) {
    answer = co_await done_by(shared->manager_thread, std::move(work), client);
  }
  if (answer->log_is_long) {
    shared->manager_thread.post([shared] { shared->manager->tidy(); });
  }
  co_return std::move(*answer);
}

}  // namespace

asio::awaitable<Answer> done_by_manager(Client& client) {
  const Messages& messages = client.messages;
  const Question question{client.session,  messages.header().kind, messages.header().request,
                          messages.body(), client.caller,          messages.version()};
  std::function<Answer()> work = [shared = client.shared, question] {
    return shared->was_replaced() ? Answer{wire::replaced_manager(shared->role->manager()), {}}
                                  : shared->manager->answer(question);
  };
  auto said_at = std::chrono::steady_clock::now();
  Answer answer = co_await asked_of_manager(client, work, is_quick(question.kind));
  while (answer.too_early && !client.shared->stopping) {
    co_await std::make_shared<Bell>(client.messages.stream().executor())->wait(kAskAgainAfter);
    if (const auto now = std::chrono::steady_clock::now(); now - said_at >= kNewsEvery) {
      co_await client.messages.say_working();
      said_at = now;
    }
    answer = co_await asked_of_manager(client, work, false);
  }
  co_return answer;
}

asio::awaitable<Status> may_be_told(Client& client, const Answer& answer) {
  if (!answer.after_change) {
    co_return Status();
  }
  const auto shared = client.shared;
  const auto asked = std::chrono::steady_clock::now();
  while (true) {
    const auto bell = std::make_shared<Bell>(client.messages.stream().executor());
    if (shared->stream->may_answer(*answer.after_change, [bell] { bell->ring(); })) {
      co_return Status();
    }
    const auto time = std::chrono::steady_clock::now() - asked;
    if (shared->was_replaced() && time > kForLastChanges) {
      co_return wire::replaced_manager(shared->role->manager());
    }
    if (time > kLongestDoubt || shared->stopping) {
      co_return in_doubt();
    }
    if (!co_await bell->wait(kNewsEvery)) {
      co_await client.messages.say_working();
    }
  }
}

asio::awaitable<Answer> tell_role(Client& client) {
  const auto request = wire::decode<wire::Role>(client.messages.body());
  if (!request.ok()) {
    co_return Answer{request.status(), {}};
  }
  if (request->step == wire::RoleStep::kAsk) {
    co_return Answer{{}, wire::encode(role_of(*client.shared))};
  }
  if (const Status may = check_trusted(client); !may.ok()) {
    co_return Answer{may, {}};
  }
  std::function<Answer()> work = [shared = client.shared, request = *request] { return keep_role(*shared, request); };
  co_return co_await done_by(client.shared->manager_thread, std::move(work), client);
}

asio::awaitable<Answer> follow(Client& client) {
  const auto shared = client.shared;
  const auto request = wire::decode<wire::Follow>(client.messages.body());
  Status may = request.ok() ? check_trusted(client) : request.status();
  if (may.ok() && !shared->manager.is_here()) {
    may = wire::no_manager(shared->role->manager());
  }
  if (!may.ok()) {
    co_return Answer{may, {}};
  }
  if (!request->whole) {
    co_return co_await done_by_manager(client);
  }
  const auto asked = std::chrono::steady_clock::now();
  while (true) {
    const bool ended = shared->was_replaced();
    const auto bell = std::make_shared<Bell>(client.messages.stream().executor());
    auto told = shared->stream->follow(*request, [bell] { bell->ring(); });
    const auto left = std::chrono::ceil<milliseconds>(asked + kNewsEvery - std::chrono::steady_clock::now());
    if (!told.ok() || !told->pieces.empty() || ended || left.count() <= 0 || shared->stopping) {
      if (told.ok()) {
        told->ended = ended && told->pieces.empty();
      }
      co_return Answer{told.status(), told.ok() ? wire::encode(*told) : std::vector<std::byte>()};
    }
    co_await bell->wait(left);
  }
}

asio::awaitable<Answer> promote(Client& client) {
  const auto shared = client.shared;
  const auto request = wire::decode<wire::Promote>(client.messages.body());
  Status may = request.status();
  if (may.ok() && !client.caller.is_super) {
    may = Status(ErrorCode::kPermissionDenied, "only root and the servers' user make a standby the manager");
  } else if (may.ok() && shared->manages()) {
    may = Status(ErrorCode::kAlreadyExists, "this server is the store's manager already");
  } else if (may.ok() && !shared->promote) {
    may = Status(ErrorCode::kUnsupported,
                 "this server is no standby: only one that was started by 'stria serve --standby' can become the manager");
  }
  if (!may.ok()) {
    co_return Answer{may, {}};
  }
  std::function<Answer()> work = [shared, request = *request] {
    const auto promoted = shared->promote(request);
    return Answer{promoted.status(), promoted.ok() ? wire::encode(*promoted) : std::vector<std::byte>()};
  };
  co_return co_await done_by(shared->standby_thread, std::move(work), client, Ending::kAfterwards);
}

}  // namespace stria::server
