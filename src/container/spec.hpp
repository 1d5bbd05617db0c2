// What a self-describing file holds besides raw data, in terms that fit HDF5 and netCDF alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/element_type.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// The type of one element of a dataset or attribute.
struct ElementSpec {
  enum class Kind { kNumber, kString, kCompound, kOther };
  struct Member;
  /// Compounds within compounds: more than anyone needs who doesn't mean to exhaust the stack. Deeper ones are refused, and
  /// read as kOther.
  static constexpr int kMostNested = 32;

  Kind kind = Kind::kNumber;
  ElementType number = ElementType::kFloat64;  ///< kNumber
  bool big_endian = false;                     ///< kNumber: byte order in the file
  int64_t bytes = 8;                           ///< size of one element in the file and in the buffers passed with it
  bool space_padded = false;                   ///< kString: fixed length, padded by blanks (else by NUL)
  bool c_declared = false;      ///< kString: declared as C's, terminated by NUL, though blanks may fill all of it
  std::vector<Member> members;  ///< kCompound
  bool utf8 = false;            ///< kString: declared as UTF-8 instead of ASCII; the writer finds out by itself

  static ElementSpec of_number(ElementType type);
  static ElementSpec of_string(int64_t bytes, bool space_padded);
  /// Filled with blanks and declared as C's: what C and Fortran programs that read into C strings of that size get unchanged.
  /// The library would turn the blanks of a string declared as padded by them into NULs, and cut the last character off for the
  /// terminator.
  static ElementSpec of_filled_string(int64_t bytes);
  static ElementSpec of_compound(int64_t bytes, std::vector<Member> members);
};

struct ElementSpec::Member {
  std::string name;
  int64_t offset_bytes = 0;
  ElementSpec element;
};

/// A dataset to be made. `dims` are in C order, slowest first; empty for a scalar.
struct DatasetSpec {
  std::string path;  ///< within the file, "/"-separated, no leading slash needed
  ElementSpec element;
  std::vector<int64_t> dims;
  int64_t alignment_bytes = 1;  ///< the raw data begin at a multiple of this
  int64_t data_offset = -1;     ///< where the raw data of a dataset to be made go (Layout::place)
};

/// A value attached to a dataset or group. The buffer holds the elements in the machine's byte order.
struct AttributeSpec {
  std::string object_path;
  std::string name;
  ElementSpec element;
  std::vector<int64_t> dims;
  std::vector<std::byte> value;
};

/// How a dataset of an existing file is stored.
struct DatasetInfo {
  enum class Layout { kContiguous, kCompact, kChunked, kVirtual, kUnallocated };
  DatasetSpec spec;
  Layout layout = Layout::kContiguous;
  int64_t data_offset = -1;  ///< file offset of the raw data when it can be read directly (contiguous, allocated, no filters,
                             ///< not external), else -1
};

/// The size in bytes of a dataset with these dims and this element, all checked. kInvalidArgument on negative dims or overflow.
Result<int64_t> dataset_bytes(const DatasetSpec& spec);

}  // namespace stria::container
