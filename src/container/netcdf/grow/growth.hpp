// A classic netCDF file that gets more records.
//
// Problem: the header comes first and says what the file has, so that it can't be changed by one
// write that the disk does whole, unless the change lies within the first sector.
// Method: new records go behind the last one, where nobody reads. Last, one write of the first
// bytes sets their number. The same write changes attributes that lie there and keep their length.
// Cost: that write. New datasets need a new file.
#pragma once

#include <memory>
#include <vector>

#include "base/check.hpp"
#include "container/container.hpp"
#include "container/netcdf/read/reader.hpp"

namespace stria::container::netcdf {

class NetcdfGrowth final : public Growth {
 public:
  static Result<std::unique_ptr<NetcdfGrowth>> open(storage::File& file);

  int64_t end() const override { return end_; }
  const Reader& reader() const override { return *reader_; }
  Status check() const override;
  Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const override;

  const FoundHeader& header() const { return reader_->header(); }
  /// Returns where records begin. \pre the file has some variable of records
  int64_t records_begin() const {
    STRIA_ASSERT(records_begin_ > 0, records_begin_);
    return records_begin_;
  }
  /// Returns the bytes of the header that one write changes whole.
  const std::vector<std::byte>& first_bytes() const { return first_bytes_; }

 private:
  explicit NetcdfGrowth(std::unique_ptr<NetcdfReader> reader);
  Result<bool> has_more() const;
  Status check_count() const;

  std::unique_ptr<NetcdfReader> reader_;
  int64_t fixed_end_ = 0;  // the end of all that aren't records
  int64_t records_begin_ = 0;
  int64_t end_ = 0;
  std::vector<std::byte> first_bytes_;
};

}  // namespace stria::container::netcdf
