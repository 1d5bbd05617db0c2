// Text without the blanks around it.
#pragma once

#include <string_view>

namespace stria {

/// Returns the text without spaces, tabs and ends of lines at its beginning and its end.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace stria
