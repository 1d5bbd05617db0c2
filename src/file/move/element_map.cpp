#include "file/move/element_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "stria/memory.hpp"

namespace stria::file {

namespace {

constexpr int kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

struct PlaceInElement {
  int64_t element;
  int64_t position;  // the position of its value in memory
};

Result<std::vector<PlaceInElement>> places_of(std::span<const int64_t> offsets) {
  std::vector<PlaceInElement> places;
  places.reserve(offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < Elements::kNone) {
      return Status(ErrorCode::kInvalidArgument, fmt::format("the map of elements has {} at position {}", offsets[i], i));
    }
    if (offsets[i] != Elements::kNone) {
      places.push_back({offsets[i], static_cast<int64_t>(i)});
    }
  }
  return places;
}

// It sorts by counting, from the lowest digit on; places that share a digit stay in order.
void sort(std::vector<PlaceInElement>& places) {
  const auto less = [](const PlaceInElement& a, const PlaceInElement& b) { return a.element < b.element; };
  if (std::is_sorted(places.begin(), places.end(), less)) {
    return;
  }
  const auto largest = static_cast<uint64_t>(std::max_element(places.begin(), places.end(), less)->element);
  std::vector<PlaceInElement> sorted(places.size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(largest)); shift += kDigitBits) {
    const auto digit = [shift](const PlaceInElement& place) {
      return static_cast<uint64_t>(place.element) >> shift & (kDigits - 1);
    };
    std::vector<size_t> next(kDigits + 1);
    for (const PlaceInElement& place : places) {
      ++next[digit(place) + 1];
    }
    for (size_t i = 1; i < next.size(); ++i) {
      next[i] += next[i - 1];
    }
    for (const PlaceInElement& place : places) {
      sorted[next[digit(place)]++] = place;
    }
    places.swap(sorted);
  }
}

}  // namespace

void ElementMap::Runs::add(int64_t at) {
  if (!starts.empty() && starts.back() + lengths.back() == at) {
    ++lengths.back();
  } else {
    starts.push_back(at);
    lengths.push_back(1);
  }
}

Result<std::unique_ptr<const ElementMap>> ElementMap::create(std::span<const int64_t> offsets) {
  STRIA_ASSIGN_OR_RETURN(std::vector<PlaceInElement> places, places_of(offsets));
  sort(places);
  std::unique_ptr<ElementMap> map(new ElementMap);
  map->count_ = static_cast<int64_t>(offsets.size());
  map->end_ = places.empty() ? 0 : places.back().element + (places.back().element < INT64_MAX ? 1 : 0);
  const PlaceInElement* before = nullptr;
  for (const PlaceInElement& place : places) {
    if (before != nullptr && before->element == place.element) {
      return Status(ErrorCode::kInvalidArgument, fmt::format("element {} comes twice in the map: at positions {} and {}",
                                                             place.element, before->position, place.position));
    }
    map->places_.add(place.element);
    map->positions_.add(place.position);
    before = &place;
  }
  return std::unique_ptr<const ElementMap>(std::move(map));
}

Result<Datatype> ElementMap::type_of(const Runs& runs, int64_t width_bytes) const {
  const std::lock_guard lock(mutex_);
  std::optional<Datatype>& type = runs.types[static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(width_bytes)))];
  if (!type) {
    STRIA_ASSIGN_OR_RETURN(type, Datatype::indexed(runs.lengths, runs.starts, Datatype::bytes(width_bytes)));
  }
  return *type;
}

}  // namespace stria::file
