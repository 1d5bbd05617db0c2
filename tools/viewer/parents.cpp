#include "viewer/parents.hpp"

#include <algorithm>

namespace stria::tool {

std::vector<int64_t> parent_indices(const std::vector<trace::Event>& events) {
  std::vector<int64_t> parents(events.size(), -1);
  std::vector<std::pair<uint32_t, int64_t>> ids;  // the ids of one rank: id, index
  for (size_t begin = 0; begin < events.size();) {
    size_t end = begin;
    ids.clear();
    for (; end < events.size() && events[end].rank == events[begin].rank; ++end) {
      ids.emplace_back(events[end].id, static_cast<int64_t>(end));
    }
    std::sort(ids.begin(), ids.end());
    for (size_t i = begin; i < end; ++i) {
      const auto found = std::lower_bound(ids.begin(), ids.end(), std::pair(events[i].parent, int64_t{0}));
      if (events[i].parent != 0 && found != ids.end() && found->first == events[i].parent) {
        parents[i] = found->second;
      }
    }
    begin = end;
  }
  return parents;
}

}  // namespace stria::tool
