#include "storage/striped/call.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "storage/striped/frame_stream.hpp"
#include "wire/standby.hpp"

namespace stria::storage {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{5};
constexpr milliseconds kLongestRetryPause{500};
constexpr milliseconds kConnectPatience{3000};
// Where there are other addresses, one from which nothing comes is left after so long.
constexpr milliseconds kSilence{12000};
// When a server was never reached, its address is more likely wrong than the server restarting.
constexpr milliseconds kFirstPatience{5000};
// The patience begins anew each time something moves. This keeps a server that always fails
// half-way from holding the call for ever.
constexpr int kMostAttempts = 1000;

// A server that was given up gets so much time to be reached again. A program that fails makes some
// more calls before it ends, and each would wait for all of the patience.
constexpr milliseconds kLostPatience{500};

/// Returns true for what changes bytes, which must not happen after the client was told that it
/// failed, in the midst of what it does next.
bool changes_bytes(wire::Kind kind) {
  return kind == wire::Kind::kWrite || kind == wire::Kind::kResize || kind == wire::Kind::kReserve;
}

/// Servers that were given up, and not reached since. Requests may be left there, or on their way,
/// that would be done late: a server ends those of a session that comes again.
class LostServers {
 public:
  /// `left`: a link of the session that has left a request there; null: none has.
  void add(const std::string& server, std::unique_ptr<ServerLink> left) {
    const std::lock_guard lock(mutex_);
    auto& all = servers_[server];
    const auto is_known = [&](const auto& each) { return each->session() == left->session(); };
    if (left != nullptr && std::none_of(all.begin(), all.end(), is_known)) {
      all.push_back(std::move(left));
    }
  }
  bool has(const std::string& server) {
    const std::lock_guard lock(mutex_);
    return servers_.contains(server);
  }
  /// The link has reached its server: afterwards no request is left there.
  Status reached(const ServerLink& link, Clock::time_point deadline) {
    if (!has(link.server())) {
      return {};
    }
    const std::lock_guard one_at_a_time(reaching_);
    while (true) {
      std::unique_ptr<ServerLink> left = take(link.server());
      if (left == nullptr) {
        return {};
      }
      const Status outcome = left->session() == link.session() ? Status() : left->connect(deadline);
      if (!outcome.ok()) {
        add(link.server(), std::move(left));
        return outcome;
      }
    }
  }

 private:
  /// Null when there is none: the server isn't lost any more.
  std::unique_ptr<ServerLink> take(const std::string& server) {
    const std::lock_guard lock(mutex_);
    const auto found = servers_.find(server);
    if (found == servers_.end() || found->second.empty()) {
      servers_.erase(server);
      return nullptr;
    }
    std::unique_ptr<ServerLink> left = std::move(found->second.back());
    found->second.pop_back();
    return left;
  }

  std::mutex reaching_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<ServerLink>>> servers_;
};

LostServers& lost_servers() {
  static auto* const all = new LostServers;  // threads may outlive static objects
  return *all;
}

/// One call under way.
class Conversation {
 public:
  explicit Conversation(Call& call) : call_(call), patience_(call.patience.count() > 0 ? call.patience : server_patience()) {
    const bool known = call.link->surely_there || call.link->generation() > 0;
    deadline_ = Clock::now() + (known ? patience_ : std::min(patience_, kFirstPatience));
    if (lost_servers().has(call.link->server()) && !call.only_this_connection) {
      // Only a new connection tells whether it is there again.
      call.link->disconnect();
      deadline_ = Clock::now() + std::min(patience_, call.link->has_others() ? 2 * kConnectPatience : kLostPatience);
    }
    request_ = call.link->next_request();
    due_ = Clock::now();
    if (call.link->connected() && !call.link->is_stale()) {
      begin();
    } else if (call.only_this_connection) {
      finish(Status(ErrorCode::kIo, "the connection was lost"));
    }
  }

  bool done() const { return done_; }
  Clock::time_point wake() const { return talking_ ? std::min(deadline_, silent_until()) : std::min(due_, deadline_); }
  pollfd interest() const {
    const short events = static_cast<short>(POLLIN | (sender_.done() ? 0 : POLLOUT));
    return {talking_ ? call_.link->socket() : -1, events, 0};
  }

  /// Does all that needs no waiting.
  void advance() {
    const auto now = Clock::now();
    if (!talking_ && now >= due_) {
      connect(now);
    }
    if (talking_) {
      talk();
    }
    if (talking_ && Clock::now() >= silent_until()) {
      try_elsewhere(Status(ErrorCode::kIo, "no answer in time"));
    }
    if (!done_ && Clock::now() >= deadline_) {
      give_up();
    }
  }

