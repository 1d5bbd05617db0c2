// An HDF5 file that more is added to.
//
// Problem: what a file has must stay readable until what is added is complete, whatever ends the
// program in between.
// Method: nothing of it is overwritten. New raw data and headers, and new headers of the groups on
// the way to them, go behind its end; last, one write of the superblock makes them valid. Programs
// that have the file open go on to see what it was.
// Cost: a header of each group on the way, up to the root. Headers that are replaced stay as unused
// space. See docs/formats/hdf5.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/grow/superblock_slot.hpp"
#include "container/hdf5/read/reader.hpp"
#include "container/hdf5/write/old_file.hpp"

namespace stria::container {

class Hdf5Growth : public Growth, private h5::OldFile {
 public:
  static Result<std::unique_ptr<Hdf5Growth>> open(storage::File& file);

  int64_t end() const override { return superblock_.file_bytes(); }
  const Reader& reader() const override { return *reader_; }
  Status check() const override;
  Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const override;

 private:
  Hdf5Growth(const h5::SuperblockSlot& superblock, std::unique_ptr<Hdf5Reader> reader)
      : superblock_(superblock), reader_(std::move(reader)) {}
  int64_t root_address() const override { return superblock_.root_address(); }
  Result<h5::ObjectMessages> header(int64_t address) const override { return reader_->header(address); }
  Result<std::vector<h5::GroupMember>> members(const std::string& group) const override;
  Result<DatasetSpec> dataset(const std::string& path) const override;
  Result<std::vector<std::string>> datasets() const override;
  Result<std::vector<h5::HeldReference>> references() const override { return reader_->references(); }
  std::vector<std::byte> superblock(int64_t file_bytes, int64_t root_address) const override {
    return superblock_.encode(file_bytes, root_address);
  }

  h5::SuperblockSlot superblock_;
  std::unique_ptr<Hdf5Reader> reader_;
};

}  // namespace stria::container
