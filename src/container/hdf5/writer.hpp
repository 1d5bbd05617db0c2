// Makes the metadata of a new HDF5 file in memory, with serial libhdf5, on one rank; raw data goes around the library.
//
// Problem: parallel HDF5 makes every metadata change collective and passes raw data through its own selection and I/O layers.
// Method: libhdf5 works on a file driver of ours that keeps all bytes it writes as a sparse image; datasets are allocated early
// and never filled, so each has a fixed place in the file where ranks write with the engine. Cost: O(metadata), independent of
// data size. See docs/formats/hdf5.md.
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

class Hdf5Writer {
 public:
  /// `root_objects`: about how many datasets and groups the root group will have, where that is known.
  static Result<std::unique_ptr<Hdf5Writer>> create(int64_t root_objects = 0);
  ~Hdf5Writer();

  /// Where raw data may be planned from: the head of the file is for metadata.
  static int64_t first_raw_offset();
  /// Keeps [first_raw_offset(), end) free for datasets that come with a data_offset, whose places every rank can work out for
  /// itself. \pre nothing was made so far
  Status plan(int64_t end);
  /// Makes a group and those above it that are missing.
  Status create_group(const std::string& path);
  /// Makes a contiguous dataset, allocated and unfilled; returns the file offset of its raw data (-1 if it has no bytes).
  /// kAlreadyExists, kInvalidArgument with the dataset's name. Groups above it are made.
  Result<int64_t> create_dataset(const DatasetSpec& spec);
  /// Makes a dataset whose whole content (in the machine's byte order) is given here and becomes part of the image.
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content);
  /// Sets an attribute, replacing one of that name. kNotFound when there is no such object; kUnsupported over 60,000 bytes.
  Status write_attribute(const AttributeSpec& attribute);
  /// Makes an attribute whose value comes later, while everything else is made already; returns a number for
  /// fill_attributes(). `value` is what it holds until then. Unlike write_attribute() it replaces nothing: kAlreadyExists.
  Result<int> reserve_attribute(const AttributeSpec& attribute);
  /// Gives reserved attributes their values (number, value). Those that got none by finish() are removed.
  Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values);
  /// Closes the HDF5 file in memory and returns all its bytes that are not raw data of create_dataset. The writer can't be used
  /// afterwards.
  Result<SparseImage> finish();

 private:
  struct Impl;
  explicit Hdf5Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
