// The list of the hint cb_config_list as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/request/hints.hpp"

namespace stria::access {

/// Reads "host:2,other,*:*": entries divided by commas, a host or * for those that no entry before
/// names, then how many of its ranks (* for all of them, one where nothing is said; 0 leaves a host
/// out). Nothing when `text` is not such a list.
std::optional<std::vector<AggregatorPlace>> parse_aggregator_places(std::string_view text);
/// The same written again, every number said.
std::string text_of(const std::vector<AggregatorPlace>& places);

}  // namespace stria::access
