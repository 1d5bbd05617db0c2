// Makes the first bytes of a classic netCDF file that gets more records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "container/netcdf/grow/growth.hpp"

namespace stria::container::netcdf {

class RecordsWriter final : public Writer {
 public:
  /// `growth` must outlive the writer.
  explicit RecordsWriter(const NetcdfGrowth& growth) : growth_(growth), first_bytes_(growth.first_bytes()) {}

  Result<int64_t> create_dataset(const DatasetSpec& spec) override;
  Status extend_dataset(const DatasetSpec& spec) override;
  Status place_chunks(const std::string& path, std::vector<StoredChunk> chunks) override;
  Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) override;
  /// Changes a value within the first bytes.
  Status write_attribute(const AttributeSpec& attribute) override;
  Result<int> reserve_attribute(const AttributeSpec& attribute) override;
  Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) override;
  Result<SparseImage> finish() override;

 private:
  Result<int64_t> record_count() const;

  const NetcdfGrowth& growth_;
  std::vector<std::byte> first_bytes_;
  int64_t changed_end_ = 0;  // where those end
  std::map<std::string, int64_t> rows_of_path_;
};

}  // namespace stria::container::netcdf
