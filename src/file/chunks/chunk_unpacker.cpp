#include "file/chunks/chunk_unpacker.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "datatype/cursor.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "file/chunks/chunk_batch.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostPickedBytes = 256 << 10;  // They stay in a cache.

/// One operation, whose gets stay.
class ChunkUnpacker {
 public:
  explicit ChunkUnpacker(const ChunkGets& gets) : gets_(gets) {}

  Status run();

 private:
  using Group = std::vector<int>;  // transfers of the same rows of datasets that are cut alike

  std::vector<Group> groups() const;
  Status run_group(std::span<const int> group);
  std::span<std::byte> target_of(std::span<const int> group, size_t i, int64_t position);
  Result<int64_t> move_whole_chunk(std::span<const int> group, ByteRange piece, int64_t position);
  Result<int64_t> move_row(int number, const PieceRow& row, int64_t position);
  Result<int64_t> move_run(std::span<const int> group, ByteRange piece, int64_t position);

  const Transfer& transfer(int number) const { return gets_.transfers[static_cast<size_t>(number)]; }

  const ChunkGets& gets_;
  int64_t chunk_bytes_ = 0;  // the bytes of the datasets of a group
  ChunkBatch batch_;
  std::vector<access::StreamPart> parts_;
  std::vector<std::byte> picked_;  // the bytes of a run with gaps
};

Status ChunkUnpacker::run() {
  for (const Group& group : groups()) {
    chunk_bytes_ = container::ChunkGrid(gets_.source.catalog[transfer(group[0]).dataset].spec).chunk_bytes();
    const size_t most = ChunkBatch::most(chunk_bytes_);
    for (size_t first = 0; first < group.size(); first += most) {
      STRIA_RETURN_IF_ERROR(run_group(std::span(group).subspan(first, std::min(most, group.size() - first))));
    }
  }
  return Status();
}

// The groups come in the order of their first transfers.
std::vector<ChunkUnpacker::Group> ChunkUnpacker::groups() const {
  using Key = std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t, int64_t, int64_t>;
  std::map<Key, size_t> known;
  std::vector<Group> groups;
  for (int i = 0; i < static_cast<int>(gets_.transfers.size()); ++i) {
    const Transfer& each = transfer(i);
    const container::DatasetSpec& spec = gets_.source.catalog[each.dataset].spec;
    const bool in_one_piece = each.whole_rows && each.region.piece_count() == 1;
    const auto [place, fresh] =
        in_one_piece
            ? known.try_emplace(Key(spec.dims, spec.chunking->dims, spec.element.bytes, each.first_row, each.row_count),
                                groups.size())
            : std::pair(known.end(), true);
    if (fresh) {
      groups.push_back({i});
    } else {
      groups[place->second].push_back(i);
    }
  }
  return groups;
}

Status ChunkUnpacker::run_group(std::span<const int> group) {
  const Transfer& first = transfer(group[0]);
  for (Cursor cursor(first.region, first.displacement); !cursor.done();) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(gets_.signal));
    STRIA_ASSIGN_OR_RETURN(int64_t bytes, move_whole_chunk(group, cursor.piece(), cursor.stream_position()));
    if (bytes == 0) {
      const PieceRow row = cursor.row();
      STRIA_ASSIGN_OR_RETURN(bytes, group.size() == 1 && row.count > 1
                                        ? move_row(group[0], row, cursor.stream_position())
                                        : move_run(group, cursor.piece(), cursor.stream_position()));
    }
    cursor.advance(bytes);
  }
  return Status();
}

// Returns where the next chunk of a transfer goes: to memory that is to have it as it is, or into
// the batch.
std::span<std::byte> ChunkUnpacker::target_of(std::span<const int> group, size_t i, int64_t position) {
  std::byte* const straight = gets_.set.straight_target(group[i]);
  if (straight != nullptr) {
    return {straight + position, static_cast<size_t>(chunk_bytes_)};
  }
  batch_.prepare(group.size(), chunk_bytes_);
  return batch_.chunk(i);
}

