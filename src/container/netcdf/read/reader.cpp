#include "container/netcdf/read/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "container/netcdf/form/names.hpp"
#include "container/netcdf/form/values.hpp"
#include "container/object_path.hpp"
#include "datatype/cursor.hpp"

namespace stria::container::netcdf {

namespace {

constexpr size_t kSegmentsMax = 4096;
// An attribute that is larger belongs in a variable.
constexpr int64_t kAttributeBytesMax = 256 << 20;

Status check_slab(const DatasetSpec& spec, std::span<const int64_t> start, std::span<const int64_t> count) {
  bool fits = start.size() == spec.dims.size() && count.size() == spec.dims.size();
  for (size_t i = 0; fits && i < spec.dims.size(); ++i) {
    fits = start[i] >= 0 && count[i] >= 0 && start[i] <= spec.dims[i] && count[i] <= spec.dims[i] - start[i];
  }
  return fits ? Status() : Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': a region outside of it", spec.path));
}

// Returns the bytes of a hyperslab, counted from the beginning of the variable. \pre the slab lies
// in it
Result<Datatype> region_of(const DatasetSpec& spec, std::span<const int64_t> start, std::span<const int64_t> count,
                           int64_t* displacement) {
  STRIA_ASSERT(check_slab(spec, start, count).ok(), check_slab(spec, start, count));
  Datatype region = Datatype::bytes(spec.element.bytes);
  int64_t extent = spec.element.bytes;
  for (size_t dim = spec.dims.size(); dim-- > 0;) {
    const bool strided = dim == 0 && spec.row_stride_bytes > 0;
    const int64_t stride = strided ? spec.row_stride_bytes : extent;
    STRIA_ASSIGN_OR_RETURN(region, Datatype::hvector(count[dim], 1, stride, region));
    *displacement += start[dim] * stride;
    extent *= spec.dims[dim];
  }
  return region;
}

}  // namespace

NetcdfReader::NetcdfReader(storage::File& file, int64_t file_bytes, FoundHeader header)
    : file_(file), file_bytes_(file_bytes), header_(std::move(header)) {
  for (const FoundVariable& variable : header_.variables) {
    variable_of_path_.emplace(path_of(variable.name), &variable);
  }
}

Result<std::unique_ptr<NetcdfReader>> NetcdfReader::open(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(FoundHeader header, read_header(file));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.size());
  return std::unique_ptr<NetcdfReader>(new NetcdfReader(file, bytes, std::move(header)));
}

Status NetcdfReader::read(int64_t offset, std::span<std::byte> out) const {
  const storage::ReadSegment segment{offset, out.data(), static_cast<int64_t>(out.size())};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file_.read({&segment, 1}));
  return read < segment.bytes ? Status(ErrorCode::kCorrupted, file_.path() + ": the file is cut short") : Status();
}

Result<std::vector<std::string>> NetcdfReader::list() const {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : variable_of_path_) {
    paths.push_back(path);
  }
  return paths;
}

Result<const FoundVariable*> NetcdfReader::find(const std::string& path) const {
  STRIA_ASSIGN_OR_RETURN(const std::string normal, normal_path(path));
  const auto found = variable_of_path_.find(normal);
  if (found == variable_of_path_.end()) {
    return Status(ErrorCode::kNotFound, fmt::format("{}: no dataset '{}'", file_.path(), path));
  }
  return found->second;
}

// Empty for zeros, and where the attribute that says it is missing.
Result<std::vector<std::byte>> NetcdfReader::fill_value_of(const FoundVariable& variable) const {
  std::vector<std::byte> value;
  for (const FoundAttribute& attribute : variable.attributes) {
    if (attribute.name == "_FillValue" && attribute.type == variable.shape.type && attribute.count == 1) {
      value.resize(static_cast<size_t>(attribute.bytes()));
      STRIA_RETURN_IF_ERROR(read(attribute.offset, value));
    }
  }
  const bool is_zero = std::all_of(value.begin(), value.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return is_zero ? std::vector<std::byte>() : value;
}

Result<DatasetInfo> NetcdfReader::dataset(const std::string& path) const {
  STRIA_ASSIGN_OR_RETURN(const FoundVariable* const variable, find(path));
  DatasetInfo info;
  info.spec.path = path_of(variable->name);
  describe_shape(variable->shape, info.spec);
  info.spec.unlimited = variable->is_record;
  // A string whose characters are the records has a byte in each.
  const bool is_cut = variable->is_record && info.spec.dims.empty();
  if (is_cut && (variable->row_stride > 1 || keeps_places_)) {
    info.spec.element = ElementSpec::of_string(1, false);
    info.spec.dims = variable->shape.lengths;
  }
  if (!is_own(info.spec.path)) {
    info.spec.dimension_names = variable->dimensions;  // without that of the letters of strings
    info.spec.dimension_names.resize(info.spec.dims.size());
  }
  const int64_t rows = variable->is_record ? variable->shape.lengths[0] : 1;
  if (rows > 1 || (keeps_places_ && variable->is_record)) {
    info.spec.row_stride_bytes = variable->row_stride;
  }
  const bool is_empty = rows == 0 || variable->row_bytes == 0;
  const bool is_short = !is_empty && end_of(*variable) > file_bytes_;
  if (is_short && is_summed()) {
    return Status(ErrorCode::kCorrupted,
                  fmt::format("{}: dataset '{}': the file is cut short: its data should end at {}, the file has {} bytes",
                              file_.path(), info.spec.path, end_of(*variable), file_bytes_));
  }
  // What lies behind the end is read here, as zeros.
  const bool has_place = !is_short && (!is_empty || (keeps_places_ && variable->is_record));
  info.data_offset = has_place ? variable->begin : -1;
  STRIA_ASSIGN_OR_RETURN(info.spec.fill_value, fill_value_of(*variable));
  return info;
}

bool NetcdfReader::is_summed() const {
  return std::any_of(variable_of_path_.begin(), variable_of_path_.end(), [](const auto& one) { return is_own(one.first); });
}

int64_t NetcdfReader::end_of(const FoundVariable& variable) const {
  const int64_t rows = variable.is_record ? variable.shape.lengths[0] : 1;
  const int64_t stride = variable.row_stride > 0 ? variable.row_stride : variable.row_bytes;
  return variable.begin + (rows > 0 ? variable.row_bytes + (rows - 1) * stride : 0);
}

std::vector<std::string> NetcdfReader::remarks() const {
  std::string names;
  int64_t end = file_bytes_;
  for (const auto& [path, variable] : variable_of_path_) {
    if (end_of(*variable) > file_bytes_ && !is_summed()) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", path);
      end = std::max(end, end_of(*variable));
    }
  }
  if (names.empty()) {
    return {};
  }
  return {
      fmt::format("'{}' ends at byte {}, and its data should end at {}: what is missing of {} reads as zeros. A file that was "
                  "written without fill values is so before all is put; another one is cut short",
                  file_.path(), file_bytes_, end, names)};
}