 private:
  /// A manager that works says so every few seconds: where one is silent, its standby may have
  /// taken over.
  Clock::time_point silent_until() const {
    return call_.link->has_others() && patience_ > kSilence ? heard_ + kSilence : Clock::time_point::max();
  }

  void begin() {
    if (const Status may = call_.link->may_ask(call_.kind); !may.ok()) {
      finish(may);
      return;
    }
    if (call_.before_sending) {
      if (const Status outcome = call_.before_sending(call_.body); !outcome.ok()) {
        call_.link->disconnect();
        finish(outcome);
        return;
      }
    }
    wire::Header header;
    header.version = call_.link->version();
    header.kind = call_.kind;
    header.request = request_;
    header.deadline_ms = call_.wait_ms;
    sender_.start(header, call_.body, call_.data);
    receiver_.start();
    received_head_ = false;
    talking_ = true;
    was_sent_ = true;
    heard_ = Clock::now();
  }

  void connect(Clock::time_point now) {
    if (attempts_ == 0) {
      deadline_ += now - due_;  // other servers that don't answer came first
    }
    const auto until = std::min(deadline_, now + kConnectPatience);
    Status outcome = call_.link->connect(until);
    if (outcome.ok()) {
      outcome = lost_servers().reached(*call_.link, until);
    }
    if (outcome.ok()) {
      begin();
    } else if (outcome.code() == ErrorCode::kIo || wire::is_no_manager(outcome)) {
      try_elsewhere(outcome);
    } else {
      finish(outcome.with_context("server " + call_.link->server()));
    }
  }

  void talk() {
    bool moved = false;
    const bool was_sent = sender_.done();
    Status outcome = sender_.step(call_.link->channel(), moved);
    const bool just_sent = sender_.done() && !was_sent;
    if (outcome.ok() && !just_sent) {  // an answer takes a while
      outcome = listen(moved);
    }
    if (moved) {
      heard_ = Clock::now();
      deadline_ = heard_ + patience_;
    }
    if (!outcome.ok()) {
      try_again(outcome);
    }
  }

  /// Takes what has come. An error means that the connection has failed.
  Status listen(bool& moved) {
    while (!done_) {
      STRIA_ASSIGN_OR_RETURN(const FrameReceiver::Event event, receiver_.step(call_.link->channel(), moved));
      if (event == FrameReceiver::Event::kNothing) {
        return {};
      }
      if (event == FrameReceiver::Event::kHead) {
        STRIA_RETURN_IF_ERROR(take_head());
      } else {
        STRIA_RETURN_IF_ERROR(take_payload());
      }
    }
    return {};
  }

  Status take_head() {
    const wire::Header& header = receiver_.header();
    const Status unexpected(ErrorCode::kIo, "its answer fits no question");
    if (header.request != request_ || header.version != call_.link->version()) {
      return unexpected;
    }
    if (header.kind == wire::Kind::kWorking || header.kind == wire::Kind::kError) {
      if (header.payload_bytes != 0 || header.more) {
        return unexpected;
      }
    } else if (header.kind == wire::reply_to(call_.kind) && !received_head_) {
      received_head_ = true;
      call_.reply.assign(receiver_.body().begin(), receiver_.body().end());
      places_ = {};
      if (call_.sink != nullptr) {
        auto places = call_.sink->places(call_.reply);
        if (!places.ok()) {
          finish(places.status());
          call_.link->disconnect();
          return {};
        }
        places_ = IovecCursor(*places);
      }
    } else if (header.kind != wire::Kind::kData || !received_head_) {
      return unexpected;
    }
    return places_.left() >= header.payload_bytes ? receiver_.accept_payload(places_) : unexpected;
  }

  Status take_payload() {
    const wire::Header& header = receiver_.header();
    if (header.kind == wire::Kind::kWorking || header.more) {
      return {};
    }
    if (!sender_.done() && header.kind != wire::Kind::kError) {
      return Status(ErrorCode::kIo, "it answered before the question was asked");
    }
    if (header.kind == wire::Kind::kError) {
      const Status failure = failure_of(receiver_.body(), header.version);
      const bool damaged = call_.kind == wire::Kind::kWrite && failure.code() == ErrorCode::kAborted;
      if (damaged && ++damaged_ < 5) {
        return Status(ErrorCode::kIo, failure.message());
      }
      if (wire::is_no_manager(failure) && call_.link->has_others()) {
        try_elsewhere(failure);
        return {};
      }
      if (!sender_.done()) {
        call_.link->disconnect();  // the server won't take the rest of the request
      }
      finish(call_.kind >= wire::Kind::kWrite ? failure.with_context("server " + call_.link->server()) : failure);
      return {};
    }
    if (places_.left() != 0) {
      return Status(ErrorCode::kIo, "it sent less than it announced");
    }
    finish(Status());
    return {};
  }

