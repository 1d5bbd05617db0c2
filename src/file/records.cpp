// Records: as a type of the file, as they lie in memory, and small tables of them; and strings that
// every rank puts.
#include <fmt/format.h>

#include <utility>

#include "base/out_of_memory.hpp"
#include "file/define/columns.hpp"
#include "file/move/record_conversion.hpp"
#include "file/move/record_places.hpp"
#include "file/opening/calls.hpp"
#include "file/read/small_content.hpp"
#include "file/write/defining.hpp"
#include "stria/file.hpp"

namespace stria {

using file::call;
using file::live;
using file::ReadTurn;
using file::WriteTurn;

namespace {

// Keeps the columns of each row, with zeros between them: what a program has there differs by rank.
Status drop_padding(const container::ElementSpec& record, std::span<const std::byte> rows, std::vector<std::byte>& clean) {
  STRIA_ASSIGN_OR_RETURN(const auto conversion, file::RecordConversion::to_file(record, record));
  if (!conversion.is_identity()) {
    clean.resize(rows.size());
    STRIA_RETURN_IF_ERROR(conversion.convert(rows, clean));
  }
  return Status();
}

// A description with more members than this is taken for a mistake, or for damage.
constexpr size_t kMostFlat = size_t{1} << 20;

Column column_at(const file::RecordPlace& place, int64_t number) {
  const container::ElementSpec& element = *place.element;
  const bool is_string = element.kind == container::ElementSpec::Kind::kString;
  return {.name = place.path + file::indices_of(number, place.dims),
          .offset_bytes = place.offset_bytes + number * element.bytes,
          .number = is_string ? ElementType::kByte : element.number,
          .string_bytes = is_string ? element.bytes : 0,
          .meaning = element.meaning,
          .big_endian = element.big_endian,
          .enumeration = element.enumeration};
}

}  // namespace

Memory records(const void* rows, int64_t row_count, int64_t row_bytes, const std::vector<Column>& columns) {
  const Datatype row = file::memory_of(columns, row_bytes).value();
  Memory memory(rows, Datatype::contiguous(row_count, row).value(), ElementType::kByte);
  memory.columns = std::make_shared<const std::vector<Column>>(columns);
  return memory;
}

std::vector<Column> flat_columns(const std::vector<Column>& columns, int64_t row_bytes) {
  std::vector<Column> flat;
  for (const Column& column : columns) {
    if (column.members.empty() && column.dims.empty() && column.meaning != Meaning::kComplex) {
      flat.push_back(column);
      continue;
    }
    const container::ElementSpec record = file::record_of(std::span(&column, 1), row_bytes, {.is_of_file = true}).value();
    const file::RecordPlaces places = file::RecordPlaces::create(record).value();
    for (const file::RecordPlace& place : places.all()) {
      if (place.count > static_cast<int64_t>(kMostFlat - flat.size())) {
        throw Error(ErrorCode::kUnsupported, fmt::format("column '{}' has more than {} numbers", column.name, kMostFlat));
      }
      for (int64_t i = 0; i < place.count; ++i) {
        flat.push_back(column_at(place, i));
      }
    }
  }
  return flat;
}

Dataset File::create_records(const std::string& path, const std::vector<Column>& columns, const std::vector<int64_t>& dims,
                             const DatasetOptions& options) {
  const WriteTurn session(session_, "create_records()");
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = dims;
  auto record = file::record_of(columns, 0, {.is_packed = true, .is_of_file = true});
  if (!record.ok()) {
    session->file().meetings.refuse(record.status().with_context(fmt::format("dataset '{}'", path))).throw_if_error();
  }
  spec.element = std::move(*record);
  return Dataset(session_, file::create_dataset(*session, spec, options).value());
}

Dataset File::create_string_dataset(const std::string& path, int64_t string_bytes, const std::vector<int64_t>& dims,
                                    const DatasetOptions& options) {
  const WriteTurn session(session_, "create_string_dataset()");
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = dims;
  spec.element = container::ElementSpec::of_string(string_bytes, options.blank_padded);
  return Dataset(session_, file::create_dataset(*session, spec, options).value());
}

void File::create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                        const void* rows) {
  const WriteTurn session(session_, "create_table()");
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = {row_count};
  std::vector<std::byte> clean;
  std::span<const std::byte> given;
  const Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(spec.element, file::record_of(columns, row_bytes, {.has_filled_strings = true}));
    STRIA_ASSIGN_OR_RETURN(const int64_t bytes, container::dataset_bytes(spec));
    auto* const first = static_cast<const std::byte*>(rows);
    given = {first, first == nullptr ? 0 : static_cast<size_t>(bytes)};
    return given.empty() ? Status() : drop_padding(spec.element, given, clean);
  });
  session->file().meetings.refuse(status.with_context(fmt::format("table '{}'", path))).throw_if_error();
  file::create_table(*session, std::move(spec), clean.empty() ? given : clean).throw_if_error();
}

std::vector<Column> File::columns(const std::string& path, int64_t* row_bytes) {
  const auto session = live(session_);
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileReadList);
  const CallNote noted = note(*session, "columns()");
  return session->read_columns(path, *row_bytes).value();
}

std::vector<std::byte> File::read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes) {
  const ReadTurn session(session_, "read_table()");
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileReadList);
  const CallNote noted = note(*session, "read_table()");
  return file::read_table(*session, path, *columns, *row_bytes).value();
}

}  // namespace stria
