#include "comm/comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/check.hpp"

namespace stria {

int Comm::node_count() const {
  const std::span<const int> nodes = node_of_rank();
  return *std::max_element(nodes.begin(), nodes.end()) + 1;
}

void Comm::wait_while(std::atomic<uint32_t>& word, uint32_t seen) {
  for (int attempt = 0; word.load() == seen; ++attempt) {
    pause(attempt);
  }
}

void Comm::wake(std::atomic<uint32_t>&) {}

// A rank without room for the bytes must not leave the others in a broadcast. It receives few bytes
// elsewhere; for more, the ranks hear first whether all have room.
void broadcast_bytes(Comm& comm, std::vector<std::byte>& data, int root) {
  int64_t bytes = static_cast<int64_t>(data.size());
  STRIA_ASSERT(0 <= root && root < comm.size(), root, comm.size());
  comm.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), root);
  STRIA_CHECK(bytes >= 0, bytes, root);
  std::array<int64_t, 1> lacks = {0};
  if (comm.rank() != root) {
    try {
      data.resize(static_cast<size_t>(bytes));
    } catch (const std::bad_alloc&) {
      lacks[0] = 1;
    }
  }
  std::array<std::byte, 4096> elsewhere;
  const bool are_few = bytes <= static_cast<int64_t>(elsewhere.size());
  if (!are_few) {
    comm.all_reduce(lacks, ReduceOp::kMax);
  }
  if (bytes > 0 && (are_few || lacks[0] == 0)) {
    comm.broadcast(lacks[0] != 0 ? std::span(elsewhere).first(static_cast<size_t>(bytes)) : std::span(data), root);
  }
  if (lacks[0] != 0) {
    throw std::bad_alloc();
  }
}

void Comm::park(std::unique_ptr<CommRequest>&& request) {
  STRIA_ASSERT(&innermost() == this && request != nullptr);
  std::erase_if(parked_, [](const auto& parked) { return parked->test(); });
  parked_.push_back(std::move(request));
}

// Agrees by one reduction by maximum. It covers the rank that failed, negated so that the lowest
// rank wins, and the shared words, which only rank 0 fills in.
Status Comm::agree(const Status& mine, std::span<std::byte> shared) {
  constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();
  // The error of a rank that gave up because of another rank counts only when no rank knows more.
  const int64_t turn = rank() + (mine.code() == ErrorCode::kAborted ? int64_t{size()} : 0);
  // Few shared words need no heap: a rank that has run out of memory must be able to say so.
  std::array<int64_t, 32> few{};
  const size_t count = 1 + (shared.size() + sizeof(int64_t) - 1) / sizeof(int64_t);
  std::vector<int64_t> many(count > few.size() ? count : 0);
  const std::span<int64_t> words = many.empty() ? std::span(few).first(count) : std::span(many);
  std::fill(words.begin(), words.end(), kNothing);
  words[0] = mine.ok() ? kNothing : -turn;
  if (rank() == 0 && !shared.empty()) {
    std::memcpy(&words[1], shared.data(), shared.size());
  }
  all_reduce(words, ReduceOp::kMax);
  if (!shared.empty()) {
    std::memcpy(shared.data(), &words[1], shared.size());
  }
  if (words[0] == kNothing) {
    return {};
  }
  // Code and reason travel in front of the text, so that a failure costs only one broadcast.
  const int root = static_cast<int>(-words[0] % size());
  std::vector<std::byte> wire;
  struct Head {
    ErrorCode code;
    ErrorReason reason;
  };
  Head head{mine.code(), mine.reason()};
  if (rank() == root) {
    wire.resize(sizeof head + mine.message().size());
    std::memcpy(wire.data(), &head, sizeof head);
    std::memcpy(wire.data() + sizeof head, mine.message().data(), mine.message().size());
  }
  broadcast_bytes(*this, wire, root);
  STRIA_CHECK(wire.size() >= sizeof head, wire.size(), root);
  std::memcpy(&head, wire.data(), sizeof head);
  STRIA_CHECK(head.code != ErrorCode::kOk, head.code, root);  // or some ranks would go on
  const std::string text(reinterpret_cast<const char*>(wire.data()) + sizeof head, wire.size() - sizeof head);
  return Status(head.code, size() == 1 ? text : said_by(root, text), head.reason);
}

bool are_well_addressed(const Comm::Messages& outgoing, int ranks) {
  std::vector<int> to;
  for (const auto& [rank, message] : outgoing) {
    to.push_back(rank);
  }
  std::sort(to.begin(), to.end());
  return (to.empty() || (to.front() >= 0 && to.back() < ranks)) && std::adjacent_find(to.begin(), to.end()) == to.end();
}

std::string said_by(int rank, const std::string& words) {
  return words.starts_with("rank ") ? words : "rank " + std::to_string(rank) + ": " + words;
}

}  // namespace stria
