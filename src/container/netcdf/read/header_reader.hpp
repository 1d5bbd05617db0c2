// Reads the header of a classic netCDF file, whoever has written it. Nothing in it is trusted.
//
// Problem: a header may have any length, and its counts may claim anything.
// Method: it is read in pages as it is needed. Lists grow by what is really there, since each
// entry takes bytes of the file. Values of attributes are passed over.
#pragma once

#include <string>
#include <vector>

#include "container/netcdf/form/header.hpp"
#include "storage/driver.hpp"

namespace stria::container::netcdf {

/// An attribute whose value is still in the file.
struct FoundAttribute {
  std::string name;
  Type type = Type::kChar;
  int64_t count = 0;
  int64_t offset = 0;  ///< the offset of the value in the file

  int64_t bytes() const { return count * type_bytes(type); }
};

struct FoundVariable {
  std::string name;
  std::vector<FoundAttribute> attributes;
  Shape shape;
  std::vector<std::string> dimensions;  ///< their names
  bool is_record = false;
  int64_t begin = 0;
  int64_t row_bytes = 0;   ///< the bytes of a record, or of all
  int64_t row_stride = 0;  ///< the stride of records; 0 where they follow each other
};

struct FoundHeader {
  Version version = Version::kCdf1;
  int64_t bytes = 0;
  int64_t record_count = 0;
  bool tells_records = true;  ///< the file says how many it has
  int64_t record_bytes = 0;   ///< from one record to the next
  std::vector<FoundAttribute> attributes;
  std::vector<FoundVariable> variables;
};

/// Tells whether a file that begins with these 4 bytes is classic netCDF, of any version.
bool is_classic(std::span<const std::byte, 4> signature);

/// kFormat when it is another format, kCorrupted when it is cut short or makes no sense. Errors of
/// the storage keep their code.
Result<FoundHeader> read_header(storage::File& file);

}  // namespace stria::container::netcdf
