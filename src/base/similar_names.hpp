// Describes how much a mistyped name differs from one that there is.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

namespace stria {

/// The difference of names that have nothing to do with each other.
inline constexpr size_t kNoMatch = std::numeric_limits<size_t>::max();

// Returns the number of insertions, deletions, replacements and swaps of neighbours (optimal string
// alignment), computed row by row.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// A name that begins as typed counts as one slip. Otherwise at most a third of the
// letters may be wrong.
inline size_t difference(std::string_view typed, std::string_view name) {
  if (typed.size() > 1 && name.compare(0, typed.size(), typed) == 0) {
    return 1;
  }
  const size_t distance = edit_distance(typed, name);
  return distance * 3 <= std::max(typed.size(), name.size()) + 1 ? distance : kNoMatch;
}

}  // namespace stria
