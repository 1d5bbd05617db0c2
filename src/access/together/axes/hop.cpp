#include "access/together/axes/hop.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "access/request/message_tags.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

using Requests = std::vector<std::unique_ptr<CommRequest>>;

/// A rank of the other side: the number that it gets or has told, and the answer to it.
struct Peer {
  int rank = 0;
  int64_t bytes = 0;
  int64_t has_room = 0;
  std::vector<std::byte> message = {};
};

void wait_for_all(Comm& comm, Requests& requests) {
  for (const auto& request : requests) {
    comm.wait(*request);
  }
  requests.clear();
}

/// Does what one rank does in a hop; `in` and `out` leave it out, for its own message stays here.
class Travel {
 public:
  Travel(Comm& comm, MemoryReserve& memory, const Hop& hop) : comm_(comm), memory_(memory) {
    memory_.surely([&] {
      in_ = others(hop.from);
      out_ = others(hop.to);
      requests_.reserve(in_.size() + out_.size());
    });
  }

  void run(Outbox& outbox, Comm::Messages& arrived) {
    size_t sent = outbox.contains(comm_.rank()) ? 1 : 0;
    for (Peer& peer : out_) {
      if (const auto found = outbox.find(peer.rank); found != outbox.end()) {
        peer.message = std::move(found->second);
        peer.bytes = static_cast<int64_t>(peer.message.size());
        ++sent;
      }
    }
    // A rank that isn't in the hop would never get its message.
    STRIA_CHECK(sent == outbox.size(), sent, outbox.size());
    swap_numbers(kParcelSizeTag, out_, in_, &Peer::bytes);
    for (Peer& peer : in_) {
      STRIA_CHECK(peer.bytes >= 0, peer.bytes, peer.rank);
      memory_.attempt([&] {
        peer.message.resize(static_cast<size_t>(peer.bytes));
        peer.has_room = 1;
      });
    }
    swap_numbers(kParcelRoomTag, in_, out_, &Peer::has_room);
    swap_bytes();
    memory_.attempt([&] { take(outbox, arrived); });
    outbox.clear();
  }

 private:
  std::vector<Peer> others(std::span<const int> ranks) const {
    std::vector<Peer> peers;
    for (const int rank : ranks) {
      if (rank != comm_.rank()) {
        peers.push_back({.rank = rank});
      }
    }
    return peers;
  }

  template <typename Start>
  void start(Start&& begin) {
    auto request = memory_.surely(begin);
    requests_.push_back(std::move(request));
  }

  // Answers travel only where there are bytes.
  void swap_numbers(int tag, std::vector<Peer>& from, std::vector<Peer>& to, int64_t Peer::*number) {
    const auto is_asked = [&](const Peer& peer) { return tag == kParcelSizeTag || peer.bytes > 0; };
    for (Peer& peer : to) {
      if (is_asked(peer)) {
        start([&] { return comm_.receive(std::as_writable_bytes(std::span(&(peer.*number), 1)), peer.rank, tag); });
      }
    }
    for (const Peer& peer : from) {
      if (is_asked(peer)) {
        start([&] { return comm_.send(std::as_bytes(std::span(&(peer.*number), 1)), peer.rank, tag); });
      }
    }
    wait_for_all(comm_, requests_);
  }

  void swap_bytes() {
    for (Peer& peer : in_) {
      if (peer.bytes > 0 && peer.has_room != 0) {
        start([&] { return comm_.receive(peer.message, peer.rank, kParcelTag); });
      }
    }
    for (const Peer& peer : out_) {
      if (peer.bytes > 0 && peer.has_room != 0) {
        start([&] { return comm_.send(peer.message, peer.rank, kParcelTag); });
      }
    }
    wait_for_all(comm_, requests_);
  }

  void take(Outbox& outbox, Comm::Messages& arrived) {
    for (Peer& peer : in_) {
      if (!peer.message.empty() && peer.has_room != 0) {
        arrived.emplace_back(peer.rank, std::move(peer.message));
      }
    }
    if (const auto own = outbox.find(comm_.rank()); own != outbox.end()) {
      arrived.emplace_back(comm_.rank(), std::move(own->second));
    }
  }

  Comm& comm_;
  MemoryReserve& memory_;
  std::vector<Peer> in_, out_;
  Requests requests_;
};

}  // namespace

void travel(Comm& comm, MemoryReserve& memory, const Hop& hop, Outbox& outbox, Comm::Messages& arrived) {
  arrived.clear();
  Travel(comm, memory, hop).run(outbox, arrived);
}

}  // namespace stria::access
