// Reads what an HDF5 file says of itself, by serial libhdf5 over a storage::File. The engine reads
// the raw data of plain contiguous datasets; all others (chunked, filtered, compact, virtual) are
// read through libhdf5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/form/object_messages.hpp"
#include "stria/status.hpp"

namespace stria::container {

class Hdf5Reader : public Reader {
 public:
  /// Opens a file through `file`, which must outlive the reader. kFormat when it isn't an HDF5
  /// file; kCorrupted when it is cut short or damaged. Errors of the storage keep their code.
  /// External links are not followed.
  static Result<std::unique_ptr<Hdf5Reader>> open(storage::File& file);
  ~Hdf5Reader() override;

  Result<std::vector<std::string>> list() const override;
  Result<std::vector<LinkSpec>> links() const override;
  Result<std::vector<Alias>> aliases() const override;
  /// An object that is there and can't be read counts as a dataset: dataset() says what is wrong.
  Result<ObjectKind> kind_of(const std::string& path) const override;
  Result<std::vector<std::string>> names_in(const std::string& group) const override;
  Result<LinkSpec> link_to_file(const std::string& path) const override;
  bool keeps_order() const override;
  /// Enumerations count as the integers by which they are stored. Strings of variable length count
  /// as fixed ones, as long as the longest; with more than 65,536 strings they have 0 bytes and
  /// can't be read. A null dataspace has the dims {0}.
  Result<DatasetInfo> dataset(const std::string& path) const override;
  Result<std::vector<std::string>> attribute_names(const std::string& object_path) const override;
  Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const override;
  Result<std::vector<StoredChunk>> chunks(const std::string& path) const override;
  /// Reads through libhdf5. kUnsupported names the missing filter, the other file of a virtual
  /// dataset, or elements of variable length.
  Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                        std::span<std::byte> out) const override;
  Format format() const override { return Format::kHdf5; }
  ByteRange superblock() const override;

  // A file that grows takes over what the following return.
  /// The members of a group, "" for the root, in order of their names, or of creation where the
  /// group keeps that.
  Result<std::vector<h5::GroupMember>> members(const std::string& group) const;
  Result<h5::ObjectMessages> header(int64_t address) const;
  /// Returns all references that objects of the file hold.
  Result<std::vector<h5::HeldReference>> references() const;

 private:
  struct Impl;
  explicit Hdf5Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::container
