// Describes what a self-describing file holds besides raw data, in terms that fit both HDF5 and
// netCDF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "container/chunking.hpp"
#include "stria/element_type.hpp"
#include "stria/meaning.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// The type of one element of a dataset or attribute.
struct ElementSpec {
  /// A kReference names an object of the file: its value is a path, padded with NULs. Elements of
  /// kReferences are lists of such, which no attribute of a program has. A kArray is a member of a
  /// kCompound.
  enum class Kind { kNumber, kString, kCompound, kReference, kReferences, kOther, kArray };
  struct Member;
  /// How deep compounds may be nested: more than any program needs, and a bound for recursion.
  /// Deeper ones are refused when written, and read as kOther.
  static constexpr int kMostNested = 32;

  Kind kind = Kind::kNumber;
  ElementType number = ElementType::kFloat64;  ///< kNumber
  bool big_endian = false;                     ///< kNumber: byte order in the file
  Meaning meaning = Meaning::kNumber;          ///< kNumber: what the file declares it as
  std::vector<NamedNumber> enumeration{};      ///< kNumber, an integer: names of its values
  /// Size of one element in the file and in the buffers passed with it.
  int64_t bytes = 8;
  /// kString: of fixed length, padded with blanks; otherwise with NULs.
  bool space_padded = false;
  /// kString: declared as a C string with a NUL at the end, though blanks may fill all of it.
  bool c_declared = false;
  /// kString: of any length in the file, of which `bytes` are as many as the longest has. Only the
  /// format's library reads it.
  bool varies = false;
  std::vector<Member> members;        ///< kCompound; kArray: one, for each of its elements
  std::vector<int64_t> array_dims{};  ///< kArray
  /// kString: declared as UTF-8 instead of ASCII; the writer finds this out by itself.
  bool utf8 = false;

  bool is_integer() const;
  /// Tells whether a number has its bytes in the other order than the machine's.
  bool is_swapped() const;
  /// Returns how many elements a kArray has, whose `bytes` were found without overflow.
  int64_t array_size() const;

  static ElementSpec of_number(ElementType type);
  static ElementSpec of_string(int64_t bytes, bool space_padded);
  /// Describes paths of at most `bytes` bytes.
  static ElementSpec of_reference(int64_t bytes);
  /// Returns a string filled with blanks and declared as a C string. Programs in C and Fortran that
  /// read it into C strings of that size get it unchanged. If it were declared as padded with
  /// blanks, libhdf5 would turn the blanks into NULs, and cut off the last character for the
  /// terminator.
  static ElementSpec of_filled_string(int64_t bytes);
  static ElementSpec of_compound(int64_t bytes, std::vector<Member> members);
  /// Returns an array of elements; kInvalidArgument when a length is less than one, or they are too
  /// many.
  static Result<ElementSpec> of_array(ElementSpec element, std::vector<int64_t> dims);
  /// Returns the pair by which HDF5 programs have complex numbers: "r" and "i".
  static ElementSpec of_complex(ElementSpec part);
};

struct ElementSpec::Member {
  std::string name;
  int64_t offset_bytes = 0;
  ElementSpec element;
};

/// Rows of a dataset that are all the rows of the dataset of the same path in another file.
struct RowsElsewhere {
  std::string file_name;  ///< beside the file that names it
  int64_t first_row = 0;
  int64_t row_count = 0;
};

/// A dataset to be made. `dims` are in C order, slowest first; they are empty for a scalar.
struct DatasetSpec {
  std::string path;  ///< within the file, "/"-separated, no leading slash needed
  ElementSpec element;
  std::vector<int64_t> dims;
  int64_t alignment_bytes = 1;  ///< the raw data begin at a multiple of this
  int64_t data_offset = -1;     ///< where the raw data go (Layout::place)
  /// How the dataset is cut into chunks, each with its own place; no value: it lies in one piece.
  std::optional<Chunking> chunking{};
  bool extendable = false;  ///< the first dimension has no limit
  /// Where all rows are, if the raw data are not in this file.
  std::vector<RowsElsewhere> elsewhere{};
  std::vector<std::string> dimension_names{};  ///< empty ones, and all where it is empty: not given
  bool unlimited = false;                      ///< the first dimension is the file's unlimited one
  /// This is the distance from one index of the first dimension to the next, where others' data lie
  /// in between; 0: they follow each other.
  int64_t row_stride_bytes = 0;
  bool is_dimension = false;  ///< it stands for a dimension, and has no data
  /// What elements read as that nobody puts: one element as the file has it. Empty: zeros.
  std::vector<std::byte> fill_value{};
  int64_t order = kLast;  ///< among all that is made: where the file keeps that, what comes first
  /// Other programs needn't see its content, where the format can hide it; they then keep it. Of
  /// a file, the content is known as bytes in one dimension.
  bool is_hidden = false;

  static constexpr int64_t kLast = INT64_MAX;
};

/// Another name for an object, of this file or of another one.
struct LinkSpec {
  std::string path;
  std::string target;                  ///< the object's path
  std::string file{};                  ///< the file that has it; empty: the link's own
  int64_t order = DatasetSpec::kLast;  ///< its place in the order of creation, like a dataset's
};

/// Another path that leads to an object of the same file: a hard link, or a soft one.
struct Alias {
  std::string path;
  std::string of;  ///< the path that the object goes by
};

/// A value attached to a dataset or group. The buffer holds the elements in the
/// machine's byte order.
struct AttributeSpec {
  std::string object_path;
  std::string name;
  ElementSpec element;
  std::vector<int64_t> dims;
  std::vector<std::byte> value;
};

/// Says how a dataset of an existing file is stored.
struct DatasetInfo {
  enum class Layout { kContiguous, kCompact, kChunked, kVirtual, kUnallocated };
  DatasetSpec spec;
  Layout layout = Layout::kContiguous;
  /// File offset of the raw data when it can be read directly (contiguous, allocated, no filters,
  /// not external), else -1.
  int64_t data_offset = -1;
  /// What chunks pass, in the words of users: "shuffle deflate(1)". spec.chunking has a value only
  /// where Reader::chunks() can list the chunks, and decoding takes nothing but Filters.
  std::string filters{};
  std::vector<int64_t> chunk{};  ///< the lengths of chunks, whatever they pass; empty: none
  bool is_scale = false;         ///< it holds the coordinates of the dimension of its name
  /// What chunks without spec.chunking have that takes the format's library to be read.
  std::string obstacle{};
  /// Why its elements can't be read: only newer releases of the format's library know how they are
  /// stored. Its type is then kOther.
  Status problem{};
};

/// Returns the size in bytes of a dataset with these dims and this element. kInvalidArgument on
/// negative dims or overflow.
Result<int64_t> dataset_bytes(const DatasetSpec& spec);

}  // namespace stria::container
