#include "container/netcdf/grow/records_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "container/netcdf/form/names.hpp"
#include "container/netcdf/form/values.hpp"
#include "container/object_path.hpp"

namespace stria::container::netcdf {

namespace {

constexpr int64_t kCountPlace = 4;  // in the file, behind the signature
constexpr int64_t kEndLimit = int64_t{1} << 62;

Status not_made(const std::string& path) {
  return Status(ErrorCode::kUnsupported, fmt::format("'{}': a classic netCDF file gets records, and nothing new", path));
}

}  // namespace

Result<int64_t> RecordsWriter::create_dataset(const DatasetSpec& spec) {
  return not_made(spec.path);
}

Status RecordsWriter::extend_dataset(const DatasetSpec& spec) {
  rows_of_path_[spec.path] = spec.dims[0];
  return Status();
}

Status RecordsWriter::place_chunks(const std::string& path, std::vector<StoredChunk> /*chunks*/) {
  return not_made(path);
}

Status RecordsWriter::create_table(const DatasetSpec& spec, std::span<const std::byte>) {
  return not_made(spec.path);
}

Status RecordsWriter::write_attribute(const AttributeSpec& attribute) {
  const auto refused = [&](const std::string& why) {
    return Status(ErrorCode::kUnsupported, fmt::format("attribute '{}' of '{}': {}", attribute.name,
                                                       attribute.object_path.empty() ? "/" : attribute.object_path, why));
  };
  STRIA_ASSIGN_OR_RETURN(const Attribute made, attribute_of(attribute));
  STRIA_ASSIGN_OR_RETURN(const std::string object, normal_path(attribute.object_path));
  const std::vector<FoundAttribute>* list = object.empty() ? &growth_.header().attributes : nullptr;
  for (const FoundVariable& variable : growth_.header().variables) {
    if (is_own(path_of(variable.name))) {
      return refused("the file's checksums guard its header; nothing in it can be changed");
    }
    list = list == nullptr && path_of(variable.name) == object ? &variable.attributes : list;
  }
  if (list == nullptr) {
    return Status(ErrorCode::kNotFound, fmt::format("attribute '{}' of '{}': no such dataset", attribute.name, object));
  }
  const auto found = std::find_if(list->begin(), list->end(), [&](const auto& one) { return one.name == made.name; });
  if (found == list->end() || found->type != made.type || found->count != made.count) {
    return refused("the header of a classic netCDF file can't grow: only a value of the same type and length can be changed");
  }
  const int64_t end = found->offset + found->bytes();
  if (end > static_cast<int64_t>(first_bytes_.size())) {
    return refused(
        fmt::format("its value ends at byte {} of the file; only within the first {}, which a disk writes whole, can "
                    "it be changed safely",
                    end, first_bytes_.size()));
  }
  std::copy(made.bytes.begin(), made.bytes.end(), first_bytes_.begin() + found->offset);
  changed_end_ = std::max(changed_end_, end);
  return Status();
}

Result<int> RecordsWriter::reserve_attribute(const AttributeSpec& attribute) {
  return not_made(attribute.object_path);
}

Status RecordsWriter::fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>>) {
  return Status();  // none is reserved
}

// A record is one of all variables with the unlimited dimension.
Result<int64_t> RecordsWriter::record_count() const {
  if (rows_of_path_.empty()) {
    return growth_.header().record_count;
  }
  const auto& [first, count] = *rows_of_path_.begin();
  for (const FoundVariable& variable : growth_.header().variables) {
    const auto found = rows_of_path_.find(path_of(variable.name));
    const int64_t rows = found == rows_of_path_.end() ? growth_.header().record_count : found->second;
    if (variable.is_record && rows != count) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("'{}' would have {} rows and '{}' {}: in a classic netCDF file each dataset with the unlimited "
                                "dimension gets as many rows as the others",
                                first, count, path_of(variable.name), rows));
    }
  }
  if (growth_.header().version != Version::kCdf5 && count > std::numeric_limits<int32_t>::max()) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("'{}' would have {} rows; CDF-1 and CDF-2 count to 2^31 - 1", first, count));
  }
  return count;
}

Result<SparseImage> RecordsWriter::finish() {
  STRIA_ASSIGN_OR_RETURN(const int64_t count, record_count());
  SparseImage image;
  image.file_bytes = growth_.end();
  if (!rows_of_path_.empty()) {
    int64_t bytes = 0;
    int64_t end = 0;
    if (!checked_multiply(count, growth_.header().record_bytes, &bytes) || !checked_add(growth_.records_begin(), bytes, &end) ||
        end >= kEndLimit) {
      return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^62 bytes");
    }
    image.file_bytes = std::max(image.file_bytes, end);
    const int64_t width = growth_.header().version == Version::kCdf5 ? 8 : 4;
    for (int64_t i = 0; i < width; ++i) {
      first_bytes_[static_cast<size_t>(kCountPlace + i)] = static_cast<std::byte>(count >> 8 * (width - 1 - i) & 0xff);
    }
    changed_end_ = std::max(changed_end_, kCountPlace + width);
  }
  first_bytes_.resize(static_cast<size_t>(changed_end_));
  image.switch_over = std::move(first_bytes_);
  return image;
}

}  // namespace stria::container::netcdf
