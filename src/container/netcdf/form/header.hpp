// The header of a classic netCDF file, and its bytes: docs/formats/netcdf.md, "Header".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/netcdf/form/types.hpp"
#include "stria/status.hpp"

namespace stria::container::netcdf {

struct Dimension {
  std::string name;
  int64_t length = 0;
  bool unlimited = false;  ///< its length is the number of records
};

/// A list of numbers of a type, or characters.
struct Attribute {
  std::string name;
  Type type = Type::kChar;
  int64_t count = 0;
  std::vector<std::byte> bytes;  ///< the bytes as the file has them, without padding
};

struct Variable {
  std::string name;
  std::vector<int> dimensions;
  std::vector<Attribute> attributes;
  Type type = Type::kByte;
  int64_t begin = 0;
  int64_t bytes = 0;  ///< the bytes of all of it, or of a record, without padding
};

struct Header {
  int64_t record_count = 0;
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;  ///< the attributes of the file
  std::vector<Variable> variables;

  bool is_record(const Variable& variable) const {
    return !variable.dimensions.empty() && dimensions[static_cast<size_t>(variable.dimensions[0])].unlimited;
  }
};

/// Names, values and variables begin at multiples of this.
inline constexpr int64_t kUnitBytes = 4;

/// The bytes between two records of a file with record variables of these sizes and types. A
/// single one has no padding.
class RecordSize {
 public:
  void add(int64_t bytes);
  int64_t bytes() const { return count_ == 1 ? first_bytes_ : padded_bytes_; }
  int count() const { return count_; }
  /// Returns where a further variable would lie in a record.
  int64_t end() const { return padded_bytes_; }

 private:
  int count_ = 0;
  int64_t first_bytes_ = 0;
  int64_t padded_bytes_ = 0;
};

/// Why a version can't hold the header; kUnsupported names the object.
Status check_version(const Header& header, Version version);
/// Returns the first version that can hold it; CDF-5 can always.
Version smallest_version(const Header& header);
std::vector<std::byte> encode(const Header& header, Version version);

/// Returns the most bytes that these take in a header of any version.
int64_t name_bytes_max(const std::string& name);
int64_t dimension_bytes_max(const std::string& name);
int64_t attribute_bytes_max(const std::string& name, int64_t value_bytes);
int64_t variable_bytes_max(const std::string& name, size_t dimensions);
inline constexpr int64_t kHeadBytesMax = 64;  ///< the most of what is not in these

}  // namespace stria::container::netcdf
