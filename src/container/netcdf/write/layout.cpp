#include "container/netcdf/write/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/checked.hpp"
#include "container/netcdf/form/names.hpp"
#include "container/netcdf/form/values.hpp"
#include "container/object_path.hpp"

namespace stria::container::netcdf {

namespace {

constexpr int64_t kDataUnitBytes = 8;
constexpr int64_t kHeadUnitBytes = 512;
// This room is for what is defined after the first data have moved.
constexpr int64_t kRoomBytes = int64_t{64} << 10;
// What the minimum and the maximum of a dataset take.
constexpr int64_t kRangeBytes = 80;
// The two tables of sums that are made when all data have moved.
constexpr int64_t kLastTablesBytes = 512;
constexpr int64_t kOffsetLimit = int64_t{1} << 62;
constexpr int64_t kAlignmentMax = int64_t{1} << 40;

// Returns a number past every limit where it would be too large.
int64_t common_multiple(int64_t a, int64_t b) {
  int64_t product = 0;
  return a > 0 && b > 0 && checked_multiply(a / std::gcd(a, b), b, &product) && product <= kAlignmentMax ? product
                                                                                                         : kAlignmentMax + 1;
}

Status nothing_new(const std::string& path) {
  return Status(ErrorCode::kUnsupported,
                fmt::format("dataset '{}': a classic netCDF file gets more records, and no new datasets", path));
}

Status too_large() {
  return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^62 bytes");
}

}  // namespace

void NetcdfLayout::begin_behind(int64_t old_end) {
  fixed_bytes_ = old_end;
  grows_ = true;
}

Status NetcdfLayout::prepare(DatasetSpec& spec) const {
  if (grows_) {
    return nothing_new(spec.path);
  }
  STRIA_RETURN_IF_ERROR(variable_of(spec.path).status());
  STRIA_ASSIGN_OR_RETURN(const Shape shape, shape_of(spec));
  const auto refused = [&](ErrorCode code, const char* why) {
    return Status(code, fmt::format("dataset '{}': {}", spec.path, why));
  };
  if (spec.element.meaning == Meaning::kComplex || spec.element.meaning == Meaning::kHalf) {
    return refused(ErrorCode::kUnsupported,
                   "a classic netCDF file has no complex numbers, and none of half precision; use HDF5");
  }
  if (!spec.element.enumeration.empty()) {
    return refused(ErrorCode::kUnsupported, "a classic netCDF file has no enumerations; use HDF5");
  }
  if (spec.chunking) {
    return refused(ErrorCode::kUnsupported, "a classic netCDF file has no chunks and no compression; use HDF5");
  }
  if (!spec.dimension_names.empty() && spec.dimension_names.size() != spec.dims.size()) {
    return refused(ErrorCode::kInvalidArgument, "it has as many dimensions as its shape, but other names of them");
  }
  spec.element.big_endian = type_bytes(shape.type) > 1;
  return Status();
}

// Takes a new name, and room in the header.
Status NetcdfLayout::add(const DatasetSpec& spec, const std::string& name, const Shape& shape) {
  if (!names_.insert(name).second) {
    return Status(ErrorCode::kAlreadyExists, fmt::format("the dataset name '{}' is taken", spec.path));
  }
  if (settled_ && (interleaves() || spec.unlimited)) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("'{}': define everything before the first flush() of a netCDF file with an unlimited dimension",
                              spec.path));
  }
  header_bytes_ += variable_bytes_max(name, shape.lengths.size()) + kRangeBytes;
  return dimensions_.of(spec, shape).status();
}

Status NetcdfLayout::note_table(const DatasetSpec& spec) {
  if (grows_) {
    return nothing_new(spec.path);
  }
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
  STRIA_ASSIGN_OR_RETURN(const std::string name, variable_of(path));
  STRIA_ASSIGN_OR_RETURN(const Shape shape, shape_of(spec));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, dataset_bytes(spec));
  STRIA_RETURN_IF_ERROR(add(spec, name, shape));
  if (!checked_add(table_bytes_, align_up(bytes, kDataUnitBytes), &table_bytes_) || table_bytes_ >= kOffsetLimit) {
    return too_large();
  }
  return Status();
}

