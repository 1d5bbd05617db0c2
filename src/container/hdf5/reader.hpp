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
  /// Opens through `file`, which must outlive the reader. kFormat when it isn't an HDF5 file, or is cut short.
  static Result<std::unique_ptr<Hdf5Reader>> open(storage::File& file);
  ~Hdf5Reader();

  /// Paths of all datasets, groups ending with '/', in the order of their names, depth first. Links that lead nowhere are left
  /// out.
  Result<std::vector<std::string>> list() const;
  /// kNotFound names the dataset.
  Result<DatasetInfo> dataset(const std::string& path) const;
  Result<std::vector<std::string>> attribute_names(const std::string& object_path) const;
  Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const;
  /// Reads the hyperslab [start, start + count) of a dataset of any layout through libhdf5 into `out`, elements in C order,
  /// in the machine's byte order (numbers keep their type). \pre out.size() == product(count) * element bytes
  Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                        std::span<std::byte> out) const;

 private:
  struct Impl;
  explicit Hdf5Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
