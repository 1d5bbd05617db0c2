#include "comm/comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"

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

namespace {

// What all ranks know of a failure before its text.
struct Head {
  ErrorCode code;
  ErrorReason reason;
  int64_t text_bytes;
};

// Returns the failure with the text of `root`, and its rank in front. A rank without memory for the
// text takes part all the same, because the others would wait, and has none.
Status share_text(Comm& comm, int root, const Head& head, const std::string& mine) {
  const int64_t bytes = head.text_bytes;
  std::string text;
  Status room = or_out_of_memory([&] {
    text.reserve(static_cast<size_t>(bytes));
    return Status();
  });
  std::array<std::byte, 4096> piece;
  for (int64_t at = 0; at < bytes; at += std::ssize(piece)) {
    const auto now = std::span(piece).first(static_cast<size_t>(std::min<int64_t>(bytes - at, std::ssize(piece))));
    if (comm.rank() == root) {
      std::memcpy(now.data(), mine.data() + at, now.size());
    }
    comm.broadcast(now, root);
    if (room.ok()) {
      text.append(reinterpret_cast<const char*>(now.data()), now.size());
    }
  }
  if (room.ok() && comm.size() > 1) {
    room = or_out_of_memory([&] {
      text = said_by(root, text);
      return Status();
    });
  }
  return room.ok() ? Status(head.code, std::move(text), head.reason) : Status(head.code, head.reason);
}

}  // namespace

// Agrees by one reduction by maximum. It covers the rank that failed, negated so that the lowest
// rank wins, and the shared words, which only rank 0 fills in. Nothing here needs the heap before
// all ranks are through: one that has run out of memory must be able to say so.
Status Comm::agree(const Status& mine, std::span<std::byte> shared) {
  constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();
  STRIA_CHECK(shared.size() <= kAgreedBytesMax, shared.size());
  // The error of a rank that gave up because of another rank counts only when no rank knows more.
  const int64_t turn = rank() + (mine.code() == ErrorCode::kAborted ? int64_t{size()} : 0);
  std::array<int64_t, 1 + kAgreedBytesMax / sizeof(int64_t)> room{};
  const std::span<int64_t> words = std::span(room).first(1 + (shared.size() + sizeof(int64_t) - 1) / sizeof(int64_t));
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
  const int root = static_cast<int>(-words[0] % size());
  Head head{mine.code(), mine.reason(), std::ssize(mine.message())};
  broadcast(std::as_writable_bytes(std::span(&head, 1)), root);
  // Some ranks would go on otherwise.
  STRIA_CHECK(head.code != ErrorCode::kOk && head.text_bytes >= 0, head.code, head.text_bytes, root);
  return share_text(*this, root, head, mine.message());
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
