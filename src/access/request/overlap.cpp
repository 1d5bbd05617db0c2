#include "access/request/overlap.hpp"

#include <algorithm>
#include <vector>

#include "datatype/pack/pack_kernels.hpp"

namespace stria::access {

ByteRange hull_of(const Stream& stream) {
  ByteRange hull{stream.displacement + stream.file_type.true_lower_bound(),
                 stream.displacement + stream.file_type.true_upper_bound()};
  if (stream.size() == stream.file_type.size()) {
    return hull;
  }
  if (stream.size() == 0) {
    return {hull.begin, hull.begin};
  }
  Cursor cursor(stream.file_type, stream.displacement);
  cursor.seek(stream.skip_bytes);
  hull.begin = cursor.piece().begin;
  cursor.seek(stream.skip_bytes + stream.size() - 1);
  hull.end = cursor.piece().begin + 1;
  return hull;
}

ByteRange hull_of(const Lane& lane) {
  ByteRange hull{INT64_MAX, 0};
  for (const Stream& stream : lane.streams) {
    ByteRange one = hull_of(stream);
    if (!one.empty()) {
      hull = {std::min(hull.begin, one.begin), std::max(hull.end, one.end)};
    }
  }
  return hull;
}

ByteRange hull_of(const Overlap& overlap) {
  Stream part = *overlap.stream;
  part.skip_bytes += overlap.begin;
  part.bytes = overlap.end - overlap.begin;
  return hull_of(part);
}

bool has_pieces_below(const Stream& stream, int64_t bytes) {
  return stream.file_type.size() / std::max<int64_t>(stream.file_type.piece_count(), 1) < bytes;
}

int64_t position_of(const Stream& stream, int64_t file_offset) {
  int64_t position = cut(stream.file_type, stream.displacement, {file_offset, file_offset}).end;
  return std::clamp<int64_t>(position - stream.skip_bytes, 0, stream.size());
}

Result<Stream> part_of(const Stream& stream, int64_t begin, int64_t end) {
  size_t pieces = 0;
  for_each_row({&stream, begin, end}, [&](const PieceRow& row, int64_t) { pieces += static_cast<size_t>(row.count); });
  std::vector<int64_t> places;
  std::vector<int64_t> lengths;
  places.reserve(pieces);
  lengths.reserve(pieces);
  for_each_row({&stream, begin, end}, [&](const PieceRow& row, int64_t) {
    for (int64_t i = 0; i < row.count; ++i) {
      places.push_back(row.begin + i * row.stride);
      lengths.push_back(row.piece_bytes);
    }
  });
  Stream part;
  part.stream_id = stream.stream_id;
  STRIA_ASSIGN_OR_RETURN(part.file_type, Datatype::hindexed(lengths, places, Datatype::bytes(1)));
  return part;
}

void gather_pieces(const Overlap& overlap, const std::byte* window, int64_t window_begin, std::byte* packed) {
  for_each_row(overlap, [&](const PieceRow& row, int64_t at) {
    pack::gather_pieces(window + (row.begin - window_begin), row.stride, row.piece_bytes, row.count, packed + at);
  });
}

void scatter_pieces(const Overlap& overlap, const std::byte* packed, std::byte* window, int64_t window_begin) {
  for_each_row(overlap, [&](const PieceRow& row, int64_t at) {
    pack::scatter_pieces(window + (row.begin - window_begin), row.stride, row.piece_bytes, row.count, packed + at);
  });
}

}  // namespace stria::access
