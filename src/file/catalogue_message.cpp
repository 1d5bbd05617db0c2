#include "file/catalogue_message.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace stria::file {

namespace {

using nlohmann::json;

// Members of compounds stay with rank 0: whoever needs them asks it.
json encode_dataset(const DatasetEntry& entry) {
  const container::ElementSpec& element = entry.spec.element;
  return json::array({entry.spec.path, static_cast<int>(element.kind), static_cast<int>(element.number), element.big_endian,
                      element.bytes, entry.spec.dims, entry.data_offset});
}

DatasetEntry decode_dataset(const json& value) {
  DatasetEntry entry;
  entry.spec.path = value.at(0).get<std::string>();
  entry.spec.element.kind = static_cast<container::ElementSpec::Kind>(value.at(1).get<int>());
  entry.spec.element.number = static_cast<ElementType>(value.at(2).get<int>());
  entry.spec.element.big_endian = value.at(3).get<bool>();
  entry.spec.element.bytes = value.at(4).get<int64_t>();
  entry.spec.dims = value.at(5).get<std::vector<int64_t>>();
  entry.data_offset = value.at(6).get<int64_t>();
  return entry;
}

}  // namespace

std::vector<std::byte> encode_catalogue(const Catalogue& catalogue) {
  json document = json::array();
  for (const DatasetEntry& entry : catalogue.datasets) {
    document.push_back(encode_dataset(entry));
  }
  std::vector<std::byte> index = encode_index(catalogue.checksums);
  auto* index_data = reinterpret_cast<const uint8_t*>(index.data());
  document.push_back(json::binary(std::vector<uint8_t>(index_data, index_data + index.size())));
  std::vector<uint8_t> bytes = json::to_cbor(document);
  auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

Result<Catalogue> decode_catalogue(std::span<const std::byte> message) {
  auto* data = reinterpret_cast<const uint8_t*>(message.data());
  json document = json::from_cbor(data, data + message.size(), true, false);
  if (!document.is_array() || document.empty()) {
    return Status(ErrorCode::kInternal, "the catalogue was garbled on its way");
  }
  Catalogue catalogue;
  for (size_t i = 0; i + 1 < document.size(); ++i) {
    catalogue.datasets.push_back(decode_dataset(document[i]));
  }
  const auto& index = document.back().get_binary();
  STRIA_ASSIGN_OR_RETURN(catalogue.checksums, decode_index(std::as_bytes(std::span(index.data(), index.size()))));
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
  json list = json::array();
  for (const Column& column : columns) {
    list.push_back({column.name, column.offset_bytes, static_cast<int>(column.number), column.string_bytes});
  }
  std::vector<uint8_t> bytes = json::to_cbor(list);
  auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

std::vector<Column> decode_columns(std::span<const std::byte> message) {
  auto* data = reinterpret_cast<const uint8_t*>(message.data());
  std::vector<Column> columns;
  for (const json& value : json::from_cbor(data, data + message.size())) {
    columns.push_back({value.at(0).get<std::string>(), value.at(1).get<int64_t>(),
                       static_cast<ElementType>(value.at(2).get<int>()), value.at(3).get<int64_t>()});
  }
  return columns;
}

}  // namespace stria::file
