#include "file/read/content.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/out_of_memory.hpp"
#include "file/background/background.hpp"
#include "file/background/staging_place.hpp"
#include "file/checksums/changes.hpp"
#include "file/meet/message_fields.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/parts_table.hpp"
#include "file/session/catalog_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// How often a file that can't be read is opened again, because it has grown meanwhile.
constexpr int kMostAttempts = 100;

// Data can be read without sums if the caller wants that; verify() then says what is wrong
// with the sums.
Result<ChecksumIndex> without_index(const ReadBy& by, const Status& problem) {
  if (by.verify) {
    return problem.with_context(fmt::format("'{}' (to read it all the same, open it with verify off)", by.given_path));
  }
  ChecksumIndex none;
  none.present = true;
  none.problem = problem.with_context(fmt::format("'{}'", by.given_path));
  return none;
}

// Files whose data are in parts have a table of these in the catalog.
Result<bool> must_be_whole(const ReadBy& by, const container::Reader& reader) {
  if (by.environment.comm->size() > 1 || by.verify || is_netcdf(reader.format())) {
    return true;
  }
  STRIA_ASSIGN_OR_RETURN(const auto parts, reader.kind_of(kPartsPath));
  return parts != container::Reader::ObjectKind::kNone;
}

Result<Content> read_as_it_is(const ReadBy& by, ReadFile& file) {
  STRIA_RETURN_IF_ERROR(open_handle(by, file));
  PhaseTimer timer(by.times, Phase::kMetadata);
  STRIA_RETURN_IF_ERROR(open_reader(file));
  Content content{.format = file.reader->format(), .remarks = file.reader->remarks()};
  STRIA_ASSIGN_OR_RETURN(content.file_bytes, file.file->size());
  STRIA_ASSIGN_OR_RETURN(content.is_whole, must_be_whole(by, *file.reader));
  STRIA_RETURN_IF_ERROR(content.is_whole ? read_whole(by, file, content) : Status());
  return content;
}

// Most files have no parts elsewhere. Parity is listed only where there are some.
Result<std::vector<std::string>> find_placed(const ReadBy& by, const ReadFile& file) {
  storage::Driver& driver = *by.environment.driver;
  std::vector<std::string> placed;
  for (int part = 0; file.parts != nullptr && part < file.parts->part_count(); ++part) {
    const std::string& path = file.parts->parts[static_cast<size_t>(part)].path;
    if (std::string real = real_path(driver, path); real != path) {
      placed.push_back(std::move(real));
    }
  }
  if (placed.empty() || by.environment.comm->size() == 1) {
    return std::vector<std::string>();
  }
  STRIA_ASSIGN_OR_RETURN(const auto parity, list_parity(driver, file.path));
  for (const PartName& one : parity) {
    const std::string path = path_beside(file.path, one.name);
    if (std::string real = real_path(driver, path); real != path) {
      placed.push_back(std::move(real));
    }
  }
  return placed;
}

// A program that adds to the file may write its head while it is read.
Result<Content> read_steadily(const ReadBy& by, ReadFile& file) {
  for (int attempt = 1;; ++attempt) {
    auto content = read_as_it_is(by, file);
    if (content.ok() || attempt == kMostAttempts || file.steady == nullptr || !file.steady->has_another_head()) {
      return content;
    }
    close_handles(file);
    file.parts = nullptr;
  }
}

}  // namespace

Status read_whole(const ReadBy& by, ReadFile& file, Content& content) {
  STRIA_ASSIGN_OR_RETURN(Catalog all, read_catalog(*file.reader));
  content.catalog = content.catalog.completed(std::move(all));
  STRIA_ASSIGN_OR_RETURN(content.parts, read_parts(*file.reader, file.path, content.catalog));
  STRIA_RETURN_IF_ERROR(take_parts(content.parts, file));
  join_parts(by, file);
  auto index = read_checksum_index(*file.reader, content.file_bytes);
  if (index.ok()) {
    content.sums = std::move(*index);
    go_by_summed_paths(content.sums, content.catalog);
    STRIA_RETURN_IF_ERROR(note_changes(*file.file, *file.reader, content.catalog, content.sums));
  } else {
    STRIA_ASSIGN_OR_RETURN(content.sums, without_index(by, index.status()));
  }
  content.file_bytes += file.parts != nullptr ? file.parts->bytes_of_parts() : 0;
  content.is_whole = true;
  return Status();
}

