#include "file/define/columns.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "base/checked.hpp"

namespace stria::file {

namespace {

using container::ElementSpec;
using Kind = ElementSpec::Kind;

// More places than any program describes: what a description may make of a few words.
constexpr size_t kMostPieces = size_t{1} << 20;

Status invalid(const Column& column, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("column '{}' {}", column.name, why));
}

ElementSpec string_of(const Column& column, const RecordForm& form) {
  return form.has_filled_strings ? ElementSpec::of_filled_string(column.string_bytes)
                                 : ElementSpec::of_string(column.string_bytes, false);
}

ElementSpec number_of(const Column& column, const RecordForm& form) {
  ElementSpec number = ElementSpec::of_number(column.number);
  number.big_endian = form.is_of_file ? column.big_endian : std::endian::native == std::endian::big;
  if (column.meaning == Meaning::kComplex) {
    return ElementSpec::of_complex(number);
  }
  number.meaning = column.meaning;
  number.enumeration = column.enumeration;
  return number;
}

Result<ElementSpec> nested_record_of(std::span<const Column> columns, int64_t row_bytes, const RecordForm& form, int depth);

Result<ElementSpec> element_of(const Column& column, const RecordForm& form, int depth) {
  ElementSpec element = column.string_bytes > 0 ? string_of(column, form) : number_of(column, form);
  if (!column.members.empty()) {
    auto record = nested_record_of(column.members, column.record_bytes, form, depth + 1);
    STRIA_RETURN_IF_ERROR(record.status().with_context(fmt::format("column '{}'", column.name)));
    element = std::move(*record);
  }
  if (column.dims.empty()) {
    return element;
  }
  auto array = ElementSpec::of_array(std::move(element), column.dims);
  STRIA_RETURN_IF_ERROR(array.status().with_context(fmt::format("column '{}'", column.name)));
  return array;
}

Result<ElementSpec> nested_record_of(std::span<const Column> columns, int64_t row_bytes, const RecordForm& form, int depth) {
  if (depth > ElementSpec::kMostNested) {
    return Status(ErrorCode::kUnsupported, fmt::format("records nested more than {} deep", ElementSpec::kMostNested));
  }
  std::vector<ElementSpec::Member> members;
  int64_t end = 0;
  for (const Column& column : columns) {
    STRIA_ASSIGN_OR_RETURN(ElementSpec element, element_of(column, form, depth));
    const int64_t bytes = element.bytes;
    const int64_t place = form.is_packed ? end : column.offset_bytes;
    if (!form.is_packed && (place < 0 || place > row_bytes - bytes)) {
      return invalid(column, fmt::format("at {}, of {} bytes, is not within a row of {}", place, bytes, row_bytes));
    }
    if (!checked_add(place, bytes, &end)) {
      return invalid(column, "is too large");
    }
    members.push_back({column.name, place, std::move(element)});
  }
  return ElementSpec::of_compound(form.is_packed ? end : row_bytes, std::move(members));
}

/// The pieces of memory that records have, one after another.
struct Pieces {
  std::vector<int64_t> bytes, places;
};

Status add_pieces(const ElementSpec& element, int64_t place, Pieces& pieces) {
  if (pieces.bytes.size() >= kMostPieces) {
    return Status(ErrorCode::kUnsupported, fmt::format("records of more than {} members and elements of arrays", kMostPieces));
  }
  const bool is_split =
      element.kind == Kind::kCompound || (element.kind == Kind::kArray && element.members[0].element.kind == Kind::kCompound);
  if (!is_split) {
    pieces.bytes.push_back(element.bytes);
    pieces.places.push_back(place);
    return Status();
  }
  const int64_t count = element.kind == Kind::kArray ? element.array_size() : 1;
  for (int64_t i = 0; i < count; ++i) {
    for (const ElementSpec::Member& member : element.members) {
      STRIA_RETURN_IF_ERROR(add_pieces(member.element, place + i * member.element.bytes + member.offset_bytes, pieces));
    }
  }
  return Status();
}

Result<Column> column_of(const ElementSpec::Member& member, const std::string& what);

Result<Column> record_column(const ElementSpec& element, const std::string& what) {
  Column column;
  STRIA_ASSIGN_OR_RETURN(column.members, columns_of(element, what));
  column.record_bytes = element.bytes;
  const bool is_pair = column.members.size() == 2 && column.members[0].name == "r" && column.members[1].name == "i";
  const auto is_part = [](const Column& part, int64_t place) {
    return part.members.empty() && part.dims.empty() && part.enumeration.empty() && part.meaning == Meaning::kNumber &&
           (part.number == ElementType::kFloat32 || part.number == ElementType::kFloat64) && part.offset_bytes == place;
  };
  if (is_pair && is_part(column.members[0], 0) && is_part(column.members[1], element_bytes(column.members[0].number)) &&
      column.members[0].number == column.members[1].number && element.bytes == 2 * element_bytes(column.members[0].number)) {
    const Column part = column.members[0];
    return Column{.name = {}, .number = part.number, .meaning = Meaning::kComplex, .big_endian = part.big_endian};
  }
  return column;
}

Result<Column> array_column(const ElementSpec& element, const std::string& what) {
  auto column = column_of({"", 0, element.members[0].element}, what);
  if (column.ok()) {
    column->dims.insert(column->dims.begin(), element.array_dims.begin(), element.array_dims.end());
  }
  return column;
}

Result<Column> column_of_element(const ElementSpec& element, const std::string& what) {
  switch (element.kind) {
    case Kind::kNumber:
      return Column{.name = {},
                    .number = element.number,
                    .meaning = element.meaning,
                    .big_endian = element.big_endian,
                    .enumeration = element.enumeration};
    case Kind::kString:
      return Column{.name = {}, .string_bytes = element.bytes, .varies = element.varies};
    case Kind::kCompound:
      return record_column(element, what);
    case Kind::kArray:
      return array_column(element, what);
    default:
      return Status(ErrorCode::kUnsupported,
                    fmt::format("{} is of a type that Stria doesn't read; the others can be got by their names", what));
  }
}

Result<Column> column_of(const ElementSpec::Member& member, const std::string& what) {
  STRIA_ASSIGN_OR_RETURN(Column column, column_of_element(member.element, what));
  column.name = member.name;
  column.offset_bytes = member.offset_bytes;
  return column;
}

}  // namespace

