#include "hdf5/defer/held_bytes.hpp"

#include <algorithm>
#include <utility>

namespace stria::hdf5 {

namespace {

bool lies_before(const Held& left, const Held& right) {
  return left.place.begin < right.place.begin;
}

bool lie_apart(std::vector<Held> pieces) {
  if (!std::is_sorted(pieces.begin(), pieces.end(), lies_before)) {
    std::sort(pieces.begin(), pieces.end(), lies_before);
  }
  const auto touch = [](const Held& left, const Held& right) { return left.place.end > right.place.begin; };
  return std::adjacent_find(pieces.begin(), pieces.end(), touch) == pieces.end();
}

void insert(std::map<int64_t, int64_t>& ends, ByteRange place) {
  auto next = ends.lower_bound(place.begin);
  if (next != ends.end() && next->first == place.end) {
    place.end = next->second;
    next = ends.erase(next);
  }
  if (next != ends.begin() && std::prev(next)->second == place.begin) {
    std::prev(next)->second = place.end;
    return;
  }
  ends.emplace_hint(next, place.begin, place.end);
}

}  // namespace

bool HeldBytes::touches(ByteRange place) const {
  if (ends_.empty() || place.empty()) {
    return false;
  }
  const auto next = ends_.lower_bound(place.end);
  return next != ends_.begin() && std::prev(next)->second > place.begin;
}

bool HeldBytes::add(std::span<const Held> pieces) {
  const auto touches_held = [this](const Held& piece) { return touches(piece.place); };
  if (std::any_of(pieces.begin(), pieces.end(), touches_held) ||
      (pieces.size() > 1 && !lie_apart({pieces.begin(), pieces.end()}))) {
    return false;
  }
  for (const Held& piece : pieces) {
    insert(ends_, piece.place);
    bytes_ += piece.place.size();
  }
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  return true;
}

void HeldBytes::sort() {
  std::sort(pieces_.begin(), pieces_.end(), lies_before);
  size_t count = 0;
  for (const Held& piece : pieces_) {
    Held* const last = count == 0 ? nullptr : &pieces_[count - 1];
    if (last != nullptr && last->place.end == piece.place.begin && last->bytes + last->place.size() == piece.bytes) {
      last->place.end = piece.place.end;
    } else {
      pieces_[count++] = piece;
    }
  }
  pieces_.resize(count);
}

void HeldBytes::clear() {
  pieces_.clear();
  ends_.clear();
  bytes_ = 0;
}

void HeldBytes::keep(std::vector<Held> pieces) {
  clear();
  static_cast<void>(add(pieces));
}

}  // namespace stria::hdf5