Status NetcdfLayout::note_attribute(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(const Attribute made, attribute_of(attribute));
  header_bytes_ += attribute_bytes_max(made.name, static_cast<int64_t>(made.bytes.size()));
  return Status();
}

Result<int64_t> NetcdfLayout::place_record(const DatasetSpec& spec) {
  int64_t bytes = spec.element.bytes;
  for (size_t i = 1; i < spec.dims.size(); ++i) {
    bytes *= spec.dims[i];
  }
  const int64_t offset = record_.end();
  if (bytes >= kOffsetLimit - offset) {
    return too_large();
  }
  record_.add(bytes);
  int64_t all = 0;
  if (!checked_multiply(record_.end(), std::max<int64_t>(spec.dims[0], 1), &all) || all >= kOffsetLimit) {
    return too_large();
  }
  return offset;
}

Result<int64_t> NetcdfLayout::place(const DatasetSpec& spec) {
  STRIA_ASSIGN_OR_RETURN(const std::string name, variable_of(spec.path));
  STRIA_ASSIGN_OR_RETURN(const Shape shape, shape_of(spec));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, dataset_bytes(spec));
  STRIA_RETURN_IF_ERROR(add(spec, name, shape));
  if (spec.unlimited) {
    return place_record(spec);
  }
  const int64_t alignment = common_multiple(spec.alignment_bytes, kUnitBytes);
  if (!settled_) {
    alignment_ = common_multiple(alignment_, alignment);
  }
  if (alignment_ > kAlignmentMax) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("dataset '{}': an alignment to {} bytes beside those before", spec.path, spec.alignment_bytes));
  }
  // Once settled, the places are in the file.
  const int64_t shift = settled_ ? head_bytes_ : 0;
  int64_t begin = 0;
  int64_t end = 0;
  if (!checked_add(fixed_bytes_ + shift, alignment - 1, &begin) || !checked_add(align_down(begin, alignment), bytes, &end) ||
      end >= kOffsetLimit) {
    return too_large();
  }
  fixed_bytes_ = end - shift;
  return align_down(begin, alignment);
}

Result<int64_t> NetcdfLayout::place_chunks(const DatasetSpec& spec, int64_t /*bytes*/) {
  return Status(ErrorCode::kInternal, fmt::format("dataset '{}' has no chunks", spec.path));
}

Status NetcdfLayout::settle(bool complete) {
  if (grows_) {
    return Status();
  }
  settled_ = true;
  const int64_t most = header_bytes_ + dimensions_.bytes_max() + kLastTablesBytes + (complete ? 0 : kRoomBytes);
  head_bytes_ = align_up(most, common_multiple(kHeadUnitBytes, alignment_));
  return fixed_bytes_ + table_bytes_ >= kOffsetLimit - head_bytes_ ? too_large() : Status();
}

void NetcdfLayout::finish_place(DatasetSpec& spec) const {
  if (spec.unlimited) {
    spec.data_offset += records_begin();
    spec.row_stride_bytes = record_.count() > 1 ? record_.bytes() : 0;
  } else {
    spec.data_offset += head_bytes_;
  }
}

Result<int64_t> NetcdfLayout::keep_room(int64_t bytes) {
  int64_t end = 0;
  if (!checked_add(NetcdfLayout::end(), align_up(bytes, kDataUnitBytes), &end) || end >= kOffsetLimit) {
    return too_large();
  }
  room_bytes_ = align_up(bytes, kDataUnitBytes);
  return room_bytes_;
}

int64_t NetcdfLayout::tables_begin() const {
  STRIA_ASSERT(settled_);
  return align_up(head_bytes_ + fixed_bytes_, kDataUnitBytes);
}

int64_t NetcdfLayout::tables_end() const {
  STRIA_ASSERT(settled_);
  return interleaves() ? records_begin() : std::numeric_limits<int64_t>::max();
}

int64_t NetcdfLayout::end() const {
  return interleaves() ? records_begin() + record_.bytes() * record_count() : head_bytes_ + fixed_bytes_;
}

}  // namespace stria::container::netcdf
