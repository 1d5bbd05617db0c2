// Reads what an HDF5 file says of itself, with serial libhdf5 over a storage::File; raw data of plain contiguous datasets is
// left to the engine, everything else (chunked, filtered, compact, virtual) is read through the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container {

class Hdf5Reader {
 public:
  /// Opens through `file`, which must outlive the reader. kFormat when it isn't an HDF5 file, kCorrupted when it is cut short
  /// or damaged; errors of the storage keep their code. External links are not followed.
  static Result<std::unique_ptr<Hdf5Reader>> open(storage::File& file);
  ~Hdf5Reader();

  /// Paths of all datasets, groups ending with '/', in the order of their names, depth first. Links that lead nowhere are left
  /// out. A group that can be reached in several ways is listed each time, its content once.
  Result<std::vector<std::string>> list() const;
  /// What a dataset is and where. Enumerations count as the integers that they are stored as; strings of variable length as
  /// fixed ones as long as the longest (0 bytes, and not readable, when there are more than 65,536). A null dataspace has the
  /// dims {0}. kNotFound names the dataset; kCorrupted when its data would lie past the end of the file.
  Result<DatasetInfo> dataset(const std::string& path) const;
  /// Sorted names of the attributes of a dataset or group ("" or "/" is the root group).
  Result<std::vector<std::string>> attribute_names(const std::string& object_path) const;
  Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const;
  /// Reads the hyperslab [start, start + count) of a dataset of any layout through libhdf5 into `out`, elements in C order,
  /// in the machine's byte order (numbers keep their type). kUnsupported names the filter that is missing, the other file of a
  /// virtual dataset, or elements of variable length. \pre out.size() == product(count) * dataset(path).spec.element.bytes
  Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                        std::span<std::byte> out) const;

 private:
  struct Impl;
  explicit Hdf5Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
