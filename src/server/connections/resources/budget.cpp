#include "server/connections/resources/budget.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::server {

Budget::Share Budget::take_now(int64_t amount) {
  STRIA_CHECK(amount >= 0, amount);
  amount = std::min(amount, most_);
  const std::lock_guard lock(mutex_);
  if (!waiting_.empty() || amount > left_) {
    return {};
  }
  granted_.push_back({amount, true, nullptr});
  left_ -= amount;
  return Share(this, std::prev(granted_.end()));
}

Budget::Share Budget::ask(int64_t amount, std::shared_ptr<Bell> bell) {
  STRIA_CHECK(amount >= 0 && bell != nullptr, amount);
  amount = std::min(amount, most_);
  const std::lock_guard lock(mutex_);
  const bool now = waiting_.empty() && amount <= left_;
  Line& line = now ? granted_ : waiting_;
  line.push_back({amount, now, std::move(bell)});
  left_ -= now ? amount : 0;
  return Share(this, std::prev(line.end()));
}

void Budget::give_back(Line::iterator entry) {
  const std::lock_guard lock(mutex_);
  left_ += entry->granted ? entry->amount : 0;
  STRIA_CHECK(left_ <= most_, left_, most_, entry->amount);
  (entry->granted ? granted_ : waiting_).erase(entry);
  while (!waiting_.empty() && waiting_.front().amount <= left_) {
    Entry& next = waiting_.front();
    left_ -= next.amount;
    next.granted = true;
    next.bell->ring();
    granted_.splice(granted_.end(), waiting_, waiting_.begin());
  }
}

bool Budget::Share::granted() const {
  if (budget_ == nullptr) {
    return false;
  }
  const std::lock_guard lock(budget_->mutex_);
  return entry_->granted;
}

int64_t Budget::used() const {
  const std::lock_guard lock(mutex_);
  return most_ - left_;
}

int64_t Budget::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(waiting_.size());
}

}  // namespace stria::server
