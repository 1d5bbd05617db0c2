#include "file/move/record_places.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/check.hpp"

namespace stria::file {

namespace {

using container::ElementSpec;
using Kind = ElementSpec::Kind;

constexpr size_t kMostPlaces = size_t{1} << 20;
constexpr std::string_view kSpecial = ".[]\\";

/// Returns the indices at the end of a path, and where they begin. Empty: there are none.
std::vector<int64_t> indices_at_end(const std::string& path, size_t& begin) {
  std::vector<int64_t> indices;
  begin = path.size();
  while (begin > 0 && path[begin - 1] == ']') {
    const size_t open = path.rfind('[', begin - 1);
    int64_t index = -1;
    const char* const last = path.data() + begin - 1;
    if (open == std::string::npos || (open > 0 && path[open - 1] == '\\')) {
      break;
    }
    if (const auto [end, error] = std::from_chars(path.data() + open + 1, last, index); error != std::errc() || end != last) {
      break;
    }
    indices.insert(indices.begin(), index);
    begin = open;
  }
  return indices;
}

}  // namespace

std::string indices_of(int64_t number, const std::vector<int64_t>& dims) {
  std::string text;
  for (size_t dim = dims.size(); dim-- > 0;) {
    text.insert(0, fmt::format("[{}]", number % dims[dim]));
    number /= dims[dim];
  }
  return text;
}

std::string quoted_name(std::string_view name) {
  std::string text;
  for (const char each : name) {
    text += kSpecial.find(each) == std::string_view::npos ? "" : "\\";
    text += each;
  }
  return text;
}

std::string unquoted_name(std::string_view part) {
  std::string name;
  for (size_t i = 0; i < part.size(); ++i) {
    const bool is_quoted = part[i] == '\\' && i + 1 < part.size() && kSpecial.find(part[i + 1]) != std::string_view::npos;
    i += is_quoted ? 1 : 0;
    name += part[i];
  }
  return name;
}

Result<RecordPlaces> RecordPlaces::create(const ElementSpec& record) {
  STRIA_ASSERT(record.kind == container::ElementSpec::Kind::kCompound, record.kind);
  RecordPlaces places;
  STRIA_RETURN_IF_ERROR(places.add_members(record, "", 0));
  for (size_t i = 0; i < places.places_.size(); ++i) {
    places.by_path_.emplace(places.places_[i].path, i);
  }
  return places;
}

Status RecordPlaces::add(const ElementSpec& element, const std::string& path, int64_t offset_bytes) {
  if (element.kind == Kind::kCompound) {
    return add_members(element, path + ".", offset_bytes);
  }
  if (element.kind == Kind::kArray) {
    return add_array(element, path, offset_bytes);
  }
  if (places_.size() >= kMostPlaces) {
    return Status(ErrorCode::kUnsupported, fmt::format("records of more than {} members and elements of arrays", kMostPlaces));
  }
  places_.push_back({.path = path, .offset_bytes = offset_bytes, .element = &element});
  return Status();
}

Status RecordPlaces::add_array(const ElementSpec& array, const std::string& path, int64_t offset_bytes) {
  const ElementSpec& element = array.members[0].element;
  if (element.kind != Kind::kCompound) {
    STRIA_RETURN_IF_ERROR(add(element, path, offset_bytes));
    places_.back().count = array.array_size();
    places_.back().dims = array.array_dims;
    return Status();
  }
  for (int64_t i = 0; i < array.array_size(); ++i) {
    STRIA_RETURN_IF_ERROR(add_members(element, path + indices_of(i, array.array_dims) + ".", offset_bytes + i * element.bytes));
  }
  return Status();
}

Status RecordPlaces::add_members(const ElementSpec& record, const std::string& path, int64_t offset_bytes) {
  for (const ElementSpec::Member& member : record.members) {
    STRIA_RETURN_IF_ERROR(add(member.element, path + quoted_name(member.name), offset_bytes + member.offset_bytes));
  }
  return Status();
}

std::optional<RecordPlace> RecordPlaces::find(const std::string& path) const {
  if (const auto found = by_path_.find(path); found != by_path_.end()) {
    return places_[found->second];
  }
  size_t begin = 0;
  const std::vector<int64_t> indices = indices_at_end(path, begin);
  const auto array = by_path_.find(path.substr(0, begin));
  if (indices.empty() || array == by_path_.end() || places_[array->second].dims.size() != indices.size()) {
    return std::nullopt;
  }
  RecordPlace place = places_[array->second];
  int64_t number = 0;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (indices[dim] < 0 || indices[dim] >= place.dims[dim]) {
      return std::nullopt;
    }
    number = number * place.dims[dim] + indices[dim];
  }
  place.offset_bytes += number * place.element->bytes;
  place.count = 1;
  place.dims.clear();
  return place;
}

}  // namespace stria::file
