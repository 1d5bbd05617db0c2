#include "file/write/defining.hpp"

#include <fmt/format.h>

#include <utility>

namespace stria::file {

namespace {

Definitions::Target target(WriteSession& session) {
  return session.defined().target(session.file());
}

// A definition that has failed is refused.
Status made(WriteSession& session, const Status& status) {
  return session.file().meetings.refuse(status);
}

Result<int> made(WriteSession& session, Result<int> number) {
  return number.ok() ? number : session.file().meetings.refuse(number.status());
}

}  // namespace

Result<int> create_dataset(WriteSession& session, const container::DatasetSpec& spec, const DatasetOptions& options) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  return made(session, session.defined().definitions.create_dataset(target(session), spec, options));
}

Result<int> append_rows(WriteSession& session, const std::string& path, int64_t rows) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  return made(session, session.defined().definitions.append_rows(target(session), path, rows));
}

Result<int> update(WriteSession& session, const std::string& path) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  if (is_netcdf(session.file().format())) {
    return made(session, Status(ErrorCode::kUnsupported,
                                fmt::format("update('{}'): elements of a classic netCDF file can't be overwritten", path)));
  }
  auto number = session.defined().definitions.update(target(session), path);
  if (number.ok() && session.file().catalog[*number].is_chunked()) {
    // Chunks may lie anywhere in what the file has.
    DatasetEntry& entry = session.file().catalog[*number];
    entry.data_offset = 0;
    entry.stored_bytes = session.defined().old.content().end;
  }
  return made(session, std::move(number));
}

Status create_table(WriteSession& session, container::DatasetSpec spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  return made(session, session.defined().definitions.create_table(target(session), std::move(spec), content));
}

Status set_attribute(WriteSession& session, container::AttributeSpec attribute) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  return made(session, session.defined().definitions.set_attribute(target(session), std::move(attribute)));
}

Status create_link(WriteSession& session, container::LinkSpec link) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  return made(session, session.defined().definitions.create_link(target(session), std::move(link)));
}

}  // namespace stria::file
