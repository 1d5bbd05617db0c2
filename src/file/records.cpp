// Records: as a type of the file, as they lie in memory, and small tables of them.
#include <cstring>

#include "base/checked.hpp"
#include "file/calls.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"
#include "stria/file.hpp"

namespace stria {

using file::call;
using file::live;

namespace {

using Writing = file::DirectedTurn<file::WriteSession>;
using Reading = file::DirectedTurn<file::ReadSession>;

container::ElementSpec element_of(const Column& column) {
  return column.string_bytes > 0 ? container::ElementSpec::of_filled_string(column.string_bytes)
                                 : container::ElementSpec::of_number(column.number);
}

// Of records that are put: what a program has behind the end of a string is NULs, or its own.
container::ElementSpec element_put(const Column& column) {
  return column.string_bytes > 0 ? container::ElementSpec::of_string(column.string_bytes, false) : element_of(column);
}

// The columns of each row, with zeros between them: what a program has there differs by rank.
std::vector<std::byte> without_padding(const container::ElementSpec& record, std::span<const std::byte> rows) {
  std::vector<std::byte> clean(rows.size());
  const auto row_bytes = static_cast<size_t>(record.bytes);
  for (size_t row = 0; row < rows.size(); row += row_bytes) {
    for (const auto& member : record.members) {
      const auto begin = static_cast<size_t>(member.offset_bytes);
      std::memcpy(clean.data() + row + begin, rows.data() + row + begin, static_cast<size_t>(member.element.bytes));
    }
  }
  return clean;
}

// No column reaches out of a row, and some bytes of a row are of none.
bool has_padding(const container::ElementSpec& record) {
  int64_t left_bytes = record.bytes;
  for (const auto& member : record.members) {
    if (member.offset_bytes < 0 || member.offset_bytes > record.bytes - member.element.bytes) {
      return false;
    }
    left_bytes -= member.element.bytes;
  }
  return left_bytes > 0;
}

// A record of the file: the columns one behind the other. One that is too large for memory has
// negative bytes.
container::ElementSpec packed(const std::vector<Column>& columns) {
  std::vector<container::ElementSpec::Member> members;
  int64_t bytes = 0;
  for (const Column& column : columns) {
    members.push_back({column.name, bytes, element_put(column)});
    if (!checked_add(bytes, members.back().element.bytes, &bytes)) {
      bytes = -1;
      break;
    }
  }
  container::ElementSpec record = container::ElementSpec::of_compound(bytes, std::move(members));
  record.number = ElementType::kByte;
  return record;
}

}  // namespace

Memory records(const void* rows, int64_t row_count, int64_t row_bytes, const std::vector<Column>& columns) {
  std::vector<int64_t> bytes, places;
  for (const Column& column : columns) {
    bytes.push_back(element_of(column).bytes);
    places.push_back(column.offset_bytes);
    if (column.offset_bytes < 0 || column.offset_bytes > row_bytes - bytes.back()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("column '{}' at {}, of {} bytes, is not within a row of {}",
                                                           column.name, column.offset_bytes, bytes.back(), row_bytes));
    }
  }
  const Datatype fields = Datatype::hindexed(bytes, places, Datatype::bytes(1)).value();
  const Datatype row = Datatype::resized(fields, 0, row_bytes).value();
  Memory memory(rows, Datatype::contiguous(row_count, row).value(), ElementType::kByte);
  memory.columns = std::make_shared<const std::vector<Column>>(columns);
  return memory;
}

Dataset File::create_records(const std::string& path, const std::vector<Column>& columns, const std::vector<int64_t>& dims,
                             const DatasetOptions& options) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = packed(columns);
  spec.dims = dims;
  return Dataset(session_, Writing(session_, "create_records()")->create_dataset(spec, options).value());
}

void File::create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                        const void* rows) {
  std::vector<container::ElementSpec::Member> members;
  for (const Column& column : columns) {
    members.push_back({column.name, column.offset_bytes, element_of(column)});
  }
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_compound(row_bytes, std::move(members));
  spec.dims = {row_count};
  const Writing session(session_, "create_table()");
  const auto content_bytes = container::dataset_bytes(spec);
  if (!content_bytes.ok()) {
    session->refuse(content_bytes.status()).throw_if_error();
  }
  auto* bytes = static_cast<const std::byte*>(rows);
  const std::span<const std::byte> given(bytes, bytes == nullptr ? 0 : static_cast<size_t>(*content_bytes));
  if (!given.empty() && has_padding(spec.element)) {
    const std::vector<std::byte> clean = without_padding(spec.element, given);
    session->create_table(std::move(spec), clean).throw_if_error();
    return;
  }
  session->create_table(std::move(spec), given).throw_if_error();
}

std::vector<Column> File::columns(const std::string& path, int64_t* row_bytes) {
  const auto session = live(session_);
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileReadList);
  const CallNote noted = session->note("columns()");
  return session->read_columns(path, *row_bytes).value();
}

std::vector<std::byte> File::read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes) {
  const Reading session(session_, "read_table()");
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileReadList);
  const CallNote noted = session->note("read_table()");
  return session->read_table(path, *columns, *row_bytes).value();
}

}  // namespace stria
