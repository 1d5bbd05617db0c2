#include "server/objects/growth.hpp"

#include "base/check.hpp"

namespace stria::server {

Status Growth::check(uint64_t part) const {
  if (!counts_) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  if (over_.empty()) {
    return {};
  }
  const auto known = accounts_.find(part);
  if (known == accounts_.end()) {
    return {};
  }
  for (const wire::Account& account : known->second) {
    if (const auto found = over_.find(account); found != over_.end()) {
      return wire::over_quota(found->second);
    }
  }
  return {};
}

void Growth::changed(uint64_t part) {
  if (counts_) {
    const std::lock_guard lock(mutex_);
    changed_.insert(part);
  }
}

void Growth::changed(std::span<const uint64_t> parts) {
  if (counts_) {
    const std::lock_guard lock(mutex_);
    for (const uint64_t part : parts) {
      changed_.insert(part);
      accounts_.erase(part);
    }
  }
}

std::vector<uint64_t> Growth::take_changed(size_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> parts;
  while (parts.size() < most && !changed_.empty()) {
    parts.push_back(*changed_.begin());
    changed_.erase(changed_.begin());
  }
  return parts;
}

void Growth::learn(std::span<const wire::Usage::Entry> told, const wire::UsageAnswer& answer) {
  STRIA_CHECK(!answer.counts || answer.accounts.size() == told.size(), answer.accounts.size(), told.size());
  const std::lock_guard lock(mutex_);
  counts_ = answer.counts;
  over_.clear();
  for (const auto& [account, why] : answer.over) {
    over_.emplace(account, why);
  }
  if (!answer.counts) {
    accounts_.clear();
    changed_.clear();
    return;
  }
  for (size_t i = 0; i < told.size(); ++i) {
    accounts_[told[i].part] = answer.accounts[i];
  }
}

}  // namespace stria::server
