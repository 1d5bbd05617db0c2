// Two timelines in one page, one above the other.
#pragma once

#include <string>

namespace stria::tool {

/// Makes one HTML page of two others, each in its own frame. When one is moved or zoomed, the other
/// follows by as much.
std::string side_by_side_page(const std::string& first, const std::string& second);

}  // namespace stria::tool
