#include "file/meet/roll_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::file {

namespace {

// Files that are open together have different tags. Tags of other messages begin at 32000.
constexpr int kFirstTag = 1000;
constexpr int kTagCount = 30000;

constexpr int64_t kNobody = -1;

// Calls that a program makes on one rank, to print what they tell.
bool asks_only(Call call) {
  return call == Call::kAttribute || call == Call::kReadTable || call == Call::kReadStrings;
}

}  // namespace

const char* call_name(Call call) {
  static constexpr const char* kNames[] = {
      "create()",    "open()",   "flush()",      "commit()", "abandon() or discard()", "read_table()", "read_strings()",
      "attribute()", "verify()", "place_rows()", "append()", "commit_async()"};
  return kNames[static_cast<size_t>(call)];
}

/// Says what is known about the ranks for which the sender speaks.
struct RollCall::Message {
  int32_t left_rank = kNobody;  ///< one that has left the file
  int32_t size = 0;             ///< the size of the sums
  int32_t first_rank = 0;       ///< the lowest rank, and its call
  Call first_call = Call::kCreate;
  int32_t other_rank = kNobody;  ///< the lowest rank with another call
  Call other_call = Call::kCreate;
  std::array<int64_t, kMostSums> sums{};
  std::array<int64_t, kMostLeast> least{};
  std::array<char, 232> reason{};  ///< the reason of the rank that left, to the first zero

  /// Ranks in the same call have as many sums, unless one gives up: it has the first alone.
  bool may_differ() const { return other_rank != kNobody || sums[0] != 0; }

  void take_other(int32_t rank, Call call) {
    if (rank != kNobody && call != first_call && (other_rank == kNobody || rank < other_rank)) {
      other_rank = rank;
      other_call = call;
    }
  }

  void merge(const Message& from) {
    const Message before = *this;
    if (from.first_rank < first_rank) {
      first_rank = from.first_rank;
      first_call = from.first_call;
      other_rank = kNobody;
      take_other(before.other_rank, before.other_call);
    }
    for (const Message* one : {&before, &from}) {
      take_other(one->first_rank, one->first_call);
      take_other(one->other_rank, one->other_call);
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      // Terms of equality wrap around.
      sums[i] = static_cast<int64_t>(static_cast<uint64_t>(sums[i]) + static_cast<uint64_t>(from.sums[i]));
    }
    for (size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], from.least[i]);
    }
  }
};

struct RollCall::Edge {
  int rank = 0;
  bool heard = true;
  bool spoken = true;
  Message in, out;
  std::unique_ptr<CommRequest> receive, send;

  bool test_receive() {
    heard = heard || (receive != nullptr && receive->test());
    return heard;
  }
};

/// All edges as one request: done when everything under way is done.
struct RollCall::Edges : CommRequest {
  std::vector<Edge> all;

  bool test() override {
    bool done = true;
    for (Edge& edge : all) {
      const bool sent = edge.send == nullptr || edge.send->test();
      done = edge.test_receive() && sent && done;
    }
    return done;
  }
};

RollCall::RollCall(Comm& comm, int number) : comm_(comm), tag_(kFirstTag + number % kTagCount) {
  static_assert(std::is_trivially_copyable_v<Message>);
  edges_ = std::make_unique<Edges>();
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())));
  const auto add = [this](int rank) { edges_->all.emplace_back().rank = rank; };
  beyond_power_ = comm.rank() >= power;
  if (beyond_power_) {
    add(comm.rank() - power);
    return;
  }
  has_follower_ = comm.rank() + power < comm.size();
  if (has_follower_) {
    add(comm.rank() + power);
  }
  for (int bit = 1; bit < power; bit *= 2) {
    add(comm.rank() ^ bit);
  }
}

RollCall::~RollCall() = default;

void RollCall::listen(access::MemoryReserve& memory) {
  for (Edge& edge : edges_->all) {
    edge.heard = edge.spoken = false;
    edge.receive =
        memory.surely([&] { return comm_.receive(std::as_writable_bytes(std::span(&edge.in, 1)), edge.rank, tag_); });
  }
}

void RollCall::speak(Edge& edge, const Message& message, access::MemoryReserve& memory) {
  edge.out = message;
  edge.send = memory.surely([&] { return comm_.send(std::as_bytes(std::span(&edge.out, 1)), edge.rank, tag_); });
  edge.spoken = true;
}

// Returns the edge along which the news has come that a rank has left.
RollCall::Edge* RollCall::news() {
  for (Edge& edge : edges_->all) {
    if (edge.test_receive() && edge.in.left_rank != kNobody) {
      return &edge;
    }
  }
  return nullptr;
}