Result<ElementSpec> record_of(std::span<const Column> columns, int64_t row_bytes, const RecordForm& form) {
  return nested_record_of(columns, row_bytes, form, 0);
}

Result<Datatype> memory_of(std::span<const Column> columns, int64_t row_bytes) {
  STRIA_ASSIGN_OR_RETURN(const ElementSpec record, record_of(columns, row_bytes, {}));
  Pieces pieces;
  STRIA_RETURN_IF_ERROR(add_pieces(record, 0, pieces));
  STRIA_ASSIGN_OR_RETURN(const Datatype fields, Datatype::hindexed(pieces.bytes, pieces.places, Datatype::bytes(1)));
  return Datatype::resized(fields, 0, row_bytes);
}

Result<std::vector<Column>> columns_of(const ElementSpec& record, const std::string& what) {
  std::vector<Column> columns;
  for (const ElementSpec::Member& member : record.members) {
    STRIA_ASSIGN_OR_RETURN(Column column, column_of(member, fmt::format("{}: column '{}'", what, member.name)));
    columns.push_back(std::move(column));
  }
  return columns;
}

Result<std::vector<Column>> list_columns(const container::DatasetSpec& spec) {
  if (spec.element.kind != Kind::kCompound) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}' is not a table", spec.path));
  }
  return columns_of(spec.element, fmt::format("table '{}'", spec.path));
}

}  // namespace stria::file