  /// Tries the link's next address, where it has one. Servers that are no managers answer again and
  /// again, which must not hold the call for ever.
  void try_elsewhere(const Status& why) {
    const auto now = Clock::now();
    if (!call_.link->has_others()) {
      why.code() == ErrorCode::kIo ? try_again(why) : finish(why.with_context("server " + call_.link->server()));
      return;
    }
    give_up_at_ = std::min(give_up_at_, now + patience_);
    try_again(why);
    if (!done_ && now >= give_up_at_) {
      give_up();
      return;
    }
    call_.link->try_next();
  }

  void try_again(const Status& why) {
    call_.link->disconnect();
    talking_ = false;
    why_ = why;
    if (call_.only_this_connection || ++attempts_ > kMostAttempts) {
      give_up();
      return;
    }
    due_ = Clock::now() + pause_;
    pause_ = std::min(2 * pause_, kLongestRetryPause);
  }

  void give_up() {
    call_.link->disconnect();
    if (!call_.only_this_connection) {
      lost_servers().add(call_.link->server(), was_sent_ && changes_bytes(call_.kind) ? call_.link->same_session() : nullptr);
    }
    const std::string why = why_.ok() ? "no answer in time" : why_.message();
    finish(Status(ErrorCode::kIo, "server " + call_.link->server() + " doesn't answer (" + why + ")" +
                                      (call_.link->has_others() ? ", nor does a manager at the other addresses" : "")));
  }

  void finish(const Status& outcome) {
    STRIA_CHECK(!done_, call_.kind);
    call_.outcome = outcome;
    done_ = true;
    talking_ = false;
  }

  Call& call_;
  milliseconds patience_;
  Clock::time_point deadline_;
  Clock::time_point heard_;
  Clock::time_point give_up_at_ = Clock::time_point::max();
  Clock::time_point due_;
  milliseconds pause_ = kFirstPause;
  int attempts_ = 0;
  int damaged_ = 0;
  uint64_t request_ = 0;
  bool talking_ = false;
  bool was_sent_ = false;  // it, or a part of it
  bool done_ = false;
  bool received_head_ = false;
  Status why_;
  FrameSender sender_;
  FrameReceiver receiver_;
  IovecCursor places_;
};

/// Sleeps until a connection is ready or the next attempt is due.
void wait_for_any(std::span<const std::unique_ptr<Conversation>> conversations) {
  std::vector<pollfd> entries;
  Clock::time_point wake = Clock::time_point::max();
  for (const auto& conversation : conversations) {
    if (!conversation->done()) {
      entries.push_back(conversation->interest());
      wake = std::min(wake, conversation->wake());
    }
  }
  const auto left = std::chrono::ceil<milliseconds>(wake - Clock::now()).count();
  poll(entries.data(), entries.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 60000)));
}

}  // namespace

std::chrono::milliseconds server_patience() {
  const char* text = std::getenv("STRIA_SERVER_TIMEOUT");
  const double seconds = text == nullptr ? 0 : std::atof(text);
  return seconds > 0 && seconds < 1e6 ? milliseconds(static_cast<int64_t>(seconds * 1000)) : milliseconds(30000);
}

Status run_calls(std::span<Call> calls) {
  std::vector<std::unique_ptr<Conversation>> conversations;
  for (Call& call : calls) {
    STRIA_CHECK(call.link != nullptr, call.kind);
    // A link has one question at a time, or the answers would be mixed up.
    STRIA_ASSERT(std::count_if(calls.begin(), calls.end(), [&](const Call& each) { return each.link == call.link; }) == 1,
                 call.link->server());
    conversations.push_back(std::make_unique<Conversation>(call));
  }
  while (true) {
    bool all_done = true;
    for (const auto& conversation : conversations) {
      if (!conversation->done()) {
        conversation->advance();
      }
      all_done = all_done && conversation->done();
    }
    if (all_done) {
      break;
    }
    wait_for_any(conversations);
  }
  for (const Call& call : calls) {
    STRIA_RETURN_IF_ERROR(call.outcome);
  }
  return {};
}

}  // namespace stria::storage
