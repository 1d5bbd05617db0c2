// Makes the metadata of a new HDF5 file in memory, or what is added to those of an old one, on one
// rank. Raw data don't pass through it.
//
// Problem: in parallel HDF5 every change of metadata is collective, and raw data pass through its
// selection and I/O layers. Serial libhdf5 takes 15 to 30 us per object, in all a quarter of the
// time of a checkpoint of 16 MB.
// Method: objects are kept as they are described. When all are known, their headers are written one
// behind another, each in one piece. Of an old file, only the groups on the way to what changes are
// read; they and the changed objects get new headers behind its end, all others keep theirs.
// Cost: O(metadata), a microsecond or two per object. See docs/formats/hdf5.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/write/old_file.hpp"
#include "stria/status.hpp"

namespace stria::container {

class Hdf5Writer : public Writer {
 public:
  Hdf5Writer();
  /// Adds to a file that exists, and must outlive the writer.
  explicit Hdf5Writer(const h5::OldFile& old_file);
  ~Hdf5Writer() override;

  /// Returns the first offset for raw data; the head of the file before it is for metadata.
  static int64_t first_raw_offset();
  /// Keeps the space up to `end` free for datasets that come with a data_offset, which every rank
  /// can compute by itself. kInternal when a dataset has a place already.
  Status plan(int64_t end);
  void keep_order() override;
  Status create_group(const std::string& path, int64_t order = DatasetSpec::kLast) override;
  /// Makes a dataset: contiguous, allocated and not filled, or in chunks, whose places
  /// place_chunks() brings. Returns the file offset of its raw data,
  /// -1 if it has no bytes or is in chunks; the writer chooses the offset where `spec` gives none.
  Result<int64_t> create_dataset(const DatasetSpec& spec) override;
  Status extend_dataset(const DatasetSpec& spec) override;
  /// Tells whether a group of a growing file can get other members. kUnsupported says why not.
  Status check_group(const std::string& path);
  Status remove(const std::string& path) override;
  Status create_link(const LinkSpec& link) override;
  Status place_chunks(const std::string& path, std::vector<StoredChunk> chunks) override;
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) override;
  /// kUnsupported over 60,000 bytes.
  Status write_attribute(const AttributeSpec& attribute) override;
  Result<int> reserve_attribute(const AttributeSpec& attribute) override;
  Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) override;
  Status take_up_connected() override;
  Result<SparseImage> finish() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
