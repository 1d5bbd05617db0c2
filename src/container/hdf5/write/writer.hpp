// Makes the metadata of a new HDF5 file in memory, on one rank; raw data go around it.
//
// Problem: parallel HDF5 makes every metadata change collective and passes raw data through its own selection and I/O layers;
// serial libhdf5 takes 15 to 30 us an object, together a quarter of the time of a checkpoint of 16 MB.
// Method: objects are kept as they are described, and when all is known their headers are written one behind the other, each in
// one piece. Cost: O(metadata), a microsecond or two an object. See docs/formats/hdf5.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"
#include "stria/status.hpp"

namespace stria::container {

class Hdf5Writer : public Writer {
 public:
  Hdf5Writer();
  ~Hdf5Writer() override;

  /// Where raw data may be planned from: the head of the file is for metadata.
  static int64_t first_raw_offset();
  /// Keeps [first_raw_offset(), end) free for datasets that come with a data_offset, whose places every rank can work out for
  /// itself. kInternal when a dataset has its place already.
  Status plan(int64_t end);
  /// Makes a group and those above it that are missing.
  Status create_group(const std::string& path);
  /// Makes a contiguous dataset, allocated and unfilled; returns the file offset of its raw data (-1 if it has no bytes), which
  /// the writer chooses where `spec` names none.
  Result<int64_t> create_dataset(const DatasetSpec& spec) override;
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) override;
  /// kUnsupported over 60,000 bytes.
  Status write_attribute(const AttributeSpec& attribute) override;
  Result<int> reserve_attribute(const AttributeSpec& attribute) override;
  Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) override;
  Result<SparseImage> finish() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
