// A client's connection as the server sees it: greeting, then one request after another.
//
// Invariants: two connections never work on one session at the same time. A new connection waits
// until the last request of the old one is over, so that a repeated request never overtakes its
// first copy. A connection holds one message and, for data, one payload, and asks for the memory
// before it receives them; without room they stay with the sender. No request keeps a thread for
// long: one with many pieces lets others go on in between. Cost per connection: a coroutine of some
// hundred bytes, 16 KiB and a small message; while data move, a buffer for one payload.
#pragma once

#include <asio/awaitable.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/connections/caller_of.hpp"
#include "server/connections/shared_state.hpp"
#include "server/connections/stream.hpp"
#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::server {

inline constexpr std::chrono::milliseconds kWorkingEvery{5000};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<SharedState> shared, Stream::Socket socket, uint64_t number);

  /// Serves until the client has gone. Never throws.
  asio::awaitable<void> run();
  /// Ends the connection soon. May be called from any thread.
  void stop();
  bool finished() const { return finished_; }
  uint64_t number() const { return number_; }
  asio::any_io_executor executor() { return stream_.executor(); }
  /// Closes the connection when the client keeps it waiting for too long. May be called
  /// from any thread.
  void check_time();
  /// How long the connection has done nothing for its client and held nothing for it; 0 when it
  /// can't be spared. May be called from any thread.
  std::chrono::nanoseconds spare_for() const;
  bool greeted() const { return greeted_; }
  /// Ends the connection in favour of another. Its client connects again when it needs to. May be
  /// called from any thread.
  void make_room();

 private:
  bool is_needed() const;
  asio::awaitable<void> serve();
  asio::awaitable<void> greet();
  /// The key by which both sides prove themselves; none where nothing is proven.
  std::optional<wire::Key> key_of_proofs(wire::ProofKind kind, const wire::Claim& claim) const;
  asio::awaitable<void> seal(wire::Challenge& challenge);
  asio::awaitable<Result<Caller>> check_proof(const wire::Hello& hello, const wire::Challenge& challenge);
  asio::awaitable<void> turn_away(const Status& why);
  asio::awaitable<void> take_over(const wire::Identity& session);
  asio::awaitable<void> count_user();
  asio::awaitable<void> receive_head(std::chrono::milliseconds time);
  asio::awaitable<Budget::Share> wait_for(Budget& budget, int64_t amount);
  asio::awaitable<void> receive_payload(std::byte* to);
  asio::awaitable<void> reply(wire::Kind kind, std::span<const std::byte> body);
  asio::awaitable<void> refuse(const Status& status);
  /// `part`: the number of the part that is asked for.
  Status check_ticket(uint64_t part, const wire::Ticket& ticket, uint8_t any_of) {
    return shared_->tickets.check(wire::file_of_part(part), ticket, any_of, known_tickets_);
  }
  asio::awaitable<void> give(const Answer& answer);
  asio::awaitable<void> say_working();
  asio::awaitable<void> handle();
  asio::awaitable<void> ask_manager();
  Status find_object(const wire::Transfer& transfer, uint8_t right, std::shared_ptr<Object>& object);
  asio::awaitable<void> write_data(std::byte* buffer);
  asio::awaitable<void> read_data(std::byte* buffer);
  struct Payload {
    std::span<const std::byte> data;
    uint64_t sum = 0;
  };
  asio::awaitable<void> send_data(wire::Header header, std::span<const std::byte> body, Payload payload);
  asio::awaitable<void> small_request();
  asio::awaitable<void> lock_range();
  asio::awaitable<void> scrub();
  Answer change_object(const wire::LocalFile& request);

  std::shared_ptr<SharedState> shared_;
  std::optional<wire::User> peer_;  // as the kernel says
  std::string client_;              // its address
  Stream stream_;
  uint64_t number_;
  wire::Identity session_{};
  Caller caller_;
  bool challenged_ = false;  // it has greeted, and is to prove who it is
  bool counted_ = false;     // among its user's
  Tickets::Known known_tickets_;
  std::atomic<bool> greeted_ = false;
  std::atomic<bool> ending_ = false;    // it makes room
  std::atomic<int64_t> idle_since_ns_;  // 0: it has a request
  std::atomic<int64_t> handles_ = 0;    // open files, as the manager said last
  Budget::Share message_share_;         // for body_
  std::optional<uint16_t> version_;     // of the protocol, that of the greeting
  wire::Header header_;
  wire::Kind kind_ = wire::Kind::kHello;  // of the request; header_ may be that of its data
  std::vector<std::byte> body_;
  std::vector<std::byte> payload_;  // of messages that have none as a rule
  std::atomic<bool> finished_ = false;
};

}  // namespace stria::server
