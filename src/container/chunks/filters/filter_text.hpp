// Filters in words: as programs name them, and as messages between ranks have them.
#pragma once

#include <string>

#include "stria/filters.hpp"

namespace stria::container {

/// Returns each filter in its turn, with bounds to the last digit: equal for equal filters alone.
std::string filter_text(const Filters& filters);

}  // namespace stria::container
