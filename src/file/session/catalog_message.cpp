#include "file/session/catalog_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "file/checksums/changes.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

void encode_element(const container::ElementSpec& element, FieldWriter& fields) {
  fields.number(static_cast<int64_t>(element.kind));
  fields.number(static_cast<int64_t>(element.number));
  fields.number(element.big_endian ? 1 : 0);
  fields.number(static_cast<int64_t>(element.meaning));
  fields.number(element.bytes);
  fields.number((element.space_padded ? 1 : 0) + (element.varies ? 2 : 0));
  fields.bytes(std::as_bytes(std::span(element.array_dims)));
  fields.number(static_cast<int64_t>(element.enumeration.size()));
  for (const NamedNumber& member : element.enumeration) {
    fields.text(member.name);
    fields.number(member.value);
  }
  fields.number(static_cast<int64_t>(element.members.size()));
  for (const auto& member : element.members) {
    fields.text(member.name);
    fields.number(member.offset_bytes);
    encode_element(member.element, fields);
  }
}

std::vector<int64_t> decode_dims(FieldReader& fields) {
  std::vector<int64_t> dims;
  fields.append_to(dims);
  return dims;
}

void decode_element(FieldReader& fields, container::ElementSpec& element) {
  element.kind = static_cast<container::ElementSpec::Kind>(fields.number());
  element.number = static_cast<ElementType>(fields.number());
  element.big_endian = fields.number() != 0;
  element.meaning = static_cast<Meaning>(fields.number());
  element.bytes = fields.number();
  const int64_t text = fields.number();
  element.space_padded = (text & 1) != 0;
  element.varies = (text & 2) != 0;
  element.array_dims = decode_dims(fields);
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    NamedNumber& member = element.enumeration.emplace_back();
    member.name = fields.text();
    member.value = fields.number();
  }
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    container::ElementSpec::Member& member = element.members.emplace_back();
    member.name = fields.text();
    member.offset_bytes = fields.number();
    decode_element(fields, member.element);
  }
}

void encode_dataset(const DatasetEntry& entry, FieldWriter& fields) {
  fields.text(entry.spec.path);
  encode_element(entry.spec.element, fields);
  fields.bytes(std::as_bytes(std::span(entry.spec.dims)));
  fields.number(entry.data_offset);
  fields.number(entry.spec.row_stride_bytes);
  fields.number((entry.spec.unlimited ? 1 : 0) + (entry.spec.is_dimension ? 2 : 0) + (entry.is_scale ? 4 : 0));
  fields.number(static_cast<int64_t>(entry.spec.dimension_names.size()));
  for (const std::string& name : entry.spec.dimension_names) {
    fields.text(name);
  }
  fields.bytes(std::as_bytes(std::span(entry.chunk)));
  fields.text(entry.filters);
  fields.text(entry.obstacle);
  fields.status(entry.problem);
  fields.bytes(entry.spec.fill_value);
  fields.number(entry.value_range ? 1 : 0);
  fields.number(entry.spec.extendable ? 1 : 0);
  fields.number(entry.is_chunked() ? 1 : 0);
  if (entry.is_chunked()) {
    const Filters& filters = entry.spec.chunking->filters;
    fields.bytes(std::as_bytes(std::span(entry.spec.chunking->dims)));
    fields.number((filters.shuffle ? 1 : 0) + (filters.deflate ? 2 : 0) + (filters.fletcher32 ? 4 : 0) +
                  (filters.zstd ? 8 : 0) + (filters.scale_offset ? 16 : 0) + (filters.zfp_reversible ? 32 : 0));
    fields.number(std::bit_cast<int64_t>(filters.zfp_absolute));
    fields.number(std::bit_cast<int64_t>(filters.zfp_relative));
    fields.number(std::bit_cast<int64_t>(filters.zfp_rate));
    fields.number(entry.spec.chunking->shuffled_bytes);
  }
}

DatasetEntry decode_dataset(FieldReader& fields) {
  DatasetEntry entry;
  entry.spec.path = fields.text();
  decode_element(fields, entry.spec.element);
  entry.spec.dims = decode_dims(fields);
  entry.data_offset = fields.number();
  entry.spec.row_stride_bytes = fields.number();
  const int64_t kind = fields.number();
  entry.spec.unlimited = (kind & 1) != 0;
  entry.spec.is_dimension = (kind & 2) != 0;
  entry.is_scale = (kind & 4) != 0;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    entry.spec.dimension_names.push_back(fields.text());
  }
  entry.chunk = decode_dims(fields);
  entry.filters = fields.text();
  entry.obstacle = fields.text();
  entry.problem = fields.status();
  const auto fill_value = fields.bytes();
  entry.spec.fill_value.assign(fill_value.begin(), fill_value.end());
  entry.value_range = fields.number() != 0;
  entry.spec.extendable = fields.number() != 0;
  if (fields.number() != 0) {
    container::Chunking& chunking = entry.spec.chunking.emplace();
    chunking.dims = decode_dims(fields);
    const int64_t filters = fields.number();
    chunking.filters = {.shuffle = (filters & 1) != 0,
                        .deflate = (filters & 2) != 0,
                        .zstd = (filters & 8) != 0,
                        .fletcher32 = (filters & 4) != 0,
                        .scale_offset = (filters & 16) != 0,
                        .zfp_reversible = (filters & 32) != 0};
    chunking.filters.zfp_absolute = std::bit_cast<double>(fields.number());
    chunking.filters.zfp_relative = std::bit_cast<double>(fields.number());
    chunking.filters.zfp_rate = std::bit_cast<double>(fields.number());
    chunking.shuffled_bytes = fields.number();
  }
  return entry;
}

