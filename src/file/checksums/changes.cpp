#include "file/checksums/changes.hpp"

#include <algorithm>
#include <utility>

namespace stria::file {

namespace {

constexpr int64_t kComparedAtOnceBytes = 1 << 20;

// Tells whether the metadata are other ones than when the file was sealed.
Result<bool> has_other_metadata(storage::File& file, const Catalog& catalog, const Seal& seal) {
  if (seal.parts.empty()) {
    StreamingHash hash;
    for (const ByteRange& range : sealed_ranges(seal, extents_of(catalog))) {
      STRIA_RETURN_IF_ERROR(hash_range(file, range, hash));
    }
    return hash.digest() != seal.metadata_sum;
  }
  for (const SealedPart& part : seal.parts) {
    StreamingHash hash;
    STRIA_RETURN_IF_ERROR(hash_range(file, part.range, hash));
    if (!part.range.empty() && hash.digest() != part.sum) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<ByteRange> extents_of(const Catalog& catalog) {
  std::vector<ByteRange> extents;
  for (const DatasetEntry& entry : catalog.datasets()) {
    if (entry.data_offset >= 0) {
      extents.push_back(entry.extent());
    }
  }
  return extents;
}

Status hash_range(storage::File& file, ByteRange range, StreamingHash& hash) {
  std::vector<std::byte> bytes(static_cast<size_t>(std::clamp<int64_t>(range.size(), 0, kComparedAtOnceBytes)));
  while (!range.empty()) {
    const storage::ReadSegment segment{range.begin, bytes.data(), std::min(range.size(), kComparedAtOnceBytes)};
    STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, file.read(std::span(&segment, 1)));
    if (read_bytes < segment.bytes) {
      return Status(ErrorCode::kCorrupted, file.path() + ": the file is cut short");
    }
    hash.update(std::span(bytes).first(static_cast<size_t>(read_bytes)));
    range.begin += read_bytes;
  }
  return Status();
}

std::vector<RowsWithoutSums> rows_without_sums(const ChecksumIndex& index, const Catalog& catalog) {
  std::vector<int64_t> ends(index.paths.size(), 0);
  for (const SlabSum& slab : index.slabs) {
    int64_t& end = ends[static_cast<size_t>(slab.dataset)];
    end = std::max(end, slab.displacement + slab.region.true_upper_bound());
  }
  std::vector<RowsWithoutSums> found;
  for (size_t i = 0; i < index.paths.size(); ++i) {
    const auto number = catalog.find(index.paths[i]);
    if (!number) {
      continue;
    }
    const DatasetEntry& entry = catalog[*number];
    const int64_t row_bytes = entry.row_bytes();
    if (!entry.spec.extendable || !entry.is_chunked() || entry.is_lossy() || row_bytes == 0) {
      continue;
    }
    const int64_t rows = (ends[i] + row_bytes - 1) / row_bytes;
    if (rows < entry.row_count()) {
      found.push_back({.dataset = *number, .listed = static_cast<int>(i), .first_row = rows});
    }
  }
  return found;
}

Status note_changes(storage::File& file, const container::Reader& reader, const Catalog& catalog, ChecksumIndex& index) {
  if (!index.is_sealed || is_netcdf(reader.format())) {
    return Status();
  }
  StreamingHash superblock;
  STRIA_RETURN_IF_ERROR(hash_range(file, reader.superblock(), superblock));
  index.is_changed = std::max<uint64_t>(superblock.digest(), 1) != index.seal.superblock_sum;
  if (!index.is_changed && index.seal_offset >= 0 && !rows_without_sums(index, catalog).empty()) {
    STRIA_ASSIGN_OR_RETURN(index.is_changed, has_other_metadata(file, catalog, index.seal));
  }
  return Status();
}

}  // namespace stria::file
