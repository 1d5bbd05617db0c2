// Memory of one kind for all connections together. A user asks for all that it needs at once, and
// waits in line until that much is free.
//
// Invariant: users are served in the order in which they came, so that many small requests can't
// keep out a large one. No user may ask a budget while it holds a share of it, and budgets are
// asked in a fixed order (messages, descriptions, buffers). So no circle of waiting users can form.
// Cost: one lock per request.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "server/connections/resources/background.hpp"

namespace stria::server {

/// This is thread-safe.
class Budget {
 public:
  explicit Budget(int64_t most) : most_(most), left_(most) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  class Share;
  /// Takes `amount` if that much is free and no user waits.
  Share take_now(int64_t amount);
  /// Asks for `amount`, or for the whole budget if that is less. When it is granted later,
  /// `bell` is rung.
  Share ask(int64_t amount, std::shared_ptr<Bell> bell);

  int64_t most() const { return most_; }
  int64_t used() const;
  int64_t waiting() const;

 private:
  struct Entry {
    int64_t amount = 0;
    bool granted = false;
    std::shared_ptr<Bell> bell;
  };
  using Line = std::list<Entry>;
  void give_back(Line::iterator entry);

  const int64_t most_;
  mutable std::mutex mutex_;
  int64_t left_;
  Line waiting_;
  Line granted_;
};

/// Holds what was asked for. The destructor gives it back, or ends the wait for it.
class Budget::Share {
 public:
  Share() = default;
  Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), entry_(other.entry_) {}
  Share& operator=(Share&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Share() {
    if (budget_ != nullptr) {
      budget_->give_back(entry_);
    }
  }
  /// True when it may be used.
  bool granted() const;

 private:
  friend class Budget;
  Share(Budget* budget, Line::iterator entry) : budget_(budget), entry_(entry) {}

  Budget* budget_ = nullptr;
  Line::iterator entry_;
};

}  // namespace stria::server
