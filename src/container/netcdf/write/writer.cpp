#include "container/netcdf/write/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "container/netcdf/form/names.hpp"
#include "container/netcdf/form/values.hpp"
#include "container/object_path.hpp"

namespace stria::container::netcdf {

namespace {

constexpr int64_t kTableUnitBytes = 8;
constexpr int64_t kRecordCountOffset = 4;  // behind the signature

Attribute* find(std::vector<Attribute>& attributes, const std::string& name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& one) { return one.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

}  // namespace

Status NetcdfWriter::add_variable(const DatasetSpec& spec) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
  STRIA_ASSIGN_OR_RETURN(const Shape shape, shape_of(spec));
  Variable variable;
  STRIA_ASSIGN_OR_RETURN(variable.name, variable_of(path));
  STRIA_ASSIGN_OR_RETURN(variable.dimensions, dimensions_.of(spec, shape));
  variable.type = shape.type;
  variable.begin = spec.data_offset;
  variable.bytes = type_bytes(shape.type);
  for (size_t i = spec.unlimited ? 1 : 0; i < shape.lengths.size(); ++i) {
    variable.bytes *= shape.lengths[i];
  }
  if (!number_of_path_.emplace(path, header_.variables.size()).second) {
    return Status(ErrorCode::kAlreadyExists, fmt::format("the dataset name '{}' is taken", path));
  }
  header_.variables.push_back(std::move(variable));
  return Status();
}

Result<int64_t> NetcdfWriter::create_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(add_variable(spec));
  return spec.data_offset;
}

Status NetcdfWriter::place_chunks(const std::string& path, std::vector<StoredChunk> /*chunks*/) {
  return Status(ErrorCode::kInternal, fmt::format("dataset '{}' has no chunks", path));
}

Status NetcdfWriter::create_table(const DatasetSpec& spec, std::span<const std::byte> content) {
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, dataset_bytes(spec));
  if (bytes != static_cast<int64_t>(content.size())) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': its type and shape make {} bytes, but {} are given",
                                                           spec.path, bytes, content.size()));
  }
  DatasetSpec placed = spec;
  placed.data_offset = tables_begin_ + static_cast<int64_t>(tables_.size());
  STRIA_RETURN_IF_ERROR(add_variable(placed));
  table_places_.push_back({placed.data_offset, placed.data_offset + bytes});
  const size_t at = tables_.size();
  tables_.insert(tables_.end(), content.begin(), content.end());
  turn(header_.variables.back().type, std::span(tables_).subspan(at));
  tables_.resize(static_cast<size_t>(align_up(static_cast<int64_t>(tables_.size()), kTableUnitBytes)));
  return Status();
}

Result<std::vector<Attribute>*> NetcdfWriter::attributes_of(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(attribute.object_path));
  if (path.empty()) {
    return &header_.attributes;
  }
  const auto found = number_of_path_.find(path);
  if (found == number_of_path_.end()) {
    return Status(ErrorCode::kNotFound,
                  fmt::format("cannot set attribute '{}' of '{}': no such dataset", attribute.name, attribute.object_path));
  }
  return &header_.variables[found->second].attributes;
}

Status NetcdfWriter::write_attribute(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(std::vector<Attribute>* const list, attributes_of(attribute));
  STRIA_ASSIGN_OR_RETURN(Attribute made, attribute_of(attribute));
  Attribute* const there = find(*list, made.name);
  if (there == nullptr) {
    list->push_back(std::move(made));
    return Status();
  }
  const auto place = static_cast<size_t>(there - list->data());
  for (Reserved& reserved : reserved_) {
    const bool is_it = &header_.variables[reserved.variable].attributes == list && reserved.attribute == place;
    reserved.has_value = reserved.has_value || is_it;
  }
  *there = std::move(made);
  return Status();
}

Result<int> NetcdfWriter::reserve_attribute(const AttributeSpec& attribute) {
  STRIA_ASSIGN_OR_RETURN(std::vector<Attribute>* const list, attributes_of(attribute));
  STRIA_ASSIGN_OR_RETURN(Attribute made, attribute_of(attribute));
  if (list == &header_.attributes || find(*list, made.name) != nullptr) {
    return Status(ErrorCode::kAlreadyExists,
                  fmt::format("attribute '{}' of '{}' can't be reserved", attribute.name, attribute.object_path));
  }
  list->push_back(made);
  const size_t variable = number_of_path_.at(normal_path(attribute.object_path).value());
  reserved_.push_back({.variable = variable, .attribute = list->size() - 1, .empty = std::move(made)});
  return static_cast<int>(reserved_.size()) - 1;
}

Status NetcdfWriter::fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) {
  for (const auto& [number, value] : values) {
    Reserved& reserved = reserved_[static_cast<size_t>(number)];
    Attribute& attribute = header_.variables[reserved.variable].attributes[reserved.attribute];
    attribute = reserved.empty;
    attribute.bytes = value;
    turn(attribute.type, attribute.bytes);
    reserved.has_value = true;
  }
  return Status();
}

// It goes from the last on, so that the places of the others stay.
void NetcdfWriter::drop_empty() {
  for (auto reserved = reserved_.rbegin(); reserved != reserved_.rend(); ++reserved) {
    if (!reserved->has_value) {
      std::vector<Attribute>& list = header_.variables[reserved->variable].attributes;
      list.erase(list.begin() + static_cast<int64_t>(reserved->attribute));
    }
  }
}

Result<SparseImage> NetcdfWriter::finish() {
  drop_empty();
  header_.dimensions = dimensions_.list();
  header_.record_count = layout_.record_count();
  const Version version = version_.value_or(smallest_version(header_));
  STRIA_RETURN_IF_ERROR(check_version(header_, version));
  SparseImage image;
  image.extents.push_back({0, encode(header_, version)});
  const auto header_bytes = static_cast<int64_t>(image.extents[0].bytes.size());
  const int64_t tables_end = tables_begin_ + static_cast<int64_t>(tables_.size());
  if (header_bytes > layout_.head_bytes() || tables_end > layout_.tables_end()) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("the header of a netCDF file has {} bytes, but only {} were kept for it at the first flush(); "
                              "define datasets and attributes before",
                              header_bytes, layout_.head_bytes()));
  }
  // A program that writes the file anew moves its data: the last of them begin elsewhere.
  const int64_t offset_bytes = version == Version::kCdf1 ? 4 : 8;
  image.superblock = {header_bytes - offset_bytes, header_bytes};
  if (layout_.interleaves()) {
    image.row_count = {kRecordCountOffset, kRecordCountOffset + (version == Version::kCdf5 ? 8 : 4)};
  }
  image.file_bytes = align_up(std::max(layout_.end(), tables_end), kUnitBytes);
  if (!tables_.empty()) {
    image.extents.push_back({tables_begin_, std::move(tables_)});
  }
  if (header_.variables.empty()) {
    image.file_bytes = header_bytes;
  }
  image.tables = std::move(table_places_);
  return image;
}

}  // namespace stria::container::netcdf