// A path that is the dataset's own goes as an empty one.
void encode_paths(const Catalog& catalog, FieldWriter& fields) {
  fields.number(static_cast<int64_t>(catalog.paths().datasets.size()));
  for (const auto& [path, number] : catalog.paths().datasets) {
    fields.text(path == catalog[number].spec.path ? "" : path);
    fields.number(number);
  }
  fields.number(static_cast<int64_t>(catalog.paths().groups.size()));
  for (const auto& [path, of] : catalog.paths().groups) {
    fields.text(path);
    fields.text(of);
  }
  fields.number(static_cast<int64_t>(catalog.paths().others.size()));
  for (const CatalogPaths::Other& other : catalog.paths().others) {
    fields.text(other.path);
    fields.number(other.datasets_before);
    fields.text(other.target);
    fields.text(other.file);
  }
}

CatalogPaths decode_paths(FieldReader& fields, const std::vector<DatasetEntry>& datasets) {
  CatalogPaths paths;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    std::string path = fields.text();
    const int64_t number = fields.number();
    if (fields.well()) {
      STRIA_CHECK(0 <= number && number < static_cast<int64_t>(datasets.size()), path, number, datasets.size());
      paths.datasets.emplace_back(path.empty() ? datasets[static_cast<size_t>(number)].spec.path : std::move(path),
                                  static_cast<int>(number));
    }
  }
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    std::string path = fields.text();
    paths.groups.emplace(std::move(path), fields.text());
  }
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    CatalogPaths::Other& other = paths.others.emplace_back();
    other.path = fields.text();
    other.datasets_before = fields.number();
    other.target = fields.text();
    other.file = fields.text();
  }
  return paths;
}

bool is_group(const std::string& path) {
  return path.empty() || path.back() == '/';
}

std::string without_slash_at_end(const std::string& path) {
  return path.substr(0, path.empty() ? 0 : path.size() - 1);
}

// Returns the groups of a list, and the links that the list leaves out, in their order.
std::vector<CatalogPaths::Other> others_of(const std::vector<std::string>& listed,
                                           const std::vector<container::LinkSpec>& links) {
  std::vector<CatalogPaths::Other> others;
  int64_t datasets = 0;
  auto link = links.begin();
  for (size_t i = 0; i <= listed.size(); ++i) {
    for (; link != links.end() && link->order <= static_cast<int64_t>(i); ++link) {
      const bool leads = i < listed.size() && (listed[i] == link->path || listed[i] == link->path + "/");
      if (!leads) {
        others.push_back({link->path, datasets, link->target, link->file});
      }
    }
    if (i < listed.size() && is_group(listed[i])) {
      others.push_back({.path = listed[i], .datasets_before = datasets});
    }
    datasets += i < listed.size() && !is_group(listed[i]) ? 1 : 0;
  }
  return others;
}

}  // namespace

Result<DatasetEntry> read_entry(const container::Reader& reader, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, reader.dataset(path));
  DatasetEntry entry;
  entry.spec = std::move(info.spec);
  entry.spec.path = path;
  entry.data_offset = info.data_offset;
  entry.filters = std::move(info.filters);
  entry.chunk = std::move(info.chunk);
  entry.is_scale = info.is_scale;
  entry.obstacle = std::move(info.obstacle);
  entry.problem = std::move(info.problem);
  entry.is_virtual = info.layout == container::DatasetInfo::Layout::kVirtual;
  STRIA_RETURN_IF_ERROR(dataset_bytes(entry.spec).status());
  return entry;
}

// A link may come before what it leads to.
Result<Catalog> read_catalog(const container::Reader& reader) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> listed, reader.list());
  STRIA_ASSIGN_OR_RETURN(const std::vector<container::Alias> aliases, reader.aliases());
  STRIA_ASSIGN_OR_RETURN(const std::vector<container::LinkSpec> links, reader.links());
  CatalogPaths paths;
  paths.others = others_of(listed, links);
  std::unordered_map<std::string, std::string> of_datasets;
  for (const container::Alias& alias : aliases) {
    if (is_group(alias.path)) {
      paths.groups.emplace(without_slash_at_end(alias.path), without_slash_at_end(alias.of));
    } else {
      of_datasets.emplace(alias.path, alias.of);
    }
  }
  std::vector<DatasetEntry> datasets;
  std::unordered_map<std::string, int> number_of;
  for (const std::string& path : listed) {
    if (!is_group(path) && of_datasets.count(path) == 0) {
      number_of.emplace(path, static_cast<int>(datasets.size()));
      STRIA_ASSIGN_OR_RETURN(DatasetEntry entry, read_entry(reader, path));
      datasets.push_back(std::move(entry));
    }
  }
  for (const std::string& path : listed) {
    const auto alias = of_datasets.find(path);
    const auto number = number_of.find(alias == of_datasets.end() ? path : alias->second);
    if (number != number_of.end()) {
      paths.datasets.emplace_back(path, number->second);
    }
  }
  return Catalog(std::move(datasets), std::move(paths));
}

