// Makes the header of a new classic netCDF file, and its tables, which lie behind the data.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "container/container.hpp"
#include "container/netcdf/form/dimensions.hpp"
#include "container/netcdf/write/layout.hpp"

namespace stria::container::netcdf {

class NetcdfWriter final : public Writer {
 public:
  /// Writes, where no version is given, the first that can hold the file. `layout` must outlive the
  /// writer.
  NetcdfWriter(const NetcdfLayout& layout, std::optional<Version> version)
      : layout_(layout), version_(version), tables_begin_(layout.tables_begin()) {}

  Result<int64_t> create_dataset(const DatasetSpec& spec) override;
  Status place_chunks(const std::string& path, std::vector<StoredChunk> chunks) override;
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) override;
  Status write_attribute(const AttributeSpec& attribute) override;
  Result<int> reserve_attribute(const AttributeSpec& attribute) override;
  Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) override;
  Result<SparseImage> finish() override;

 private:
  /// A reserved attribute: its variable, and its place there.
  struct Reserved {
    size_t variable = 0;
    size_t attribute = 0;
    Attribute empty{};       ///< what is to be filled in
    bool has_value = false;  ///< a later one of the same name, unless it is filled
  };

  Status add_variable(const DatasetSpec& spec);
  Result<std::vector<Attribute>*> attributes_of(const AttributeSpec& attribute);
  void drop_empty();

  const NetcdfLayout& layout_;
  std::optional<Version> version_;
  Dimensions dimensions_;
  Header header_;
  std::unordered_map<std::string, size_t> number_of_path_;
  std::vector<Reserved> reserved_;
  int64_t tables_begin_;
  std::vector<std::byte> tables_;  // the bytes from there on
  std::vector<ByteRange> table_places_;
};

}  // namespace stria::container::netcdf
