// Describes what one rank brings to one aggregator in a round, or wants from it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "access/request/overlap.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"

namespace stria::access {

struct Share {
  /// The other side: the aggregator, or among an aggregator's contributors the contributor.
  int rank = 0;
  int speaker = 0;  ///< the rank that speaks for the contributor
  /// The bytes, among contributors, are those of the contributor before, with the same speaker.
  bool repeats = false;
  bool own = false;     ///< the aggregator and the contributor are this rank
  bool shared = false;  ///< the aggregator's buffer can be addressed by the contributor
  std::vector<Window> windows;
  std::vector<std::pair<size_t, Overlap>> parts;  ///< window number and overlap
  int64_t bytes = 0;

  /// Takes in what `description` has in the windows. May throw std::bad_alloc.
  void collect(std::span<const LaneDescription> description) { bytes = overlaps_in(description, windows, parts); }
};

/// Calls `visit(speaker, shares)` for the shares of each speaker among an aggregator's
/// contributors, except its own.
template <typename Visit>
void for_each_speaker(std::span<const Share> contributors, Visit&& visit) {
  for (size_t first = 0, end = 0; first < contributors.size(); first = end) {
    while (end < contributors.size() && contributors[end].speaker == contributors[first].speaker) {
      ++end;
    }
    if (!contributors[first].own) {
      visit(contributors[first].speaker, contributors.subspan(first, end - first));
    }
  }
}

/// Copies packed bytes of a share, one part behind the other, to their places in the windows'
/// buffer, and back.
void scatter_to_windows(const Share& share, const std::byte* packed, std::byte* buffer);
void gather_from_windows(const Share& share, const std::byte* buffer, std::byte* packed);

}  // namespace stria::access
