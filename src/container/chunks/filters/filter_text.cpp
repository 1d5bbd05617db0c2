#include "container/chunks/filters/filter_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include "stria/status.hpp"

namespace stria {

Filters Filters::from_text(std::string_view text) {
  if (text == "deflate") {
    return compress();
  }
  if (text == "zstd") {
    return {.shuffle = true, .zstd = true};
  }
  if (text == "scale_offset") {
    return {.scale_offset = true};
  }
  if (text == "zfp_reversible") {
    return {.zfp_reversible = true};
  }
  Filters filters;
  for (const auto& [name, bound] :
       {std::pair("zfp_absolute:", &filters.zfp_absolute), std::pair("zfp_relative:", &filters.zfp_relative),
        std::pair("zfp_rate:", &filters.zfp_rate)}) {
    if (text.starts_with(name)) {
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data() + std::string_view(name).size(), end, *bound);
      if (error == std::errc() && rest == end && *bound > 0) {
        return filters;
      }
    }
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no compression; use deflate, zstd, scale_offset, zfp_absolute:BOUND, zfp_relative:BOUND, "
                          "zfp_rate:BITS, with a number above 0, or zfp_reversible",
                          text));
}

namespace container {

std::string filter_text(const Filters& filters) {
  std::string text = filters.scale_offset ? "scale_offset " : "";
  if (filters.zfp()) {
    text += fmt::format("zfp({}, {}, {}, {}) ", filters.zfp_absolute, filters.zfp_relative, filters.zfp_rate,
                        filters.zfp_reversible);
  }
  return text + fmt::format("{}{}{}{}", filters.shuffle ? "shuffle " : "", filters.deflate ? "deflate " : "",
                            filters.zstd ? "zstd " : "", filters.fletcher32 ? "fletcher32" : "");
}

}  // namespace container

}  // namespace stria
