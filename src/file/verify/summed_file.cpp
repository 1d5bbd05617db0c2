#include "file/verify/summed_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "datatype/cursor.hpp"
#include "file/verify/raw_data.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostHashedBytes = 4 << 20;  // at once
constexpr size_t kMostSegments = 16 << 10;

}  // namespace

Status cut_short(const SummedFile& from, const char* what) {
  return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends before its {}: the file is cut short", from.path, what));
}

std::optional<int> dataset_of(const SummedFile& from, const SlabSum& slab) {
  return from.catalog.find(from.sums.paths[static_cast<size_t>(slab.dataset)]);
}

Status read_raw(const SummedFile& from, const DatasetEntry& entry, ByteRange range, std::byte* out) {
  std::vector<storage::ReadSegment> segments;
  while (!range.empty()) {
    const int64_t begin = range.begin;
    segments.clear();
    while (!range.empty() && segments.size() < kMostSegments) {
      const ByteRange piece = entry.in_file(range);
      segments.push_back({piece.begin, out, piece.size()});
      out += piece.size();
      range.begin += piece.size();
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, from.file.read(segments));
    if (read_bytes < range.begin - begin) {
      return cut_short(from, "data");
    }
  }
  return Status();
}

Status hash_into(const SummedFile& from, const Datatype& region, int64_t displacement, StreamingHash& hash,
                 const DatasetEntry* of) {
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(kMostHashedBytes, std::max<int64_t>(region.size(), 1))));
  Cursor cursor(region, displacement);
  std::vector<storage::ReadSegment> segments;
  while (!cursor.done()) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(from.signal));
    segments.clear();
    int64_t filled = 0;
    while (!cursor.done() && filled < static_cast<int64_t>(buffer.size()) && segments.size() < kMostSegments) {
      const ByteRange piece = of == nullptr ? cursor.piece() : of->in_file(cursor.piece());
      const int64_t bytes = std::min(piece.size(), static_cast<int64_t>(buffer.size()) - filled);
      segments.push_back({piece.begin, buffer.data() + filled, bytes});
      filled += bytes;
      cursor.advance(bytes);
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, from.file.read(segments));
    if (read_bytes < filled) {
      return cut_short(from, "data");
    }
    hash.update({buffer.data(), static_cast<size_t>(filled)});
  }
  return Status();
}

Result<uint64_t> hash_range(const SummedFile& from, ByteRange range) {
  StreamingHash hash;
  STRIA_RETURN_IF_ERROR(hash_into(from, Datatype::bytes(range.size()), range.begin, hash));
  return std::max<uint64_t>(hash.digest(), 1);
}

Result<std::optional<ChunkSums>> read_chunk_sums(const SummedFile& from, ByteRange superblock) {
  const std::optional<ChunkSums> none;
  const auto number = from.catalog.find(kChunkSumsPath);
  if (!number || !from.sums.is_sealed || from.catalog[*number].data_offset < 0) {
    return none;
  }
  STRIA_ASSIGN_OR_RETURN(const uint64_t now, hash_range(from, superblock));
  if (from.sums.is_changed || now != from.sums.seal.superblock_sum) {
    return none;
  }
  STRIA_RETURN_IF_ERROR(from.catalog[*number].problem);
  std::vector<std::byte> content(static_cast<size_t>(from.catalog[*number].data_bytes()));
  std::vector<Damage> damages;
  STRIA_RETURN_IF_ERROR(RawData(from).read(*number, {0, static_cast<int64_t>(content.size())}, content.data(), damages));
  STRIA_ASSIGN_OR_RETURN(ChunkSums sums, decode_chunk_sums(content));
  return std::optional<ChunkSums>(std::move(sums));
}

}  // namespace stria::file
