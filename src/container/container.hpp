// What the library asks of a self-describing file format. `file` knows this header and formats.hpp, and no format by name.
//
// A new file comes in three parts. Every rank makes a Layout, which gives each dataset's raw data their place without asking
// anybody. All ranks write raw data there. Rank 0 makes a Writer, tells it all objects, and writes the image of the metadata
// that it makes of them. An existing file has one Reader on each rank that needs it.
//
// Formats to come add to this and change none of it (docs/design.md, "Containers"): chunks that are compressed have no place
// before their sizes are agreed on; records of classic netCDF have a stride; a file that grows has an image whose last extent
// makes the others valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "container/image.hpp"
#include "container/spec.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// The places of a new file's raw data. Each rank has one, and works out the same as the others.
class Layout {
 public:
  virtual ~Layout() = default;
  /// The file offset of the raw data of a dataset, -1 when it has none. What was given a place keeps it. kInvalidArgument when
  /// the file would be too large.
  virtual Result<int64_t> place(const DatasetSpec& spec) = 0;
  /// The end of all raw data so far.
  virtual int64_t end() const = 0;
};

/// Makes the metadata of a new file in memory, on one rank.
class Writer {
 public:
  virtual ~Writer() = default;

  /// Makes a dataset whose raw data go to `spec.data_offset`, as the Layout has given it; returns that. Groups above it are
  /// made. kAlreadyExists, kInvalidArgument, kUnsupported with the dataset's name.
  virtual Result<int64_t> create_dataset(const DatasetSpec& spec) = 0;
  /// Makes a dataset whose whole content (in the machine's byte order) is given here and becomes part of the image.
  virtual Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) = 0;
  /// Sets an attribute, replacing one of that name. kNotFound when there is no such object; kUnsupported when the format can't
  /// hold the value.
  virtual Status write_attribute(const AttributeSpec& attribute) = 0;
  /// Makes an attribute whose value comes later, while everything else is made already; returns a number for
  /// fill_attributes(). `value` is what it holds until then. Unlike write_attribute() it replaces nothing: kAlreadyExists.
  virtual Result<int> reserve_attribute(const AttributeSpec& attribute) = 0;
  /// Gives reserved attributes their values (number, value). Those that got none by finish() are removed.
  virtual Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) = 0;
  /// All bytes of the file that are not raw data of create_dataset. The writer can't be used afterwards.
  virtual Result<SparseImage> finish() = 0;
};

/// Reads what an existing file says of itself. Raw data that lie in one piece are left to the engine.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Paths of all datasets, groups ending with '/', in the order of their names, depth first. Links that lead nowhere are left
  /// out. A group that can be reached in several ways is listed each time, its content once.
  virtual Result<std::vector<std::string>> list() const = 0;
  /// What a dataset is and where. kNotFound names the dataset; kCorrupted when its data would lie past the end of the file.
  virtual Result<DatasetInfo> dataset(const std::string& path) const = 0;
  /// Sorted names of the attributes of a dataset or group ("" or "/" is the root group).
  virtual Result<std::vector<std::string>> attribute_names(const std::string& object_path) const = 0;
  virtual Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const = 0;
  /// Reads the hyperslab [start, start + count) of a dataset of any layout into `out`, elements in C order, in the machine's
  /// byte order (numbers keep their type). kUnsupported when the elements can't be had.
  /// \pre out.size() == product(count) * dataset(path).spec.element.bytes
  virtual Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                                std::span<std::byte> out) const = 0;
  /// The bytes that every program rewrites which changes the metadata of such a file.
  virtual ByteRange superblock() const = 0;
};

/// A format of files: one object for each, which lives as long as the program.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  virtual const char* name() const = 0;
  virtual std::unique_ptr<Layout> make_layout() const = 0;
  /// For a file whose raw data lie as `layout` says, which is one that this format made.
  virtual Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const = 0;
  /// Opens through `file`, which must outlive the reader. kFormat when the file is of another format, kCorrupted when it is cut
  /// short or damaged; errors of the storage keep their code.
  virtual Result<std::unique_ptr<Reader>> open(storage::File& file) const = 0;
};

}  // namespace stria::container
