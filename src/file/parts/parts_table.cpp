#include "file/parts/parts_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "container/formats/formats.hpp"
#include "file/checksums/seal.hpp"
#include "file/meet/message_fields.hpp"
#include "file/parts/part_names.hpp"
#include "file/session/catalog_message.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr int64_t kOldVersion = 1;  // parts without marks
constexpr int64_t kPartsVersion = 2;
// A damaged or hostile file may claim anything.
constexpr int64_t kMostTableBytes = 256 << 20;

bool decode_part(FieldReader& fields, int64_t version, const std::string& path, storage::PartMap::Part& part) {
  const std::string name = fields.text();
  part.path = path_beside(path, name);
  part.least_bytes = fields.number();
  part.mark_offset = version == kOldVersion ? -1 : fields.number();
  const bool has_mark = version == kOldVersion || (part.mark_offset >= 0 && part.mark_offset <= part.least_bytes);
  return fields.well() && has_mark && !name.empty() && name.find_first_of(std::string("/\0", 2)) == std::string::npos &&
         part.least_bytes >= 0;
}

// Tells whether each share lies in its part.
bool shares_fit(const storage::PartedArray& array, const storage::PartMap& map) {
  for (int part = 0; part < map.part_count(); ++part) {
    const int64_t bytes = storage::rows_of_part(array.row_count, map.part_count(), part).size() * array.row_bytes;
    const int64_t offset = array.offsets[static_cast<size_t>(part)];
    if (bytes > 0 && (offset < 0 || bytes > map.parts[static_cast<size_t>(part)].least_bytes - offset)) {
      return false;
    }
  }
  return true;
}

bool decode_array(FieldReader& fields, const storage::PartMap& map, storage::PartedArray& array) {
  array.address = fields.number();
  array.row_count = fields.number();
  array.row_bytes = fields.number();
  const auto offsets = fields.bytes();
  int64_t bytes = 0;
  int64_t end = 0;
  const int64_t least = map.arrays.empty() ? storage::PartMap::kFirstAddress : map.arrays.back().end();
  if (!fields.well() || array.address < least || array.row_count <= 0 || array.row_bytes <= 0 ||
      !checked_multiply(array.row_count, array.row_bytes, &bytes) || !checked_add(array.address, bytes, &end) ||
      offsets.size() != map.parts.size() * sizeof(int64_t)) {
    return false;
  }
  array.offsets.resize(map.parts.size());
  std::memcpy(array.offsets.data(), offsets.data(), offsets.size());
  return shares_fit(array, map);
}

}  // namespace

std::vector<std::byte> encode_parts(const storage::PartMap& map, std::span<const std::string> paths) {
  STRIA_CHECK(paths.size() == map.arrays.size(), paths.size(), map.arrays.size());
  FieldWriter fields;
  fields.number(kPartsVersion);
  fields.number(map.part_count());
  for (const storage::PartMap::Part& part : map.parts) {
    fields.text(storage::file_name_of(part.path));
    fields.number(part.least_bytes);
    fields.number(part.mark_offset);
  }
  fields.bytes(map.identity);
  fields.number(static_cast<int64_t>(map.arrays.size()));
  for (size_t i = 0; i < map.arrays.size(); ++i) {
    const storage::PartedArray& array = map.arrays[i];
    fields.text(paths[i]);
    fields.number(array.address);
    fields.number(array.row_count);
    fields.number(array.row_bytes);
    fields.bytes(std::as_bytes(std::span(array.offsets)));
  }
  return with_own_sum(fields.take());
}

Result<PartsTable> decode_parts(std::span<const std::byte> content, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const std::span<const std::byte> summed, without_own_sum(content, kPartsPath));
  FieldReader fields(summed);
  PartsTable table;
  const int64_t version = fields.number();
  bool sound = version == kPartsVersion || version == kOldVersion;
  for (int64_t left = fields.number(); sound && left > 0; --left) {
    sound = decode_part(fields, version, path, table.map.parts.emplace_back());
  }
  sound = sound && !table.map.parts.empty();
  if (sound && version != kOldVersion) {
    const auto identity = fields.bytes();
    sound = identity.size() == table.map.identity.size();
    std::copy_n(identity.begin(), sound ? identity.size() : 0, table.map.identity.begin());
  }
  for (int64_t left = fields.number(); sound && left > 0; --left) {
    table.paths.push_back(fields.text());
    storage::PartedArray array;
    sound = decode_array(fields, table.map, array);
    table.map.arrays.push_back(std::move(array));
  }
  if (!sound || !fields.is_whole()) {
    return Status(ErrorCode::kFormat, fmt::format("the content of '{}' makes no sense", kPartsPath));
  }
  return table;
}

Result<std::vector<std::byte>> read_parts(const container::Reader& reader, const std::string& path, Catalog& catalog) {
  std::vector<std::byte> content;
  const auto number = catalog.find(kPartsPath);
  const auto datasets = catalog.datasets();
  const bool any = std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& entry) { return entry.is_virtual; });
  if (!number || !any) {  // another program has made one file of it
    return content;
  }
  const container::DatasetSpec& spec = catalog[*number].spec;
  if (spec.element.kind != container::ElementSpec::Kind::kNumber || spec.element.bytes != 1 || spec.dims.size() != 1 ||
      spec.dims[0] > kMostTableBytes) {
    return Status(ErrorCode::kFormat, fmt::format("dataset '{}' is not what Stria writes", kPartsPath));
  }
  content.resize(static_cast<size_t>(spec.dims[0]));
  STRIA_RETURN_IF_ERROR(reader.read_hyperslab(kPartsPath, std::vector<int64_t>{0}, spec.dims, content));
  STRIA_ASSIGN_OR_RETURN(const PartsTable table, decode_parts(content, path));
  for (size_t i = 0; i < table.paths.size(); ++i) {
    const auto dataset = catalog.find(table.paths[i]);
    const storage::PartedArray& array = table.map.arrays[i];
    if (!dataset || !catalog[*dataset].is_virtual) {
      continue;  // another program has changed it
    }
    DatasetEntry& entry = catalog[*dataset];
    if (entry.spec.dims.empty() || entry.row_count() != array.row_count || entry.row_bytes() != array.row_bytes) {
      return Status(ErrorCode::kFormat, fmt::format("dataset '{}' and '{}' differ in its shape", entry.spec.path, kPartsPath));
    }
    entry.data_offset = array.address;
  }
  return content;
}

Result<std::optional<PartsTable>> find_parts(storage::File& file, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto reader, container::open_file(file));
  STRIA_ASSIGN_OR_RETURN(Catalog catalog, read_catalog(*reader));
  STRIA_ASSIGN_OR_RETURN(const auto content, read_parts(*reader, path, catalog));
  if (content.empty()) {
    return std::optional<PartsTable>();
  }
  STRIA_ASSIGN_OR_RETURN(PartsTable table, decode_parts(content, path));
  return std::optional<PartsTable>(std::move(table));
}

}  // namespace stria::file
