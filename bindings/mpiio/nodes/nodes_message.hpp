// The questions of ranks on other nodes to rank 0, and its answers: datagrams of one size, in the
// machine's own byte order.
//
// Problem: the shared file pointer and the outcomes of background collectives must cross nodes
// while the other side computes, or waits in its own call of MPI. MPI's one-sided windows need
// support that MPI libraries lack or forbid over TCP. MPI's messages need a thread that may call
// MPI. Locks on a hidden file need a file system whose locks reach other nodes.
// Method: a thread of rank 0's process answers datagrams (UDP). A lost one is sent again, and each
// means the same however often it arrives. A rank proves by a token, which travels by MPI, that it
// belongs to the program.
// Cost: one round trip per question; one sleeping thread, in rank 0's process only.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace stria::mpiio {

/// A random number that names a channel, and that only its ranks know.
struct Token {
  std::array<uint64_t, 2> words{};
  auto operator<=>(const Token&) const = default;
};

struct NodesMessage {
  enum class Kind : uint32_t {
    kHello = 1,  ///< answered
    /// The message adds to a shared pointer: values are the pointer's index and what to add;
    /// answered with what it was before.
    kAdd,
    kOutcomes,  ///< a NodesReport; answered with a NodesAnswer as soon as there is news
    kAnswer,
  };
  static constexpr int kValues = 16;

  Token token;
  Kind kind{};
  int32_t rank = 0;      ///< the rank that asks
  int64_t sequence = 0;  ///< the sequence of its questions, from 1; the answer has the same
  std::array<int64_t, kValues> values{};
};

/// The failure of an operation, as an error class.
struct NodesFailure {
  int64_t operation = 0;
  int64_t error_class = 0;
};

/// Failures in one message; more of them take more messages.
inline constexpr int kNodesFailures = 6;

/// Says how far a node is, and what a rank of it wants to know. In the values of a message.
struct NodesReport {
  int64_t known = 0;          ///< the outcomes of all operations below are known to this rank
  int64_t node = -1;          ///< the node whose progress follows; -1: none does
  int64_t finished = 0;       ///< all operations below are finished on that node
  int64_t failure_count = 0;  ///< the number of those that are news to rank 0
  std::array<NodesFailure, kNodesFailures> failures{};
};

struct NodesAnswer {
  int64_t known = 0;          ///< all operations below are finished on every node
  int64_t finished = 0;       ///< what rank 0 knows about the node that asked
  int64_t failure_count = 0;  ///< the number of those from NodesReport::known on
  std::array<NodesFailure, kNodesFailures> failures{};
};

template <typename Content>
Content content_of(const NodesMessage& message) {
  static_assert(sizeof(Content) <= sizeof message.values && std::is_trivially_copyable_v<Content>);
  Content content;
  std::memcpy(static_cast<void*>(&content), message.values.data(), sizeof content);
  return content;
}

template <typename Content>
void set_content(NodesMessage& message, const Content& content) {
  static_assert(sizeof content <= sizeof message.values);
  std::memcpy(message.values.data(), &content, sizeof content);
}

}  // namespace stria::mpiio
