#include "server/connections/connection.hpp"

#include <asio/post.hpp>
#include <asio/system_error.hpp>
#include <exception>
#include <mutex>
#include <string>

#include "base/check.hpp"
#include "server/connections/greeting.hpp"
#include "server/connections/requests.hpp"
#include "server/connections/resources/background.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Connection::Connection(std::shared_ptr<SharedState> shared, Stream::Socket socket, uint64_t number)
    : shared_(std::move(shared)),
      client_(std::make_shared<Client>(shared_, std::move(socket), number)),
      idle_since_ns_(steady_ns()) {
  ++shared_->counters.connections;
  ++shared_->counters.open_connections;
}

bool Connection::is_needed() const {
  return idle_since_ns_ == 0 || client_->handles > 0 || shared_->locks.has_any(client_->number);
}

std::chrono::nanoseconds Connection::spare_for() const {
  return std::chrono::nanoseconds(ending_ || is_needed() ? 0 : steady_ns() - idle_since_ns_);
}

void Connection::make_room() {
  ending_ = true;
  asio::post(executor(), [self = shared_from_this()] {
    self->ending_ = !self->is_needed();  // a request may have come meanwhile
    if (self->ending_) {
      self->client_->messages.stream().close();
    }
  });
}

void Connection::check_time() {
  asio::post(executor(), [self = shared_from_this()] {
    Messages& messages = self->client_->messages;
    if (messages.stream().check_time(std::chrono::steady_clock::now())) {
      ++self->shared_->counters.timed_out;
      self->shared_->watch.cut_off(messages.client());
    }
  });
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  const std::string& address = client_->messages.client();
  try {
    co_await serve();
  } catch (const Error& error) {
    shared_->watch.broken(error, address);
  } catch (const std::exception&) {
    // The client has gone, or was too slow, or there was no memory for it. Only this
    // connection ends.
    if (challenged_ && !greeted_) {
      shared_->watch.turned_away(
          Status(ErrorCode::kPermissionDenied, "it left within the greeting, as one does that has another key"), address);
    }
  }
  leave();
}

void Connection::leave() {
  STRIA_CHECK(!finished_, client_->number);
  client_->messages.stream().close();
  shared_->locks.unlock_all(client_->number);
  if (counted_) {
    shared_->users.remove(client_->caller.user.uid);
  }
  if (greeted_) {
    const wire::Identity session = client_->session;
    if (shared_->manager.is_here()) {
      // The end goes into the manager's queue before what the session asks on its next connection.
      shared_->manager_thread.post([shared = shared_, session] { shared->manager->session_ended(session); });
    }
    const std::lock_guard lock(shared_->sessions_mutex);
    if (const auto found = shared_->sessions.find(session); found != shared_->sessions.end() && found->second == client_) {
      shared_->sessions.erase(found);
    }
  }
  --shared_->counters.open_connections;
  finished_ = true;
}

asio::awaitable<void> Connection::serve() {
  co_await greet();
  Messages& messages = client_->messages;
  while (!shared_->stopping) {
    idle_since_ns_ = steady_ns();
    co_await messages.receive_request();
    idle_since_ns_ = 0;
    const int64_t begin_ns = steady_ns();
    co_await answer_request(*client_);
    const std::chrono::nanoseconds time(steady_ns() - begin_ns);
    shared_->counters.count_request(messages.request(), time);
    shared_->watch.answered(messages.request(), time, messages.client());
    messages.finish_request();
  }
}

asio::awaitable<void> Connection::greet() {
  Greeting greeting(*client_);
  co_await greeting.hear();
  challenged_ = greeting.wants_proof();
  co_await greeting.challenge();
  co_await take_over();
  co_await count_user();
  co_await greeting.welcome();
}

// Ends the connection that the session had before, and waits until its last request is over.
asio::awaitable<void> Connection::take_over() {
  while (true) {
    std::shared_ptr<Client> before;
    {
      const std::lock_guard lock(shared_->sessions_mutex);
      std::shared_ptr<Client>& holder = shared_->sessions[client_->session];
      if (holder == nullptr) {
        holder = client_;
        greeted_ = true;
        client_->messages.let_in();
        co_return;
      }
      before = holder;
    }
    before->stop();
    const auto bell = std::make_shared<Bell>(executor());
    co_await bell->wait(milliseconds(2));
  }
}

// The session's connection before, if there was one, has ended by now.
asio::awaitable<void> Connection::count_user() {
  const Caller& caller = client_->caller;
  if (caller.is_super) {
    co_return;
  }
  const size_t most = shared_->bounds.connections_of_user();
  counted_ = shared_->users.add(caller.user.uid, most);
  if (!counted_) {
    const Status why(ErrorCode::kResourceExhausted, "user " + std::to_string(caller.user.uid) + " has " + std::to_string(most) +
                                                        " connections already, the most for one user (--connections)");
    co_await client_->messages.turn_away(why);
  }
}

}  // namespace stria::server
