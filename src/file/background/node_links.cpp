#include "file/background/node_links.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/background/listener.hpp"
#include "wire/trust/key.hpp"

namespace stria::file {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMostWait{8};
constexpr std::chrono::milliseconds kMostForAnAddress{1500};
/// Strangers that connect and say nothing.
constexpr size_t kMostStrangers = 64;
constexpr size_t kMostAtOnce = 256;

/// Says what rank 0 tells all ranks by MPI.
struct Offer {
  ListeningPlaces places{};  ///< none: the nodes can't be joined
  std::array<std::byte, 32> secret{};
};

// Rank 0 has waited for a node in vain before.
std::atomic<bool> no_way_between_nodes{false};

wire::Hello hello_of(int node) {
  wire::Hello hello;
  const auto number = static_cast<uint32_t>(node);
  std::memcpy(hello.session.data(), &number, sizeof number);
  return hello;
}

int node_in(const wire::Hello& hello) {
  uint32_t number = 0;
  std::memcpy(&number, hello.session.data(), sizeof number);
  return static_cast<int>(std::min<uint32_t>(number, INT32_MAX));
}

/// Returns the lowest rank of each node.
std::vector<int> first_ranks(const Comm& comm) {
  std::vector<int> first;
  const auto nodes = comm.node_of_rank();
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    if (static_cast<size_t>(nodes[rank]) == first.size()) {
      first.push_back(static_cast<int>(rank));
    }
  }
  return first;
}

/// Plays rank 0's side: challenge, (hello, proof), proof.
class Reception {
 public:
  Reception(const Listener& listener, const Offer& offer, std::vector<int> first)
      : listener_(listener), key_(offer.secret), first_(std::move(first)), peers_(first_.size() - 1) {}

  /// Lets in who has come; true once all are there.
  Result<bool> step() {
    for (size_t i = 0; i < kMostAtOnce; ++i) {
      STRIA_ASSIGN_OR_RETURN(Socket socket, listener_.accept());
      if (!socket.is_open()) {
        break;
      }
      greet(std::move(socket));
      if (guests_.size() > first_.size() + kMostStrangers) {
        guests_.erase(guests_.begin());  // a node would have answered long ago, and calls again
      }
    }
    for (Guest& guest : guests_) {
      hear(guest);
    }
    std::erase_if(guests_, [](const Guest& guest) { return !guest.link.is_open(); });
    return missing() < 0;
  }
  /// Returns the first rank of a node that has not come, or -1.
  int missing() const {
    const auto open = [](const Peer& peer) { return peer.link.is_open(); };
    const auto found = std::find_if_not(peers_.begin(), peers_.end(), open);
    return found == peers_.end() ? -1 : first_[static_cast<size_t>(found - peers_.begin()) + 1];
  }
  std::vector<Peer> take() { return std::move(peers_); }

 private:
  struct Guest {
    Link link;
    wire::Challenge challenge;
  };

  void greet(Socket socket) {
    Guest guest{.link = Link(std::move(socket)), .challenge = {}};
    wire::randomise(guest.challenge.nonce);
    if (guest.link.send(wire::encode(guest.challenge)).ok()) {
      guests_.push_back(std::move(guest));
    }
  }

  // A guest that has been let in, or sent away, has no link any more.
  void hear(Guest& guest) {
    const auto came = guest.link.receive();
    if (came.ok() && !*came) {
      return;
    }
    Link link = std::exchange(guest.link, Link());
    const size_t proof_bytes = sizeof(wire::Proof);
    if (!came.ok() || (*came)->size() <= proof_bytes) {
      return;
    }
    const auto said = std::span<const std::byte>(**came);
    const auto hello = wire::decode<wire::Hello>(said.first(said.size() - proof_bytes));
    const auto proven = said.last(proof_bytes);
    wire::Proof proof;
    std::copy(proven.begin(), proven.end(), proof.begin());
    if (!hello.ok() || !wire::same_proof(proof, key_.client_proof(*hello, guest.challenge))) {
      return;
    }
    const auto node = static_cast<size_t>(node_in(*hello));
    if (node < 1 || node > peers_.size() || !link.send(key_.server_proof(*hello, guest.challenge)).ok()) {
      return;
    }
    peers_[node - 1] = {.rank = first_[node], .link = std::move(link), .told = {}};
  }

  const Listener& listener_;
  wire::Key key_;
  std::vector<int> first_;
  std::vector<Peer> peers_;
  std::vector<Guest> guests_;
};

/// Another node's side. It tries one address after the other.
class Caller {
 public:
  Caller(const Offer& offer, int node) : offer_(offer), key_(offer.secret), hello_(hello_of(node)) {
    wire::randomise(hello_.nonce);
  }

  /// Goes on as far as it can without waiting; true once rank 0 has let this node in.
  bool step() {
    if (!link_.is_open() || Clock::now() > turn_ends_) {
      call_next();
    }
    if (!is_connected()) {
      return false;
    }
    const auto came = link_.receive();
    if (!came.ok()) {
      give_up(came.status());
      return false;
    }
    return *came && take(**came);
  }
  Link take_link() { return std::move(link_); }
  /// Why the last address was no good.
  const Status& failure() const { return failure_; }

