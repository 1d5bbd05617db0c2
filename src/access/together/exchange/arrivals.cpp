#include "access/together/exchange/arrivals.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

Status Arrivals::allocate(size_t messages, int64_t longest_bytes, int64_t all_bytes) {
  expected_.reserve(messages);
  // Pages that no message fills are never made.
  STRIA_ASSIGN_OR_RETURN(memory_for_messages_,
                         PrivateMemory::allocate(std::max(longest_bytes, std::min(all_bytes, kAheadBytes))));
  return Status();
}

bool Arrivals::has_room(int64_t bytes) const {
  return used_bytes_ + static_cast<size_t>(bytes) <= memory_for_messages_.bytes().size();
}

void Arrivals::expect(Arrival arrival, int64_t bytes, int from, int tag) {
  STRIA_CHECK(bytes > 0 && has_room(bytes), bytes, used_bytes_, from);
  STRIA_ASSERT(arrival.bytes.empty() && arrival.request == nullptr);
  arrival.bytes = memory_for_messages_.bytes().subspan(used_bytes_, static_cast<size_t>(bytes));
  arrival.request = memory_.surely([&] { return comm_.receive(arrival.bytes, from, tag); });
  used_bytes_ += static_cast<size_t>(bytes);
  expected_.push_back(std::move(arrival));
}

void Arrivals::clear() {
  expected_.clear();
  used_bytes_ = 0;
}

}  // namespace stria::access