// False when a rank has left.
bool RollCall::wait_for(Edge& edge) {
  for (int attempt = 0;; ++attempt) {
    if (news() != nullptr) {
      return false;
    }
    if (edge.heard) {
      return true;
    }
    comm_.pause(attempt);
  }
}

// Leaves the sums of all ranks in `mine`, or an error when a rank has left.
Status RollCall::exchange(Message& mine, access::MemoryReserve& memory) {
  std::vector<Edge>& edges = edges_->all;
  const auto hear = [&](Edge& edge) {
    const bool all_there = wait_for(edge);
    if (all_there) {
      STRIA_CHECK(
          edge.in.size == mine.size || edge.in.may_differ() || mine.may_differ() || edge.in.first_call != mine.first_call,
          edge.rank, edge.in.size, mine.size, call_name(mine.first_call));
      mine.merge(edge.in);
    }
    return all_there;
  };
  const size_t first = has_follower_ ? 1 : 0;
  if (has_follower_ && !hear(edges[0])) {
    return end_with(news()->in, memory);
  }
  for (size_t i = first; i < edges.size(); ++i) {
    speak(edges[i], mine, memory);
    if (beyond_power_) {
      mine.sums = {};  // the partner's answer has them
    }
    if (!hear(edges[i])) {
      return end_with(news()->in, memory);
    }
  }
  if (has_follower_) {
    speak(edges[0], mine, memory);
  }
  wait_for_sends();
  return Status();
}

// All partners have come, or soon will: they have sent what this rank has received.
void RollCall::wait_for_sends() {
  for (int attempt = 0; !edges_->test(); ++attempt) {
    comm_.pause(attempt);
  }
}

Status RollCall::end_with(const Message& news, access::MemoryReserve& memory) {
  const Message said = news;
  for (Edge& edge : edges_->all) {
    if (!edge.spoken) {
      speak(edge, said, memory);
    }
  }
  ended_ =
      memory.surely([&] { return Status(ErrorCode::kAborted, fmt::format("rank {} {}", said.left_rank, said.reason.data())); });
  stay_behind(memory);
  return ended_;
}

// What is under way outlives this object, with its buffers; if memory has run out, for ever.
void RollCall::stay_behind(access::MemoryReserve& memory) {
  std::unique_ptr<CommRequest> all = std::move(edges_);
  try {
    memory.surely([&] { comm_.innermost().park(std::move(all)); });
  } catch (...) {
    static_cast<void>(all.release());
    throw;
  }
}

Status RollCall::meet(Call call, std::span<int64_t> sums, access::MemoryReserve& memory, std::span<int64_t> least) {
  if (!ended_.ok()) {
    return ended_;
  }
  STRIA_CHECK(sums.size() <= kMostSums && least.size() <= kMostLeast, sums.size(), least.size());
  STRIA_CHECK(edges_ != nullptr, call_name(call));
  const trace::Span span(trace::kind(trace::BuiltIn::kReduce));
  const trace::WaitTimer timer;
  Message mine;
  mine.size = static_cast<int32_t>(sums.size());
  mine.first_rank = comm_.rank();
  mine.first_call = call;
  std::copy(sums.begin(), sums.end(), mine.sums.begin());
  std::copy(least.begin(), least.end(), mine.least.begin());
  listen(memory);
  STRIA_RETURN_IF_ERROR(exchange(mine, memory));
  std::copy_n(mine.sums.begin(), sums.size(), sums.begin());
  std::copy_n(mine.least.begin(), least.size(), least.begin());
  if (mine.other_rank != kNobody) {
    const char* alone = asks_only(mine.first_call) || asks_only(mine.other_call)
                            ? "; a rank that reads or asks alone opens the file for itself, without a communicator"
                            : "";
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("rank {} called {} and rank {} called {}; all ranks make the same collective calls on a file, in "
                              "the same order{}",
                              mine.first_rank, call_name(mine.first_call), mine.other_rank, call_name(mine.other_call), alone));
  }
  return Status();
}

void RollCall::leave(std::string_view reason, access::MemoryReserve& memory) noexcept {
  if (!ended_.ok() || edges_ == nullptr) {
    return;
  }
  try {
    Message message;
    message.left_rank = comm_.rank();
    const size_t length = std::min(reason.size(), message.reason.size() - 1);
    std::copy_n(reason.begin(), length, message.reason.begin());
    listen(memory);
    for (Edge& edge : edges_->all) {
      speak(edge, message, memory);
    }
    ended_ = memory.surely([&] { return Status(ErrorCode::kAborted, fmt::format("this rank {}", reason)); });
    stay_behind(memory);
  } catch (...) {
    // This rank can't tell the others where it lacks memory for its messages. What is under way
    // must not lose its buffers.
    static_cast<void>(edges_.release());
  }
}

}  // namespace stria::file
