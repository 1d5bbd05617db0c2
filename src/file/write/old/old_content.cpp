#include "file/write/old/old_content.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.hpp"
#include "container/formats/formats.hpp"
#include "file/checksums/changes.hpp"
#include "file/define/attribute_values.hpp"
#include "file/define/names.hpp"
#include "file/meet/message_fields.hpp"
#include "file/parts/parts_table.hpp"
#include "file/session/catalog_message.hpp"

namespace stria::file {

namespace {

Status damaged(const std::string& what) {
  return Status(ErrorCode::kCorrupted, what + ": nothing is added to it ('stria verify' says more)");
}

/// Seals what a seal of the first version guards, each range with a sum of its own.
Status seal_anew(storage::File& file, const Seal& seal, int64_t superblock_bytes, OldContent& old) {
  StreamingHash all;
  for (ByteRange range : sealed_ranges(seal, extents_of(old.catalog))) {
    STRIA_RETURN_IF_ERROR(hash_range(file, range, all));
    range.begin = std::max(range.begin, superblock_bytes);
    if (!range.empty()) {
      StreamingHash own;
      STRIA_RETURN_IF_ERROR(hash_range(file, range, own));
      old.sealed.push_back({range, own.digest()});
    }
  }
  return all.digest() == seal.metadata_sum ? Status() : damaged("its metadata don't match their checksum");
}

/// Reads the sums that hold for it: none where another program has changed the metadata since.
Status read_sums(storage::File& file, OldContent& old) {
  const container::Reader& reader = old.growth->reader();
  auto index = read_checksum_index(reader, old.end);
  if (!index.ok()) {
    return index.status().code() == ErrorCode::kCorrupted || index.status().code() == ErrorCode::kFormat
               ? damaged(index.status().message())
               : index.status();
  }
  old.checksums = std::move(*index);
  go_by_summed_paths(old.checksums, old.catalog);
  STRIA_RETURN_IF_ERROR(note_changes(file, reader, old.catalog, old.checksums));
  if (!old.checksums.is_sealed || old.checksums.is_changed) {
    return Status();
  }
  const Seal& seal = old.checksums.seal;
  if (seal.parts.empty()) {
    STRIA_RETURN_IF_ERROR(seal_anew(file, seal, reader.superblock().end, old));
  } else {
    std::copy_if(seal.parts.begin(), seal.parts.end(), std::back_inserter(old.sealed),
                 [](const SealedPart& part) { return !part.range.empty(); });
  }
  if (const auto number = old.catalog.find(kChunkSumsPath)) {
    const container::DatasetSpec& spec = old.catalog[*number].spec;
    std::vector<std::byte> content(static_cast<size_t>(old.catalog[*number].data_bytes()));
    const std::vector<int64_t> start(spec.dims.size(), 0);
    STRIA_RETURN_IF_ERROR(reader.read_hyperslab(spec.path, start, spec.dims, content));
    auto sums = decode_chunk_sums(content);
    if (!sums.ok()) {
      return damaged(sums.status().message());
    }
    old.chunk_sums = std::move(*sums);
  }
  return Status();
}

// Tells whether it is netCDF shows in the first bytes.
Result<std::unique_ptr<container::Growth>> open_growth(storage::File& file) {
  auto growth = container::format_of(Format::kNetcdf, file.path()).open_growth(file);
  return growth.status().code() == ErrorCode::kFormat ? container::default_format().open_growth(file) : std::move(growth);
}

}  // namespace

Result<bool> read_value_range(const container::Reader& reader, const std::string& path, ValueRange& range) {
  for (const auto& [name, end] : {std::pair("minimum", &range.minimum), std::pair("maximum", &range.maximum)}) {
    const auto attribute = reader.attribute(path, name);
    const auto number = attribute.ok() ? number_of(*attribute) : attribute.status();
    if (!number.ok()) {
      const bool none = number.status().code() == ErrorCode::kNotFound ||
                        number.status().code() == ErrorCode::kInvalidArgument ||
                        number.status().code() == ErrorCode::kUnsupported;
      return none ? Result<bool>(false) : number.status();
    }
    *end = *number;
  }
  return true;
}

size_t OldContent::kept_path_count() const {
  const auto is_own = [](const std::string& path) { return path.starts_with(std::string(kOwnGroup) + "/"); };
  const auto first_own = std::find_if(checksums.paths.begin(), checksums.paths.end(), is_own);
  return static_cast<size_t>(first_own - checksums.paths.begin());
}

Result<OldContent> read_old_content(storage::File& file) {
  OldContent old;
  old.exists = true;
  STRIA_ASSIGN_OR_RETURN(old.growth, open_growth(file));
  const container::Reader& reader = old.growth->reader();
  old.end = old.growth->end();
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file.size());
  // The last padding may be missing.
  old.left_behind_bytes = std::max<int64_t>(size_bytes - old.end, 0);
  old.format = reader.format();
  STRIA_ASSIGN_OR_RETURN(old.catalog, read_catalog(reader));
  // The sums of netCDF go on to hold for the records that have some.
  if (!is_netcdf(old.format)) {
    STRIA_RETURN_IF_ERROR(read_sums(file, old));
  }
  for (DatasetEntry& entry : old.catalog.datasets()) {
    ValueRange range;
    const bool is_number = entry.spec.element.kind == container::ElementSpec::Kind::kNumber;
    if (is_number && entry.spec.extendable && entry.is_chunked()) {
      STRIA_ASSIGN_OR_RETURN(entry.value_range, read_value_range(reader, entry.spec.path, range));
    }
    if (entry.value_range) {
      old.value_ranges[entry.spec.path] = range;
    }
  }
  const auto datasets = old.catalog.datasets();
  if (old.catalog.find(kPartsPath) &&
      std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& entry) { return entry.is_virtual; })) {
    return Status(ErrorCode::kUnsupported, "its data lie in several files, which can't grow: 'stria join' makes one of them");
  }
  STRIA_RETURN_IF_ERROR(old.growth->check());
  return old;
}

std::vector<std::byte> encode_old_content(const OldContent& old) {
  FieldWriter fields;
  fields.number(old.end);
  fields.number(old.left_behind_bytes);
  fields.bytes(encode_catalog(old.format, old.catalog, old.checksums, {}));
  return fields.take();
}

Result<OldContent> decode_old_content(std::span<const std::byte> message) {
  FieldReader fields(message);
  OldContent old;
  old.exists = true;
  old.end = fields.number();
  old.left_behind_bytes = fields.number();
  const auto bytes = fields.bytes();
  if (!fields.is_whole()) {
    return Status(ErrorCode::kInternal, "what the file has was garbled on its way");
  }
  STRIA_ASSIGN_OR_RETURN(CatalogMessage catalog, decode_catalog(bytes));
  old.format = catalog.format;
  old.catalog = std::move(catalog.datasets);
  old.checksums = std::move(catalog.checksums);
  return old;
}

}  // namespace stria::file
