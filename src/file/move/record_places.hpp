// Knows where the values of a record lie in it, by their paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Values of one type in a record, one or an array: never a record within.
struct RecordPlace {
  std::string path;
  int64_t offset_bytes = 0;
  int64_t count = 1;
  std::vector<int64_t> dims{};  ///< the dims of an array
  const container::ElementSpec* element = nullptr;
};

/// All places of a record, in its order, and by path: "mass", "pos.x", "points[2].x". A name has a
/// backslash before each dot, bracket and backslash.
class RecordPlaces {
 public:
  /// `record` outlives this. kUnsupported: there are more than 2^20. \pre `record` is a compound
  static Result<RecordPlaces> create(const container::ElementSpec& record);

  const std::vector<RecordPlace>& all() const { return places_; }
  /// Finds the place of a path; also of one element of an array, "v[1]".
  std::optional<RecordPlace> find(const std::string& path) const;

 private:
  Status add(const container::ElementSpec& element, const std::string& path, int64_t offset_bytes);
  Status add_array(const container::ElementSpec& array, const std::string& path, int64_t offset_bytes);
  Status add_members(const container::ElementSpec& record, const std::string& path, int64_t offset_bytes);

  std::vector<RecordPlace> places_;
  std::unordered_map<std::string, size_t> by_path_;
};

/// Returns the indices of an element of an array of these lengths, in C order: "[1][0]"; "" of no
/// array.
std::string indices_of(int64_t number, const std::vector<int64_t>& dims);

/// Returns a name as a part of a path, and back.
std::string quoted_name(std::string_view name);
std::string unquoted_name(std::string_view part);

}  // namespace stria::file
