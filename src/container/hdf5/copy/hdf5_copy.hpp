// An HDF5 file written anew, without the space that is unused in it, by libhdf5.
//
// Problem: a writer that knows some of what HDF5 has would drop the rest.
// Method: H5Ocopy copies the root group, and with it everything, as one object: so hard links stay
// links to one object, and types that several datasets share stay shared. Chunks are copied as they
// are, filtered. The copy then takes the place of the new file's root group in the superblock.
// What H5Ocopy doesn't do follows: references, some fill values, the user block.
// Cost: all bytes are read and written once, in pieces of 1 MiB or a chunk.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/copy/edited_superblock.hpp"
#include "container/hdf5/copy/fill_values.hpp"
#include "container/hdf5/copy/target_file.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/stored/storage_file.hpp"

namespace stria::container {

class Hdf5Copy final : public Copy {
 public:
  /// FileFormat::open_copy() calls this.
  static Result<std::unique_ptr<Copy>> open(storage::File& from, storage::File& to, std::span<const PlacedData> elsewhere);
  ~Hdf5Copy() override;

  Status copy_all() override;
  Status remove(const std::string& path) override;
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) override;
  Result<int64_t> count_stretches() override;
  Result<CopiedFile> finish() override;

 private:
  struct Impl;
  explicit Hdf5Copy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
