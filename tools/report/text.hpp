// Numbers for people, in reports and in sentences of a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stria::tool {

/// Texts as "71 %", "4.1 kB", "1.2 s", "812 MB/s", "1,234". Units are powers of ten.
std::string percent_text(double share);
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);
std::string rate_text(double bytes_per_second);
std::string count_text(int64_t count);
/// Returns "1 file", "1,234 files".
std::string counted_text(int64_t count, std::string_view noun);

}  // namespace stria::tool
