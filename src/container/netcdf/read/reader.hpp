// Reads classic netCDF files, whoever has written them.
#pragma once

#include <map>
#include <memory>

#include "container/container.hpp"
#include "container/netcdf/read/header_reader.hpp"

namespace stria::container::netcdf {

class NetcdfReader final : public Reader {
 public:
  static Result<std::unique_ptr<NetcdfReader>> open(storage::File& file);

  /// Makes dataset() tell where records lie however few there are: for those to come.
  void keep_places() { keeps_places_ = true; }
  const FoundHeader& header() const { return header_; }
  int64_t file_bytes() const { return file_bytes_; }
  /// Reads the bytes from `offset` on; kCorrupted where the file ends before.
  Status read(int64_t offset, std::span<std::byte> out) const;
  /// Tells whether it has the checksums of Stria, which knows where its files end.
  bool is_summed() const;
  /// Returns where the data of a variable end.
  int64_t end_of(const FoundVariable& variable) const;

  Result<std::vector<std::string>> list() const override;
  Result<DatasetInfo> dataset(const std::string& path) const override;
  Result<std::vector<std::string>> attribute_names(const std::string& object_path) const override;
  Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const override;
  Result<std::vector<StoredChunk>> chunks(const std::string& path) const override;
  Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                        std::span<std::byte> out) const override;
  Format format() const override { return format_of(header_.version); }
  /// Says that the file ends before its data, where it does.
  std::vector<std::string> remarks() const override;
  /// Where the data of the last variable begin.
  ByteRange superblock() const override;

 private:
  NetcdfReader(storage::File& file, int64_t file_bytes, FoundHeader header);

  Result<const FoundVariable*> find(const std::string& path) const;
  Result<const std::vector<FoundAttribute>*> attributes_of(const std::string& object_path) const;
  Result<std::vector<std::byte>> fill_value_of(const FoundVariable& variable) const;

  storage::File& file_;
  int64_t file_bytes_;
  FoundHeader header_;
  bool keeps_places_ = false;
  std::map<std::string, const FoundVariable*> variable_of_path_;
};

}  // namespace stria::container::netcdf
