// An outcome with its result, as one message.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Encodes a message of `content`, or of the failure in its place. A failure fits into
/// Comm::gather(), whatever its text.
std::vector<std::byte> encode_outcome(const Status& status, const std::vector<std::byte>& content);
/// Encodes a success without content, or a failure without its words, where there is no memory.
/// Returns what it has filled of `room`.
std::span<const std::byte> encode_without_words(const Status& status, std::array<std::byte, 8>& room) noexcept;
/// Hands `take`, which must need no memory, the message of an outcome without content, and without
/// words where those have no room.
template <typename Take>
void give_outcome(const Status& status, Take&& take) noexcept {
  try {
    take(std::span<const std::byte>(encode_outcome(status, {})));
  } catch (const std::bad_alloc&) {
    std::array<std::byte, 8> room;
    take(encode_without_words(status, room));
  }
}
/// Decodes the content, or the failure. \pre message is from encode_outcome()
Result<std::vector<std::byte>> decode_outcome(std::span<const std::byte> message);

/// Keeps in `first` the failure of the lowest of `ranks` ranks, of which each gives its `status`,
/// in order. A rank that gave up because of another counts only if no other failure is known.
void keep_first_failure(Status& first, const Status& status, int rank, int ranks);
/// Does the same, for a status that names its rank.
void keep_first_failure(Status& first, const Status& status);

/// Gives every rank the `bytes` of rank 0. Fails where `mine` is a failure on any rank, or a rank
/// has no memory for the bytes; the error has that rank's number. Collective: yes; the outcome is
/// the same everywhere.
Status share_bytes(Comm& comm, const Status& mine, std::vector<std::byte>& bytes);
/// Does the same, when no rank has failed and all know the size.
Status share_bytes(Comm& comm, int64_t size, std::vector<std::byte>& bytes);

}  // namespace stria::file