 private:
  void call_next() {
    // Addresses that refuse are tried again, but not at once.
    if (next_ >= offer_.places.count && Clock::now() < turn_ends_) {
      return;
    }
    const ListeningPlaces::Place& place = offer_.places.all[next_++ % offer_.places.count];
    connected_ = challenged_ = false;
    turn_ends_ = Clock::now() + kMostForAnAddress;
    auto socket = begin_to_connect(place, offer_.places.port);
    if (socket.ok()) {
      link_ = Link(std::move(*socket));
    } else {
      give_up(socket.status());
    }
  }

  bool is_connected() {
    if (!link_.is_open() || connected_) {
      return connected_;
    }
    pollfd entry{link_.descriptor(), POLLOUT, 0};
    if (poll(&entry, 1, 0) <= 0) {
      return false;
    }
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(link_.descriptor(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
      give_up(Status::from_errno(error, "connect to rank 0"));
      return false;
    }
    connected_ = true;
    return true;
  }

  // Takes the challenge, or the proof that this is rank 0.
  bool take(std::span<const std::byte> message) {
    if (!challenged_) {
      const auto challenge = wire::decode<wire::Challenge>(message);
      if (!challenge.ok()) {
        give_up(challenge.status());
        return false;
      }
      challenge_ = *challenge;
      challenged_ = true;
      std::vector<std::byte> answer = wire::encode(hello_);
      const wire::Proof proof = key_.client_proof(hello_, challenge_);
      answer.insert(answer.end(), proof.begin(), proof.end());
      const Status sent = link_.send(answer);
      if (!sent.ok()) {
        give_up(sent);
      }
      return false;
    }
    wire::Proof proof{};
    std::copy_n(message.begin(), std::min(message.size(), proof.size()), proof.begin());
    if (!wire::same_proof(proof, key_.server_proof(hello_, challenge_))) {
      give_up(Status(ErrorCode::kIo, "a stranger answers at an address of rank 0"));
      return false;
    }
    return true;
  }

  void give_up(const Status& why) {
    failure_ = why;
    link_ = Link();
    connected_ = false;
  }

  const Offer& offer_;
  wire::Key key_;
  wire::Hello hello_;
  wire::Challenge challenge_;
  Link link_;
  size_t next_ = 0;
  bool connected_ = false;
  bool challenged_ = false;
  Clock::time_point turn_ends_;
  Status failure_;
};

Result<std::vector<Peer>> receive_nodes(Comm& comm, const Listener& listener, const Offer& offer) {
  Reception reception(listener, offer, first_ranks(comm));
  const auto deadline = Clock::now() + kMostWait;
  for (int attempt = 0;; ++attempt) {
    STRIA_ASSIGN_OR_RETURN(const bool all_there, reception.step());
    if (all_there) {
      return reception.take();
    }
    if (Clock::now() > deadline) {
      no_way_between_nodes = true;
      return Status(ErrorCode::kUnsupported, fmt::format("the node of rank {} has not connected to rank 0 within {} s",
                                                         reception.missing(), kMostWait.count()));
    }
    comm.pause(attempt);
  }
}

Result<std::vector<Peer>> call_rank_0(Comm& comm, const Offer& offer) {
  Caller caller(offer, comm.node_of_rank()[static_cast<size_t>(comm.rank())]);
  const auto deadline = Clock::now() + kMostWait;
  for (int attempt = 0; !caller.step(); ++attempt) {
    if (Clock::now() > deadline) {
      return caller.failure().ok() ? Status(ErrorCode::kUnsupported, "rank 0 doesn't answer") : caller.failure();
    }
    comm.pause(attempt);
  }
  std::vector<Peer> peers(1);
  peers[0].link = caller.take_link();
  return peers;
}

}  // namespace

Result<std::vector<Peer>> join_nodes(Comm& comm) {
  Offer offer;
  Result<Listener> listener = Listener();
  if (comm.rank() == 0) {
    listener = or_out_of_memory([]() -> Result<Listener> {
      return no_way_between_nodes ? Status(ErrorCode::kUnsupported, "a node could not be reached before") : Listener::open();
    });
    offer.places = listener.ok() ? listener->places() : ListeningPlaces();
    wire::randomise(offer.secret);
  }
  comm.broadcast(std::as_writable_bytes(std::span(&offer, 1)), 0);
  if (offer.places.count == 0) {
    const Status none = comm.agree(listener.status());
    return none.ok() ? Status(ErrorCode::kUnsupported, "rank 0 has no address") : none;
  }
  auto peers = or_out_of_memory([&]() -> Result<std::vector<Peer>> {
    if (comm.rank() == 0) {
      return receive_nodes(comm, *listener, offer);
    }
    return comm.node_rank() == 0 ? call_rank_0(comm, offer) : std::vector<Peer>();
  });
  const Status joined = comm.agree(peers.status());
  return joined.ok() ? std::move(peers) : joined;
}

}  // namespace stria::file