Result<const std::vector<FoundAttribute>*> NetcdfReader::attributes_of(const std::string& object_path) const {
  STRIA_ASSIGN_OR_RETURN(const std::string normal, normal_path(object_path));
  if (normal.empty()) {
    return &header_.attributes;
  }
  STRIA_ASSIGN_OR_RETURN(const FoundVariable* const variable, find(normal));
  return &variable->attributes;
}

Result<std::vector<std::string>> NetcdfReader::attribute_names(const std::string& object_path) const {
  STRIA_ASSIGN_OR_RETURN(const std::vector<FoundAttribute>* const list, attributes_of(object_path));
  std::vector<std::string> names;
  for (const FoundAttribute& attribute : *list) {
    names.push_back(attribute.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<AttributeSpec> NetcdfReader::attribute(const std::string& object_path, const std::string& name) const {
  STRIA_ASSIGN_OR_RETURN(const std::vector<FoundAttribute>* const list, attributes_of(object_path));
  const auto found = std::find_if(list->begin(), list->end(), [&](const FoundAttribute& one) { return one.name == name; });
  const std::string what = fmt::format("attribute '{}' of '{}'", name, object_path);
  if (found == list->end()) {
    return Status(ErrorCode::kNotFound, fmt::format("{}: no {}", file_.path(), what));
  }
  if (found->bytes() > kAttributeBytesMax) {
    return Status(ErrorCode::kUnsupported, fmt::format("{}: {} has {} bytes", file_.path(), what, found->bytes()));
  }
  AttributeSpec spec{object_path, name, {}, {}, std::vector<std::byte>(static_cast<size_t>(found->bytes()))};
  STRIA_RETURN_IF_ERROR(read(found->offset, spec.value).with_context(what));
  if (found->type == Type::kChar) {
    spec.element = ElementSpec::of_string(std::max<int64_t>(found->count, 1), false);
    spec.value.resize(static_cast<size_t>(spec.element.bytes));
    return spec;
  }
  spec.element = ElementSpec::of_number(element_of(found->type).number);
  turn(found->type, spec.value);
  if (found->count != 1) {
    spec.dims = {found->count};
  }
  return spec;
}

Result<std::vector<StoredChunk>> NetcdfReader::chunks(const std::string& path) const {
  return Status(ErrorCode::kUnsupported, fmt::format("{}: dataset '{}' has no chunks", file_.path(), path));
}

Status NetcdfReader::read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                                    std::span<std::byte> out) const {
  STRIA_ASSIGN_OR_RETURN(const DatasetInfo info, dataset(path));
  STRIA_RETURN_IF_ERROR(check_slab(info.spec, start, count));
  if (out.empty()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const FoundVariable* const variable, find(path));
  int64_t displacement = variable->begin;
  STRIA_ASSIGN_OR_RETURN(const Datatype region, region_of(info.spec, start, count, &displacement));
  std::vector<storage::ReadSegment> segments;
  int64_t filled = 0;
  for (Cursor cursor(region, displacement); !cursor.done();) {
    segments.clear();
    const int64_t before = filled;
    while (!cursor.done() && segments.size() < kSegmentsMax) {
      const ByteRange piece = cursor.piece();
      segments.push_back({piece.begin, out.data() + filled, piece.size()});
      filled += piece.size();
      cursor.advance(piece.size());
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t read, file_.read(segments));
    if (read < filled - before && end_of(*variable) <= file_bytes_) {
      return Status(ErrorCode::kCorrupted, fmt::format("{}: dataset '{}': the file is cut short", file_.path(), path));
    }
    // The library of netCDF reads it so.
    std::fill_n(out.begin() + before + read, filled - before - read, std::byte{0});
  }
  if (info.spec.element.big_endian) {
    turn(type_of(info.spec.element.number), out);
  }
  return Status();
}

ByteRange NetcdfReader::superblock() const {
  const int64_t offset_bytes = header_.version == Version::kCdf1 ? 4 : 8;
  return {header_.bytes - offset_bytes, header_.bytes};
}

}  // namespace stria::container::netcdf
