#include "storage/striped/pass.hpp"

#include <algorithm>
#include <utility>

#include "storage/striped/store.hpp"

namespace stria::storage {

namespace {

constexpr uint64_t kLongestMs = 3600 * 1000;

}  // namespace

Pass::Pass(std::shared_ptr<Store> store, uint64_t handle, const wire::Renewed& good)
    : store_(std::move(store)), handle_(handle) {
  take(good, Clock::now());
}

void Pass::take(const wire::Renewed& good, Clock::time_point asked) {
  ticket_ = good.ticket;
  renew_at_ = asked + std::chrono::milliseconds(std::min(good.ticket_ms, kLongestMs) / 2);
}

Status Pass::stamp(std::vector<std::byte>& body) {
  const std::lock_guard lock(mutex_);
  if (const auto now = Clock::now(); now >= renew_at_) {
    STRIA_ASSIGN_OR_RETURN(const wire::Renewed good, store_->renew(handle_));
    take(good, now);
  }
  std::vector<std::byte> bytes;
  bytes.reserve(wire::kTicketBytes);
  wire::Writer writer(bytes);
  ticket_.put(writer);
  std::copy(bytes.begin(), bytes.end(), body.begin() + static_cast<ptrdiff_t>(wire::kTicketPlace));
  return {};
}

}  // namespace stria::storage