// Moves the next chunk of all datasets; 0 where it isn't whole in the piece.
Result<int64_t> ChunkUnpacker::move_whole_chunk(std::span<const int> group, ByteRange piece, int64_t position) {
  parts_.clear();
  for (size_t i = 0; i < group.size() && chunk_bytes_ <= piece.size(); ++i) {
    const std::span<std::byte> target = target_of(group, i, position);
    PhaseTimer timer(gets_.times, Phase::kRead);
    STRIA_ASSIGN_OR_RETURN(const bool whole,
                           gets_.chunks.whole_into(gets_.source, transfer(group[i]).dataset, piece.begin, target));
    if (!whole) {
      break;  // None is, because they are cut alike.
    }
    parts_.push_back({.stream_id = group[i], .begin = position, .end = position + chunk_bytes_, .packed = target.data()});
  }
  if (parts_.empty()) {
    return int64_t{0};
  }
  const auto packed = std::partition(parts_.begin(), parts_.end(), [&](const access::StreamPart& part) {
    return gets_.set.straight_target(part.stream_id) != nullptr;
  });
  for (auto part = parts_.begin(); part != packed; ++part) {
    gets_.set.passed_straight(part->stream_id, part->begin, part->end);
  }
  PhaseTimer timer(gets_.times, Phase::kUnpack);
  gets_.set.unpack({packed, parts_.end()});
  return chunk_bytes_;
}

// Says what pieces at equal distances are in a chunk.
struct PiecesInChunk {
  int64_t step_bytes = 0;
  int64_t count = 1;
};

PiecesInChunk pieces_in(const ChunkReader::InChunk& place, const PieceRow& row, int64_t row_bytes) {
  if (row.piece_bytes > place.run_bytes) {
    return {};
  }
  if (row.stride > 0 && row.stride + row.piece_bytes <= place.run_bytes) {
    return {row.stride, std::min(row.count, (place.run_bytes - row.piece_bytes) / row.stride + 1)};
  }
  if (row.stride > 0 && row.stride % row_bytes == 0) {
    const int64_t rows = row.stride / row_bytes;
    return {rows * place.row_step_bytes, std::min(row.count, (place.row_count - 1) / rows + 1)};
  }
  return {};
}

// Moves the next pieces of one dataset that lie in one run of a chunk, or in one column of it,
// picked out together; or the beginning of one that the run cuts.
Result<int64_t> ChunkUnpacker::move_row(int number, const PieceRow& row, int64_t position) {
  ChunkReader::InChunk place;
  const int dataset = transfer(number).dataset;
  {
    PhaseTimer timer(gets_.times, Phase::kRead);
    STRIA_ASSIGN_OR_RETURN(place, gets_.chunks.place_in_chunk(gets_.source, dataset, row.begin));
  }
  PhaseTimer timer(gets_.times, Phase::kUnpack);
  PiecesInChunk pieces = pieces_in(place, row, gets_.source.catalog[dataset].row_bytes());
  pieces.count = std::min(pieces.count, std::max<int64_t>(kMostPickedBytes / row.piece_bytes, 1));
  access::StreamPart part{.stream_id = number,
                          .begin = position,
                          .end = position + std::min(row.piece_bytes, place.run_bytes),
                          .packed = place.data.data()};
  if (pieces.count > 1) {
    picked_.resize(static_cast<size_t>(pieces.count * row.piece_bytes));
    pack::gather_pieces(place.data.data(), pieces.step_bytes, row.piece_bytes, pieces.count, picked_.data());
    part.end = position + pieces.count * row.piece_bytes;
    part.packed = picked_.data();
  }
  gets_.set.unpack(std::span(&part, 1));
  return part.end - position;
}

// Moves the next run: runs of datasets that are cut alike are as long.
Result<int64_t> ChunkUnpacker::move_run(std::span<const int> group, ByteRange piece, int64_t position) {
  int64_t bytes = 0;
  for (const int number : group) {
    std::span<std::byte> data;
    {
      PhaseTimer timer(gets_.times, Phase::kRead);
      STRIA_ASSIGN_OR_RETURN(data, gets_.chunks.from(gets_.source, transfer(number).dataset, piece.begin));
    }
    bytes = std::min(piece.size(), static_cast<int64_t>(data.size()));
    PhaseTimer timer(gets_.times, Phase::kUnpack);
    const access::StreamPart part{.stream_id = number, .begin = position, .end = position + bytes, .packed = data.data()};
    gets_.set.unpack(std::span(&part, 1));
  }
  return bytes;
}

}  // namespace

Status unpack_chunks(const ChunkGets& gets) {
  return ChunkUnpacker(gets).run();
}

}  // namespace stria::file