void go_by_summed_paths(const ChecksumIndex& checksums, Catalog& catalog) {
  for (const std::string& path : checksums.paths) {
    if (const auto number = catalog.find(path)) {
      catalog[*number].spec.path = path;
    }
  }
}

Status attach_row_sums(const ChecksumIndex& checksums, Catalog& catalog) {
  for (const RowsWithoutSums& rows :
       checksums.is_changed ? rows_without_sums(checksums, catalog) : std::vector<RowsWithoutSums>()) {
    catalog[rows.dataset].added_rows = catalog[rows.dataset].row_count() - rows.first_row;
  }
  for (size_t i = 0; i < checksums.paths.size(); ++i) {
    const auto [table, column] = checksums.placement[i];
    const auto found = catalog.find(checksums.paths[i]);
    if (!found) {
      continue;
    }
    DatasetEntry& entry = catalog[*found];
    const int64_t rows = table < 0 ? 0 : checksums.tables[static_cast<size_t>(table)][1];
    if (entry.spec.unlimited) {
      entry.added_rows = std::max<int64_t>(entry.row_count() - rows, 0);
    }
    if (table < 0) {
      continue;
    }
    if (entry.own_rows() != rows) {
      return Status(ErrorCode::kFormat, fmt::format("dataset '{}' and its table of checksums differ in rows", entry.spec.path));
    }
    entry.checksum_group = static_cast<int>(table);
    entry.checksum_column = static_cast<int>(column);
  }
  return Status();
}

std::vector<std::byte> encode_catalog(Format format, const Catalog& datasets, const ChecksumIndex& checksums,
                                      std::span<const std::byte> parts) {
  FieldWriter fields;
  fields.number(static_cast<int64_t>(format));
  fields.number(datasets.size());
  for (const DatasetEntry& entry : datasets.datasets()) {
    encode_dataset(entry, fields);
  }
  encode_paths(datasets, fields);
  fields.bytes(encode_index(checksums));
  fields.bytes(parts);
  return fields.take();
}

Result<CatalogMessage> decode_catalog(std::span<const std::byte> message) {
  FieldReader fields(message);
  CatalogMessage catalog;
  catalog.format = static_cast<Format>(fields.number());
  std::vector<DatasetEntry> datasets;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    datasets.push_back(decode_dataset(fields));
  }
  CatalogPaths paths = decode_paths(fields, datasets);
  const auto index = fields.bytes();
  catalog.parts = fields.bytes();
  if (!fields.is_whole()) {
    return Status(ErrorCode::kInternal, "the catalog was garbled on its way");
  }
  catalog.datasets = Catalog(std::move(datasets), std::move(paths));
  STRIA_ASSIGN_OR_RETURN(catalog.checksums, decode_index(index));
  return catalog;
}

std::vector<std::byte> encode_attribute(const container::AttributeSpec& attribute) {
  FieldWriter fields;
  fields.text(attribute.object_path);
  fields.text(attribute.name);
  encode_element(attribute.element, fields);
  fields.bytes(std::as_bytes(std::span(attribute.dims)));
  fields.bytes(attribute.value);
  return fields.take();
}

container::AttributeSpec decode_attribute(std::span<const std::byte> message) {
  FieldReader fields(message);
  container::AttributeSpec attribute;
  attribute.object_path = fields.text();
  attribute.name = fields.text();
  decode_element(fields, attribute.element);
  attribute.dims = decode_dims(fields);
  const auto value = fields.bytes();
  attribute.value.assign(value.begin(), value.end());
  STRIA_CHECK(fields.is_whole(), attribute.object_path, attribute.name, message.size());
  return attribute;
}

std::vector<std::byte> encode_attribute_list(const std::vector<AttributeInfo>& attributes) {
  FieldWriter fields;
  fields.number(static_cast<int64_t>(attributes.size()));
  for (const AttributeInfo& attribute : attributes) {
    fields.text(attribute.name);
    fields.text(attribute.type_name);
    fields.bytes(std::as_bytes(std::span(attribute.dims)));
  }
  return fields.take();
}

std::vector<AttributeInfo> decode_attribute_list(std::span<const std::byte> message) {
  FieldReader fields(message);
  std::vector<AttributeInfo> attributes;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    AttributeInfo attribute;
    attribute.name = fields.text();
    attribute.type_name = fields.text();
    attribute.dims = decode_dims(fields);
    attributes.push_back(std::move(attribute));
  }
  STRIA_CHECK(fields.is_whole(), attributes.size(), message.size());
  return attributes;
}

}  // namespace stria::file
