#include "file/meet/outcome_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "base/check.hpp"

namespace stria::file {

std::vector<std::byte> encode_outcome(const Status& status, const std::vector<std::byte>& content) {
  const auto code = static_cast<int32_t>(status.code());
  const size_t text_bytes = std::min(status.message().size(), Comm::kGatherBytesMax - sizeof code);
  const auto text = std::as_bytes(std::span(status.message().data(), text_bytes));
  const std::span<const std::byte> body = status.ok() ? std::span(content) : text;
  std::vector<std::byte> message(sizeof code + body.size());
  std::memcpy(message.data(), &code, sizeof code);
  if (!body.empty()) {
    std::memcpy(message.data() + sizeof code, body.data(), body.size());
  }
  return message;
}

Result<std::vector<std::byte>> decode_outcome(std::span<const std::byte> message) {
  STRIA_CHECK(message.size() >= sizeof(int32_t), message.size());
  int32_t code = 0;
  std::memcpy(&code, message.data(), sizeof code);
  const auto body = message.subspan(sizeof code);
  if (code != 0) {
    return Status(static_cast<ErrorCode>(code), std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  return std::vector<std::byte>(body.begin(), body.end());
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
