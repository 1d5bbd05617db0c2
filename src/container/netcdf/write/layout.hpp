// The places of a new classic netCDF file's data: docs/formats/netcdf.md, "Order in the file".
//
// Problem: the header comes first, and the records last, in which all record variables lie among
// each other. So no place is known before everything is.
// Method: datasets first get places as if the data began at 0, and their place in a record.
// settle() shifts all of them by the most that the header can have.
#pragma once

#include <set>
#include <string>

#include "base/check.hpp"
#include "container/container.hpp"
#include "container/netcdf/form/dimensions.hpp"

namespace stria::container::netcdf {

class NetcdfLayout final : public Layout {
 public:
  /// Nothing of this growing file gets a place from now on, because new records follow old ones.
  void begin_behind(int64_t old_end) override;
  Status prepare(DatasetSpec& spec) const override;
  Status note_table(const DatasetSpec& spec) override;
  Status note_attribute(const AttributeSpec& attribute) override;
  Result<int64_t> place(const DatasetSpec& spec) override;
  Result<int64_t> place_chunks(const DatasetSpec& spec, int64_t bytes) override;
  bool tells_fill_values() const override { return true; }
  int64_t end() const override;
  Status settle(bool complete) override;
  void finish_place(DatasetSpec& spec) const override;
  bool grows_by_records() const override { return true; }
  bool interleaves() const override { return record_.count() > 0; }
  Result<int64_t> keep_room(int64_t bytes) override;

  /// Returns what is kept for the header. \pre settle()
  int64_t head_bytes() const {
    STRIA_ASSERT(settled_);
    return head_bytes_;
  }
  /// Returns where tables begin: behind all data that aren't records. \pre settle()
  int64_t tables_begin() const;
  /// Returns where they must end; no end where no records follow. \pre settle()
  int64_t tables_end() const;
  int64_t record_count() const { return dimensions_.record_count(); }

 private:
  Status add(const DatasetSpec& spec, const std::string& name, const Shape& shape);
  Result<int64_t> place_record(const DatasetSpec& spec);
  int64_t records_begin() const { return tables_begin() + table_bytes_ + room_bytes_; }

  Dimensions dimensions_;
  std::set<std::string> names_;
  RecordSize record_;
  int64_t header_bytes_ = kHeadBytesMax;  // the most, without the dimensions
  int64_t fixed_bytes_ = 0;               // the bytes of data that aren't records
  int64_t table_bytes_ = 0;
  int64_t room_bytes_ = 0;  // for tables that are made last
  int64_t alignment_ = 1;   // a common multiple of all
  int64_t head_bytes_ = 0;
  bool settled_ = false;
  bool grows_ = false;
};

}  // namespace stria::container::netcdf
