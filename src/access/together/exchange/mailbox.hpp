// The messages of a collective operation. They are posted without waiting, and kept until
// they are sent.
//
// Problem: a rank that waited for a send within a round might wait for a rank that waits for it. A
// rank out of memory that sent nothing would leave the others waiting.
// Method: sends are posted, and waited for at the end of a round. The memory for messages comes
// from the operation's reserve.
// Cost: the bytes of a round's messages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/request/message_tags.hpp"
#include "comm/comm.hpp"

namespace stria::access {

class Mailbox {
 public:
  Mailbox(Comm& comm, MemoryReserve& memory) : comm_(comm), memory_(memory) {}

  /// Begins to send; the message is kept until drain(). No rank waits for a send within a round, so
  /// that two aggregators that send to each other can't lock up.
  void post_token(int to, int tag, int64_t value) { post_numbers(to, tag, {&value, 1}); }
  void post_numbers(int to, int tag, std::span<const int64_t> values);
  /// Does the same for a token that is received only in a later round: kept until finish().
  void post_lasting_token(int to, int tag, int64_t value);
  void post_bytes(std::vector<std::byte> data, int to, int tag);
  /// The same for memory that wasn't cleared before it was filled.
  void post_payload(std::unique_ptr<std::byte[]> data, int64_t bytes, int to, int tag);
  /// Does the same for bytes that the caller keeps until drain().
  void post_kept_bytes(std::span<const std::byte> data, int to, int tag);
  /// Waits until everything posted has been sent, except lasting tokens; ends a round.
  void drain();
  /// Waits for the lasting tokens too; ends the operation.
  void finish();
  int64_t receive_token(int from, int tag);
  void receive(std::span<std::byte> data, int from, int tag);

 private:
  struct Posted {
    std::vector<std::byte> data;
    std::unique_ptr<std::byte[]> payload;
    std::unique_ptr<CommRequest> request;
  };
  std::vector<std::byte> token_bytes(std::span<const int64_t> values);
  void post(std::vector<Posted>& list, std::vector<std::byte>&& data, int to, int tag);
  void wait_for(std::vector<Posted>& list);

  Comm& comm_;
  MemoryReserve& memory_;
  std::vector<Posted> posted_;
  std::vector<Posted> lasting_;
};

}  // namespace stria::access
