#include "file/write/defining_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "file/define/columns.hpp"
#include "file/define/names.hpp"

namespace stria::file {

DefiningSession::DefiningSession(Beginning beginning)
    : Session(std::move(beginning.environment), std::move(beginning.path), std::move(beginning.roll_call)),
      kind_(beginning.kind),
      options_(std::move(beginning.options)),
      old_(path_),
      places_(std::move(beginning.layout)),
      definitions_(environment_.hints.alignment_bytes, meetings_.is_root()) {
  const uint64_t choices = (options_.sync ? 2 : 0) + (options_.checksums ? 1 : 0) + 4 * static_cast<uint64_t>(options_.format) +
                           (options_.track_order ? 64 : 0);
  const uint64_t hash = combine_hashes(hash_of_opening(environment_, path_), choices);
  meetings_.log().add(hash, 1, [this] {
    DefinitionText text = describe_opening(environment_, path_, grows() ? "append" : "create");
    text.arguments.emplace_back("sync", options_.sync ? "true" : "false");
    text.arguments.emplace_back("checksums", options_.checksums ? "true" : "false");
    text.arguments.emplace_back("track_order", options_.track_order ? "true" : "false");
    text.arguments.emplace_back("format", fmt::format("{}", static_cast<int>(options_.format)));
    return text;
  });
}

Definitions::Target DefiningSession::target() {
  return {.catalog = catalog_, .layout = *places_.layout(), .log = meetings_.log(), .before = old_.content().catalog};
}

Result<int> DefiningSession::create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  auto number = definitions_.create_dataset(target(), spec, options);
  return number.ok() ? number : meetings_.refuse(number.status());
}

Status DefiningSession::create_table(container::DatasetSpec spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  return meetings_.refuse(definitions_.create_table(target(), std::move(spec), content));
}

Status DefiningSession::set_attribute(container::AttributeSpec attribute) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  return meetings_.refuse(definitions_.set_attribute(target(), std::move(attribute)));
}

Status DefiningSession::create_link(container::LinkSpec link) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  return meetings_.refuse(definitions_.create_link(target(), std::move(link)));
}

Status DefiningSession::create_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  return meetings_.refuse(definitions_.create_group(target(), path));
}

std::string DefiningSession::how_opened() const {
  return grows() ? "is open to be added to: use append_rows() or update(), or open() to read" : "is being written";
}

Result<int> DefiningSession::find(const std::string& dataset_path) {
  if (!catalog_.find(dataset_path) && old_.content().catalog.find(dataset_path)) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' {}; it has dataset '{}' already", path_, how_opened(),
                                                    without_leading_slash(dataset_path)));
  }
  return Session::find(dataset_path);
}

Result<int> DefiningSession::append_rows(const std::string& path, int64_t rows) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  auto number = definitions_.append_rows(target(), path, rows);
  return number.ok() ? number : meetings_.refuse(number.status());
}

Result<std::vector<Column>> DefiningSession::read_columns(const std::string& path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  const auto number = catalog_.find(path);
  const auto old = old_.content().catalog.find(path);
  if (!number && !old) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", path_, path));
  }
  const container::DatasetSpec& spec = number ? catalog_[*number].spec : old_.content().catalog[*old].spec;
  row_bytes = spec.element.bytes;
  return list_columns(spec);
}

Result<int> DefiningSession::update(const std::string& path) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  if (is_netcdf(format())) {
    return meetings_.refuse(Status(ErrorCode::kUnsupported,
                                   fmt::format("update('{}'): elements of a classic netCDF file can't be overwritten", path)));
  }
  auto number = definitions_.update(target(), path);
  if (number.ok() && catalog_[*number].is_chunked()) {
    // Chunks may lie anywhere in what the file has.
    catalog_[*number].data_offset = 0;
    catalog_[*number].stored_bytes = old_.content().end;
  }
  return number.ok() ? number : meetings_.refuse(number.status());
}

}  // namespace stria::file
