#include "file/catalogue_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "file/message_fields.hpp"

namespace stria::file {

namespace {

// Members of compounds stay with rank 0: whoever needs them asks it.
void encode_dataset(const DatasetEntry& entry, FieldWriter& fields) {
  const container::ElementSpec& element = entry.spec.element;
  fields.text(entry.spec.path);
  fields.number(static_cast<int64_t>(element.kind));
  fields.number(static_cast<int64_t>(element.number));
  fields.number(element.big_endian ? 1 : 0);
  fields.number(element.bytes);
  fields.bytes(std::as_bytes(std::span(entry.spec.dims)));
  fields.number(entry.data_offset);
}

DatasetEntry decode_dataset(FieldReader& fields) {
  DatasetEntry entry;
  container::ElementSpec& element = entry.spec.element;
  entry.spec.path = fields.text();
  element.kind = static_cast<container::ElementSpec::Kind>(fields.number());
  element.number = static_cast<ElementType>(fields.number());
  element.big_endian = fields.number() != 0;
  element.bytes = fields.number();
  const auto dims = fields.bytes();
  entry.spec.dims.resize(dims.size() / sizeof(int64_t));
  std::copy(dims.begin(), dims.end(), reinterpret_cast<std::byte*>(entry.spec.dims.data()));
  entry.data_offset = fields.number();
  return entry;
}

}  // namespace

std::vector<std::byte> encode_catalogue(const Catalogue& catalogue) {
  FieldWriter fields;
  fields.number(static_cast<int64_t>(catalogue.datasets.size()));
  for (const DatasetEntry& entry : catalogue.datasets) {
    encode_dataset(entry, fields);
  }
  fields.bytes(encode_index(catalogue.checksums));
  return fields.take();
}

Result<Catalogue> decode_catalogue(std::span<const std::byte> message) {
  FieldReader fields(message);
  Catalogue catalogue;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    catalogue.datasets.push_back(decode_dataset(fields));
  }
  const auto index = fields.bytes();
  if (!fields.well()) {
    return Status(ErrorCode::kInternal, "the catalogue was garbled on its way");
  }
  STRIA_ASSIGN_OR_RETURN(catalogue.checksums, decode_index(index));
  return catalogue;
}

Status list_columns(const container::DatasetSpec& spec, std::vector<Column>& columns) {
  using Kind = container::ElementSpec::Kind;
  if (spec.element.kind != Kind::kCompound) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}' is not a table", spec.path));
  }
  for (const auto& member : spec.element.members) {
    if (member.element.kind != Kind::kNumber && member.element.kind != Kind::kString) {
      return Status(ErrorCode::kUnsupported,
                    fmt::format("table '{}': column '{}' is neither number nor string", spec.path, member.name));
    }
    bool string = member.element.kind == Kind::kString;
    columns.push_back({member.name, member.offset_bytes, string ? ElementType::kByte : member.element.number,
                       string ? member.element.bytes : 0});
  }
  return Status();
}

std::vector<std::byte> encode_columns(const std::vector<Column>& columns) {
  FieldWriter fields;
  fields.number(static_cast<int64_t>(columns.size()));
  for (const Column& column : columns) {
    fields.text(column.name);
    fields.number(column.offset_bytes);
    fields.number(static_cast<int64_t>(column.number));
    fields.number(column.string_bytes);
  }
  return fields.take();
}

std::vector<Column> decode_columns(std::span<const std::byte> message) {
  FieldReader fields(message);
  std::vector<Column> columns;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    Column column;
    column.name = fields.text();
    column.offset_bytes = fields.number();
    column.number = static_cast<ElementType>(fields.number());
    column.string_bytes = fields.number();
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace stria::file