Result<OpenedFile> open_on_root(const ReadBy& by, const std::string& path) {
  const std::string own_path = by.environment.driver->follow_links(path);
  Background::instance().wait_for_name(own_path);
  const std::string& place = by.environment.hints.staging_place;
  Nearest nearest{.path = own_path};
  if (!place.empty()) {
    STRIA_ASSIGN_OR_RETURN(nearest, find_nearest(*by.environment.driver, place, own_path));
  }
  OpenedFile opened{.file = {.path = nearest.path, .is_staged = nearest.is_staged}, .content = {}, .remark = nearest.remark};
  auto content = read_steadily(by, opened.file);
  STRIA_ASSIGN_OR_RETURN(const bool is_healed, turn_to_parity(by, content.status(), opened.file));
  content = is_healed ? read_steadily(by, opened.file) : std::move(content);
  STRIA_RETURN_IF_ERROR(content.status());
  opened.content = std::move(*content);
  STRIA_ASSIGN_OR_RETURN(opened.placed, find_placed(by, opened.file));
  return opened;
}

std::vector<std::byte> encode_opened(const OpenedFile& opened) {
  FieldWriter fields;
  fields.text(opened.file.path);
  fields.number(opened.file.is_staged ? 1 : 0);
  fields.text(opened.remark);
  fields.bytes(opened.file.head);
  fields.number(static_cast<int64_t>(opened.content.remarks.size()));
  for (const std::string& remark : opened.content.remarks) {
    fields.text(remark);
  }
  fields.text(opened.file.healing_remark);
  fields.number(static_cast<int64_t>(opened.placed.size()));
  for (const std::string& path : opened.placed) {
    fields.text(path);
  }
  const Content& content = opened.content;
  fields.bytes(encode_catalog(content.format, content.catalog, content.sums, content.parts));
  return fields.take();
}

Result<OpenedFile> decode_opened(const ReadBy& by, std::span<const std::byte> message) {
  OpenedFile opened;
  FieldReader fields(message);
  opened.file.path = fields.text();
  opened.file.is_staged = fields.number() != 0;
  opened.remark = fields.text();
  const auto head = fields.bytes();
  opened.file.head.assign(head.begin(), head.end());
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    opened.content.remarks.push_back(fields.text());
  }
  opened.file.healing_remark = fields.text();
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    opened.placed.push_back(fields.text());
  }
  const auto bytes = fields.bytes();
  if (!fields.is_whole()) {
    return Status(ErrorCode::kInternal, "what rank 0 says of the file was garbled on its way");
  }
  STRIA_RETURN_IF_ERROR(opened.file.healing_remark.empty() ? Status() : find_parity(by, opened.file));
  STRIA_ASSIGN_OR_RETURN(CatalogMessage catalog, decode_catalog(bytes));
  opened.content.catalog = std::move(catalog.datasets);
  opened.content.sums = std::move(catalog.checksums);
  opened.content.format = catalog.format;
  STRIA_RETURN_IF_ERROR(take_parts(catalog.parts, opened.file));
  return opened;
}

Result<FileSums> attach_sums(const ReadBy& by, ChecksumIndex index, Catalog& catalog) {
  if (const Status attached = attach_row_sums(index, catalog); !attached.ok()) {
    STRIA_ASSIGN_OR_RETURN(index, without_index(by, attached));
  }
  SumRecords records(catalog, index);
  return FileSums{.index = std::move(index), .records = std::move(records), .rows = {}};
}

}  // namespace stria::file
