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
Result<ChecksumIndex> without_index(const OpenFile& file, bool verify, const Status& problem) {
  if (verify) {
    return problem.with_context(fmt::format("'{}' (to read it all the same, open it with verify off)", file.path));
  }
  ChecksumIndex none;
  none.present = true;
  none.problem = problem.with_context(fmt::format("'{}'", file.path));
  return none;
}

// Files whose data are in parts have a table of these in the catalog.
Result<bool> must_be_whole(const OpenFile& file, const ReadFile& source) {
  if (file.comm().size() > 1 || source.verify || is_netcdf(source.reader->format())) {
    return true;
  }
  STRIA_ASSIGN_OR_RETURN(const auto parts, source.reader->kind_of(kPartsPath));
  return parts != container::Reader::ObjectKind::kNone;
}

Result<Content> read_as_it_is(OpenFile& file, ReadFile& source) {
  STRIA_RETURN_IF_ERROR(open_handle(file, source));
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  STRIA_RETURN_IF_ERROR(open_reader(source));
  Content content{.format = source.reader->format(), .remarks = source.reader->remarks()};
  STRIA_ASSIGN_OR_RETURN(content.file_bytes, source.file->size());
  STRIA_ASSIGN_OR_RETURN(content.is_whole, must_be_whole(file, source));
  STRIA_RETURN_IF_ERROR(content.is_whole ? read_whole(file, source, content) : Status());
  return content;
}

// Most files have no parts elsewhere. Parity is listed only where there are some.
Result<std::vector<std::string>> find_placed(const OpenFile& file, const ReadFile& source) {
  storage::Driver& driver = *file.environment.driver;
  std::vector<std::string> placed;
  for (int part = 0; source.parts != nullptr && part < source.parts->part_count(); ++part) {
    const std::string& path = source.parts->parts[static_cast<size_t>(part)].path;
    if (std::string real = real_path(driver, path); real != path) {
      placed.push_back(std::move(real));
    }
  }
  if (placed.empty() || file.comm().size() == 1) {
    return std::vector<std::string>();
  }
  STRIA_ASSIGN_OR_RETURN(const auto parity, list_parity(driver, source.path));
  for (const PartName& one : parity) {
    const std::string path = path_beside(source.path, one.name);
    if (std::string real = real_path(driver, path); real != path) {
      placed.push_back(std::move(real));
    }
  }
  return placed;
}

// A program that adds to the file may write its head while it is read.
Result<Content> read_steadily(OpenFile& file, ReadFile& source) {
  for (int attempt = 1;; ++attempt) {
    auto content = read_as_it_is(file, source);
    if (content.ok() || attempt == kMostAttempts || source.steady == nullptr || !source.steady->has_another_head()) {
      return content;
    }
    close_handles(source);
    source.parts = nullptr;
  }
}

}  // namespace

Status read_whole(OpenFile& file, ReadFile& source, Content& content) {
  STRIA_ASSIGN_OR_RETURN(Catalog all, read_catalog(*source.reader));
  content.catalog = content.catalog.completed(std::move(all));
  STRIA_ASSIGN_OR_RETURN(content.parts, read_parts(*source.reader, source.path, content.catalog));
  STRIA_RETURN_IF_ERROR(take_parts(content.parts, source));
  join_parts(file, source);
  auto index = read_checksum_index(*source.reader, content.file_bytes);
  if (index.ok()) {
    content.sums = std::move(*index);
    go_by_summed_paths(content.sums, content.catalog);
    STRIA_RETURN_IF_ERROR(note_changes(*source.file, *source.reader, content.catalog, content.sums));
  } else {
    STRIA_ASSIGN_OR_RETURN(content.sums, without_index(file, source.verify, index.status()));
  }
  content.file_bytes += source.parts != nullptr ? source.parts->bytes_of_parts() : 0;
  content.is_whole = true;
  return Status();
}

Result<FileWithContent> open_on_root(OpenFile& file, bool verify) {
  const std::string own_path = file.environment.driver->follow_links(file.stored_path);
  Background::instance().wait_for_name(own_path);
  const std::string& place = file.environment.hints.staging_place;
  Nearest nearest{.path = own_path};
  if (!place.empty()) {
    STRIA_ASSIGN_OR_RETURN(nearest, find_nearest(*file.environment.driver, place, own_path));
  }
  FileWithContent opened{.file = {.path = nearest.path, .verify = verify, .is_staged = nearest.is_staged},
                         .content = {},
                         .remark = nearest.remark};
  auto content = read_steadily(file, opened.file);
  STRIA_ASSIGN_OR_RETURN(const bool is_healed, turn_to_parity(file, content.status(), opened.file));
  content = is_healed ? read_steadily(file, opened.file) : std::move(content);
  STRIA_RETURN_IF_ERROR(content.status());
  opened.content = std::move(*content);
  STRIA_ASSIGN_OR_RETURN(opened.placed, find_placed(file, opened.file));
  return opened;
}

std::vector<std::byte> encode_opened(const FileWithContent& opened) {
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

Result<FileWithContent> decode_opened(const OpenFile& file, bool verify, std::span<const std::byte> message) {
  FileWithContent opened;
  opened.file.verify = verify;
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
  STRIA_RETURN_IF_ERROR(opened.file.healing_remark.empty() ? Status() : find_parity(file, opened.file));
  STRIA_ASSIGN_OR_RETURN(CatalogMessage catalog, decode_catalog(bytes));
  opened.content.catalog = std::move(catalog.datasets);
  opened.content.sums = std::move(catalog.checksums);
  opened.content.format = catalog.format;
  STRIA_RETURN_IF_ERROR(take_parts(catalog.parts, opened.file));
  return opened;
}

Result<FileSums> attach_sums(const OpenFile& file, bool verify, ChecksumIndex index, Catalog& catalog) {
  if (const Status attached = attach_row_sums(index, catalog); !attached.ok()) {
    STRIA_ASSIGN_OR_RETURN(index, without_index(file, verify, attached));
  }
  SumRecords records(catalog, index);
  return FileSums{.index = std::move(index), .records = std::move(records), .rows = {}};
}

}  // namespace stria::file
