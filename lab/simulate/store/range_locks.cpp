#include "store/range_locks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace stria::simulate {

RangeLocks::Taken RangeLocks::take(int client, ByteRange wanted) {
  Taken taken;
  const ByteRange range{align_down(wanted.begin, unit_bytes_), align_up(wanted.end, unit_bytes_)};
  auto next = held_.upper_bound(range.begin);
  if (next != held_.begin()) {
    Held& before = std::prev(next)->second;
    if (before.client == client && range.end <= before.end) {
      before.used_end = std::max(before.used_end, range.end);
      return taken;
    }
  }
  taken.grants = 1;
  int64_t end = std::numeric_limits<int64_t>::max();
  // The range that begins before gives up what follows: its rest is lost to the new holder.
  if (next != held_.begin()) {
    auto before = std::prev(next);
    if (before->second.end > range.begin) {
      end = before->second.end;
      const bool is_other = before->second.client != client;
      taken.revocations += is_other ? 1 : 0;
      taken.flushes += is_other && before->second.used_end > range.begin ? 1 : 0;
      if (before->first == range.begin) {
        held_.erase(before);
      } else {
        before->second.end = range.begin;
        before->second.used_end = std::min(before->second.used_end, range.begin);
      }
    }
  }
  // Those that begin within the range are given up.
  for (next = held_.lower_bound(range.begin); next != held_.end() && next->first < range.end; next = held_.erase(next)) {
    taken.revocations += next->second.client == client ? 0 : 1;
    taken.flushes += next->second.client == client ? 0 : 1;
    end = std::max(range.end, next->second.end);
  }
  end = next == held_.end() ? end : std::min(end, next->first);
  held_[range.begin] = {std::max(end, range.end), range.end, client};
  return taken;
}

}  // namespace stria::simulate
