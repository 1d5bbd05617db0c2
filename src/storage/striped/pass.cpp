#include "storage/striped/pass.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "storage/striped/store.hpp"

namespace stria::storage {

namespace {

constexpr uint64_t kLongestMs = 3600 * 1000;
// While the ticket is good, a manager that is away is asked so often, and so long.
constexpr std::chrono::seconds kAskAgainAfter{10};
constexpr std::chrono::milliseconds kPatience{500};

}  // namespace

Pass::Pass(std::shared_ptr<Store> store, uint64_t handle, const wire::Renewed& good)
    : store_(std::move(store)), handle_(handle) {
  take(good, Clock::now());
}

void Pass::take(const wire::Renewed& good, Clock::time_point asked) {
  ticket_ = good.ticket;
  const std::chrono::milliseconds life(std::min(good.ticket_ms, kLongestMs));
  renew_at_ = asked + life / 2;
  ends_at_ = asked + life;
}

Status Pass::renew() {
  const auto asked = Clock::now();
  const bool is_good = asked < ends_at_;
  const auto renewed = store_->renew(handle_, is_good ? kPatience : std::chrono::milliseconds(0));
  if (renewed.ok()) {
    take(*renewed, asked);
    return {};
  }
  if (is_good && renewed.status().code() == ErrorCode::kIo) {
    renew_at_ = std::min<Clock::time_point>(Clock::now() + kAskAgainAfter, ends_at_);
    return {};
  }
  return renewed.status();
}

void Pass::forget() {
  const std::lock_guard lock(mutex_);
  renew_at_ = Clock::now();
  ends_at_ = renew_at_;
}

Status Pass::stamp(std::vector<std::byte>& body) {
  const std::lock_guard lock(mutex_);
  if (Clock::now() >= renew_at_) {
    STRIA_RETURN_IF_ERROR(renew());
  }
  std::vector<std::byte> bytes;
  bytes.reserve(wire::kTicketBytes);
  wire::Writer writer(bytes);
  ticket_.put(writer);
  STRIA_CHECK(bytes.size() == wire::kTicketBytes && body.size() >= wire::kTicketPlace + bytes.size(), bytes.size(),
              body.size());
  std::copy(bytes.begin(), bytes.end(), body.begin() + static_cast<ptrdiff_t>(wire::kTicketPlace));
  return {};
}

}  // namespace stria::storage
