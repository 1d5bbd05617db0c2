#include "access/request/aggregator_places.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/trimmed.hpp"

namespace stria::access {

namespace {

std::optional<AggregatorPlace> parse_place(std::string_view entry) {
  // A name may hold colons (an address); the number follows the last.
  const size_t colon = entry.rfind(':');
  AggregatorPlace place{std::string(trimmed(entry.substr(0, colon))), 1};
  if (colon != std::string_view::npos) {
    const std::string_view number = trimmed(entry.substr(colon + 1));
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, place.most);
    if (number == "*") {
      place.most = AggregatorPlace::kAll;
    } else if (error != std::errc() || stop != end || place.most < (place.host == "*" ? 1 : 0)) {
      return std::nullopt;
    }
  }
  return place.host.empty() ? std::nullopt : std::optional(std::move(place));
}

}  // namespace

std::optional<std::vector<AggregatorPlace>> parse_aggregator_places(std::string_view text) {
  std::vector<AggregatorPlace> places;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    auto place = parse_place(text.substr(begin, end - begin));
    if (!place) {
      return std::nullopt;
    }
    places.push_back(std::move(*place));
    begin = end + 1;
  }
  return places;
}

std::string text_of(const std::vector<AggregatorPlace>& places) {
  std::string text;
  for (const AggregatorPlace& place : places) {
    const std::string most = place.most == AggregatorPlace::kAll ? "*" : std::to_string(place.most);
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", place.host, most);
  }
  return text;
}

}  // namespace stria::access
