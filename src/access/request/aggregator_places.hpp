// The list of the hint cb_config_list as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/request/hints.hpp"

namespace stria::access {

/// Reads "host:2,other,*:*". Commas divide the entries. An entry is a host, or * for hosts that no
/// earlier entry names, and then the number of its ranks: * for all, 0 for none, 1 if it is left
/// out. Nothing when `text` is not such a list.
std::optional<std::vector<AggregatorPlace>> parse_aggregator_places(std::string_view text);
/// Writes the list again, with every number.
std::string text_of(const std::vector<AggregatorPlace>& places);

}  // namespace stria::access
