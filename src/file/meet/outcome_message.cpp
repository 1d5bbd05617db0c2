#include "file/meet/outcome_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "base/check.hpp"

namespace stria::file {

namespace {

// What precedes the message of a failure; before the content of a success stands the code alone.
struct Head {
  ErrorCode code;
  ErrorReason reason;
};
static_assert(offsetof(Head, code) == 0);

// Returns the first bytes of `head`, and those of the body.
std::vector<std::byte> joined(const Head& head, size_t head_bytes, std::span<const std::byte> body) {
  std::vector<std::byte> message(head_bytes + body.size());
  std::memcpy(message.data(), &head, head_bytes);
  if (!body.empty()) {
    std::memcpy(message.data() + head_bytes, body.data(), body.size());
  }
  return message;
}

}  // namespace

std::vector<std::byte> encode_outcome(const Status& status, const std::vector<std::byte>& content) {
  const Head head{status.code(), status.reason()};
  if (status.ok()) {
    return joined(head, sizeof head.code, content);
  }
  const size_t text_bytes = std::min(status.message().size(), Comm::kGatherBytesMax - sizeof head);
  return joined(head, sizeof head, std::as_bytes(std::span(status.message().data(), text_bytes)));
}

std::span<const std::byte> encode_without_words(const Status& status, std::array<std::byte, 8>& room) noexcept {
  const Head head{status.code(), status.reason()};
  static_assert(sizeof head <= sizeof room);
  std::memcpy(room.data(), &head, sizeof head);
  return std::span(room).first(status.ok() ? sizeof head.code : sizeof head);
}

Result<std::vector<std::byte>> decode_outcome(std::span<const std::byte> message) {
  Head head{};
  STRIA_CHECK(message.size() >= sizeof head.code, message.size());
  std::memcpy(&head.code, message.data(), sizeof head.code);
  if (head.code == ErrorCode::kOk) {
    const auto content = message.subspan(sizeof head.code);
    return std::vector<std::byte>(content.begin(), content.end());
  }
  STRIA_CHECK(message.size() >= sizeof head, message.size(), head.code);
  std::memcpy(&head, message.data(), sizeof head);
  const auto text = message.subspan(sizeof head);
  if (text.empty()) {
    return Status(head.code, head.reason);
  }
  try {
    return Status(head.code, std::string(reinterpret_cast<const char*>(text.data()), text.size()), head.reason);
  } catch (const std::bad_alloc&) {
    return Status(head.code, head.reason);
  }
}

void keep_first_failure(Status& first, const Status& status, int rank, int ranks) {
  if (!status.ok()) {
    keep_first_failure(first, ranks == 1 ? status : status.with_context(fmt::format("rank {}", rank)));
  }
}

void keep_first_failure(Status& first, const Status& status) {
  if (!status.ok() && (first.ok() || (first.code() == ErrorCode::kAborted && status.code() != ErrorCode::kAborted))) {
    first = status;
  }
}

Status share_bytes(Comm& comm, const Status& mine, std::vector<std::byte>& bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  STRIA_RETURN_IF_ERROR(comm.agree(mine, std::as_writable_bytes(std::span(&size, 1))));
  return share_bytes(comm, size, bytes);
}

Status share_bytes(Comm& comm, int64_t size, std::vector<std::byte>& bytes) {
  STRIA_CHECK(size >= 0 && (comm.rank() != 0 || bytes.size() == static_cast<size_t>(size)), size, bytes.size());
  Status room;
  try {
    bytes.resize(static_cast<size_t>(size));
  } catch (const std::bad_alloc&) {
    room = Status(ErrorCode::kResourceExhausted, "out of memory");
  }
  STRIA_RETURN_IF_ERROR(comm.agree(room));
  if (size > 0) {
    comm.broadcast(bytes, 0);
  }
  return Status();
}

}  // namespace stria::file
