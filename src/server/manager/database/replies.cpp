#include "server/manager/database/replies.hpp"

#include "server/manager/database/names_fields.hpp"

namespace stria::server {

Status Replies::remember(const wire::Identity& session, uint64_t request, std::span<const std::byte> reply) {
  last_[session] = request;
  return database_.run("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", std::span<const std::byte>(session),
                       static_cast<int64_t>(request), reply, now_ns());
}

Result<std::optional<std::vector<std::byte>>> Replies::recall(const wire::Identity& session, uint64_t request) {
  if (const auto last = last_.find(session); last != last_.end() && request > last->second) {
    return std::optional<std::vector<std::byte>>();
  }
  Query found = database_.query("SELECT reply FROM replies WHERE session = ? AND request = ?",
                                std::span<const std::byte>(session), static_cast<int64_t>(request));
  std::optional<std::vector<std::byte>> reply;
  if (found.next()) {
    reply = found.bytes(0);
  }
  STRIA_RETURN_IF_ERROR(found.status());
  return reply;
}

Status Replies::forget_old_sessions() {
  last_.clear();  // The database still has those of sessions that live.
  constexpr int64_t kHourNs = int64_t{3600} * 1000 * 1000 * 1000;
  return database_.run("DELETE FROM replies WHERE at_ns < ?", now_ns() - kHourNs);
}

}  // namespace stria::server
