#include "server/objects/moving_parts.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::server {

namespace {

// A byte that has changed has so much copied again.
constexpr int64_t kStretchBytes = int64_t{1} << 20;
// Clients that wait give up after half a minute.
constexpr std::chrono::seconds kLongestHold{10};

}  // namespace

Status MovingParts::check(uint64_t part, const wire::Ticket& ticket) const {
  const bool is_mover = (ticket.rights & wire::kMayMove) != 0;
  if (count_ == 0 && !is_mover) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(part);
  if (!is_mover && (found == entries_.end() || found->second.state == State::kFollowed)) {
    return {};
  }
  const bool may = found != entries_.end() && found->second.state != State::kGone && found->second.ticket == ticket;
  return may ? Status() : Status(ErrorCode::kNotFound, "this part of the file moves to another server, or has moved");
}

void MovingParts::changed(uint64_t part, std::span<const PieceRow> rows) {
  if (count_ == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(part);
  if (found == entries_.end()) {
    return;
  }
  for (const PieceRow& row : rows) {
    for (int64_t stretch = row.begin / kStretchBytes; stretch * kStretchBytes < row.end(); ++stretch) {
      found->second.stretches[stretch] = found->second.changes;
    }
  }
}

void MovingParts::changed_from(uint64_t part, int64_t begin) {
  STRIA_ASSERT(begin >= 0, part, begin);
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(part); found != entries_.end()) {
    found->second.all_from = std::min(found->second.all_from, begin);
    found->second.all_from_change = found->second.changes;
  }
}

void MovingParts::begin(uint64_t part, const wire::Ticket& ticket, State state) {
  Entry entry;
  entry.ticket = ticket;
  entry.state = state;
  entries_[part] = std::move(entry);
  count_ = entries_.size();
}

MovingParts::Entry* MovingParts::find(uint64_t part, const wire::Ticket& ticket) {
  const auto found = entries_.find(part);
  return found == entries_.end() || found->second.ticket != ticket ? nullptr : &found->second;
}

Status MovingParts::follow(uint64_t part, const wire::Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(part); found != entries_.end()) {
    if (found->second.ticket == ticket && found->second.state == State::kFollowed) {
      return {};
    }
    if (found->second.state == State::kGone) {
      return wire::move_is_over();
    }
  }
  begin(part, ticket, State::kFollowed);
  return {};
}

Status MovingParts::hold(uint64_t part, const wire::Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(part, ticket);
  if (entry == nullptr || (entry->state != State::kFollowed && entry->state != State::kHeld)) {
    return wire::move_is_over();
  }
  entry->since = entry->state == State::kHeld ? entry->since : Clock::now();
  entry->state = State::kHeld;
  return {};
}

void MovingParts::release(uint64_t part, const wire::Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  if (Entry* const entry = find(part, ticket); entry != nullptr && entry->state == State::kHeld) {
    entry->state = State::kFollowed;
  }
}

// A mover that was stopped for a while, as by a signal, may come when another has done its work.
Status MovingParts::receive(uint64_t part, const wire::Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  if (find(part, ticket) == nullptr && ticket.expires_ms <= last_expiry_ms_) {
    return wire::move_is_over();
  }
  last_expiry_ms_ = std::max(last_expiry_ms_, ticket.expires_ms);
  begin(part, ticket, State::kReceived);
  return {};
}

Status MovingParts::open(uint64_t part, const wire::Ticket& ticket, const std::function<Status()>& last) {
  const std::lock_guard lock(mutex_);
  if (!entries_.contains(part)) {
    return {};
  }
  if (const Entry* const entry = find(part, ticket); entry == nullptr || entry->state != State::kReceived) {
    return wire::move_is_over();
  }
  STRIA_RETURN_IF_ERROR(last());
  entries_.erase(part);
  count_ = entries_.size();
  return {};
}

Status MovingParts::gone(uint64_t part, const wire::Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(part, ticket);
  if (entry == nullptr || (entry->state != State::kHeld && entry->state != State::kGone)) {
    return wire::move_is_over();
  }
  entry->state = State::kGone;
  return {};
}

void MovingParts::tell_changes(uint64_t part, uint64_t since, wire::PartMoved& answer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(part);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  answer.changes = ++entry.changes;
  std::vector<int64_t> stretches;
  for (const auto& [stretch, change] : entry.stretches) {
    if (change >= since) {
      stretches.push_back(stretch);
    }
  }
  std::sort(stretches.begin(), stretches.end());
  auto& changed = answer.changed;
  for (const int64_t stretch : stretches) {
    const ByteRange range{stretch * kStretchBytes, (stretch + 1) * kStretchBytes};
    // Where the list is full, its last range grows over what was not changed.
    if (!changed.empty() && (changed.back().end == range.begin || changed.size() == wire::kMaxListed - 1)) {
      changed.back().end = range.end;
    } else {
      changed.push_back(range);
    }
  }
  if (entry.all_from_change >= since && entry.all_from < INT64_MAX) {
    changed.push_back({entry.all_from, INT64_MAX >> 2});
  }
}

std::vector<MovingParts::Question> MovingParts::questions() {
  std::vector<Question> questions;
  if (count_ == 0) {
    return questions;
  }
  const std::lock_guard lock(mutex_);
  // A manager that has taken over may not know that a part has gone; others wait for the answer.
  std::vector<uint64_t> gone;
  for (const auto& [part, entry] : entries_) {
    if (entry.state == State::kGone) {
      gone.push_back(part);
    } else if (questions.size() < wire::kMaxListed) {
      const bool ends = entry.state == State::kHeld && Clock::now() - entry.since > kLongestHold;
      questions.push_back({{part, ends}, entry.ticket});
    }
  }
  STRIA_CHECK(questions.size() <= wire::kMaxListed, questions.size());
  const size_t room = std::min(gone.size(), size_t{wire::kMaxListed} - questions.size());
  if (room < gone.size()) {
    std::sort(gone.begin(), gone.end());
    std::rotate(gone.begin(), std::upper_bound(gone.begin(), gone.end(), last_gone_asked_), gone.end());
    gone.resize(room);
    last_gone_asked_ = gone.empty() ? last_gone_asked_ : gone.back();
  }
  for (const uint64_t part : gone) {
    questions.push_back({{part, false}, entries_.at(part).ticket});
  }
  return questions;
}

void MovingParts::settle(const std::vector<Question>& asked, const std::vector<wire::PartMoves>& states) {
  STRIA_CHECK(asked.size() == states.size(), asked.size(), states.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < asked.size(); ++i) {
    Entry* const entry = find(asked[i].asked.part, asked[i].ticket);
    if (entry == nullptr) {
      continue;
    }
    if (states[i] == wire::PartMoves::kHere) {
      entries_.erase(asked[i].asked.part);
    } else if (states[i] == wire::PartMoves::kElsewhere) {
      entry->state = State::kGone;
    }
  }
  count_ = entries_.size();
}

void MovingParts::start(const wire::MovesTold& told) {
  const std::lock_guard lock(mutex_);
  last_expiry_ms_ = told.last_expiry_ms;
  for (const uint64_t part : told.gone) {
    begin(part, {}, State::kGone);
  }
}

void MovingParts::removed(std::span<const uint64_t> parts) {
  if (count_ == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const uint64_t part : parts) {
    if (const auto found = entries_.find(part); found != entries_.end() && found->second.state == State::kGone) {
      entries_.erase(found);
    }
  }
  count_ = entries_.size();
}

}  // namespace stria::server
