#include "run/request.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "access/request/overlap.hpp"
#include "base/checked.hpp"

namespace stria::simulate {

namespace {

using access::Lane;
using access::Stream;
using access::StreamPart;
using bench::Selection;

Datatype type_of(const Selection& selection, int64_t element_bytes) {
  const Datatype element = Datatype::bytes(element_bytes);
  if (!selection.places.empty()) {
    return Datatype::indexed_block(1, selection.places, element).value();
  }
  if (selection.is_box()) {
    std::vector<int64_t> size;
    for (size_t d = 0; d < selection.dims.size(); ++d) {
      size.push_back(selection.along(d));
    }
    return Datatype::subarray(selection.dims, size, selection.start, Order::kC, element).value();
  }
  const Datatype pieces = Datatype::hvector(selection.count[0], 1, selection.stride[0] * element_bytes,
                                            Datatype::bytes(selection.block[0] * element_bytes))
                              .value();
  const int64_t begin[] = {selection.start[0] * element_bytes};
  return Datatype::hindexed_block(1, begin, pieces).value();
}

int group_of(std::vector<int64_t>& sizes, int64_t bytes) {
  const auto found = std::find(sizes.begin(), sizes.end(), bytes);
  if (found == sizes.end()) {
    sizes.push_back(bytes);
    return static_cast<int>(sizes.size()) - 1;
  }
  return static_cast<int>(found - sizes.begin());
}

}  // namespace

FilePlaces place_arrays(const bench::Workload& workload, int64_t header_bytes, int64_t alignment_bytes) {
  FilePlaces places;
  places.end_bytes = header_bytes;
  for (const bench::Array& array : workload.arrays) {
    places.arrays.push_back(align_up(places.end_bytes, alignment_bytes));
    places.end_bytes = places.arrays.back() + array.bytes();
  }
  return places;
}

std::vector<Lane> lanes_of(const bench::Workload& workload, const FilePlaces& places, size_t first, size_t last) {
  std::map<size_t, Lane> by_array;
  std::vector<int64_t> sizes;
  int next = 0;
  for (size_t call = first; call < std::min(last, workload.calls.size()); ++call) {
    for (const bench::Part& part : workload.calls[call].parts) {
      const bench::Array& array = workload.arrays[part.array];
      Lane& lane = by_array[part.array];
      const int64_t begin = places.arrays[part.array];
      lane.hull = {begin, begin + array.bytes()};
      Stream stream{.stream_id = next++, .file_type = type_of(part.file, array.element_bytes), .displacement = begin};
      stream.granule_bytes = array.element_bytes;
      if (stream.size() > 0) {
        lane.streams.push_back(std::move(stream));
      }
    }
  }
  std::vector<Lane> lanes;
  for (auto& [array, lane] : by_array) {
    lane.group = group_of(sizes, lane.hull.size());
    std::sort(lane.streams.begin(), lane.streams.end(),
              [](const Stream& a, const Stream& b) { return access::hull_of(a).begin < access::hull_of(b).begin; });
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

ModelledMemory::ModelledMemory(Clock& clock, const Nodes& nodes, std::span<const Lane> lanes, const Options& options)
    : clock_(clock), nodes_(nodes), lanes_(lanes), options_(options) {}

void ModelledMemory::charge(std::span<const StreamPart> parts, Phase phase) {
  const double piece_s = phase == Phase::kPack ? nodes_.write_piece_s : nodes_.read_piece_s;
  double bytes = 0, pieces = 0;
  for (const StreamPart& part : parts) {
    const auto part_bytes = static_cast<double>(part.end - part.begin);
    bytes += part_bytes;
    pieces += piece_s > 0 ? part_bytes * pieces_a_byte(part.stream_id) : 0;
  }
  const double begin_s = clock_.free_at();
  clock_.charge(bytes / nodes_.pack_rate + static_cast<double>(parts.size()) * nodes_.piece_s + pieces * piece_s);
  clock_.note(static_cast<trace::BuiltIn>(trace::kind(phase).id), begin_s, static_cast<int64_t>(bytes));
}

// Those of a stream are taken as equal.
double ModelledMemory::pieces_a_byte(int stream_id) {
  if (pieces_a_byte_.empty()) {
    for (const Lane& lane : lanes_) {
      for (const Stream& stream : lane.streams) {
        pieces_a_byte_[stream.stream_id] =
            static_cast<double>(stream.file_type.piece_count()) / static_cast<double>(stream.file_type.size());
      }
    }
  }
  return pieces_a_byte_[stream_id];
}

void ModelledMemory::pack(std::span<const StreamPart> parts) {
  charge(parts, Phase::kPack);
  for (const StreamPart& part : options_.carries_data ? parts : std::span<const StreamPart>()) {
    const std::vector<std::byte>& bytes = stream(part.stream_id);
    std::copy(bytes.begin() + part.begin, bytes.begin() + part.end, part.packed);
  }
}

void ModelledMemory::unpack(std::span<const StreamPart> parts) {
  charge(parts, Phase::kUnpack);
  for (const StreamPart& part : options_.carries_data ? parts : std::span<const StreamPart>()) {
    const std::vector<std::byte>& bytes = stream(part.stream_id);
    for (int64_t i = part.begin; i < part.end; ++i) {
      wrong_bytes_ += bytes[static_cast<size_t>(i)] != part.packed[i - part.begin] ? 1 : 0;
    }
  }
}

Status ModelledMemory::check(storage::Driver& driver, const std::string& path, std::span<const Lane> lanes) {
  STRIA_ASSIGN_OR_RETURN(const auto file, driver.open(path, {}));
  int64_t wrong_bytes = 0;
  Status status;
  const auto look_at = [&](ByteRange piece, int64_t) {
    std::vector<std::byte> bytes(static_cast<size_t>(piece.size()));
    const storage::ReadSegment segment{piece.begin, bytes.data(), piece.size()};
    const auto read = file->read(std::span(&segment, 1));
    status.update(Status(read.status()));
    for (int64_t i = 0; i < piece.size(); ++i) {
      wrong_bytes += !read.ok() || i >= *read || bytes[static_cast<size_t>(i)] != value_at(piece.begin + i) ? 1 : 0;
    }
  };
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      access::for_each_piece(access::Overlap{&stream, 0, stream.size()}, look_at);
    }
  }
  STRIA_RETURN_IF_ERROR(status);
  return wrong_bytes == 0 ? Status()
                          : Status(ErrorCode::kCorrupted, std::to_string(wrong_bytes) + " bytes of '" + path + "' are wrong");
}

const std::vector<std::byte>& ModelledMemory::stream(int stream_id) {
  auto [found, is_new] = streams_.try_emplace(stream_id);
  if (is_new) {
    found->second = stream_bytes(stream_id);
  }
  return found->second;
}

std::vector<std::byte> ModelledMemory::stream_bytes(int stream_id) const {
  for (const Lane& lane : lanes_) {
    for (const Stream& stream : lane.streams) {
      if (stream.stream_id != stream_id) {
        continue;
      }
      std::vector<std::byte> bytes(static_cast<size_t>(stream.size()));
      access::for_each_piece(access::Overlap{&stream, 0, stream.size()}, [&](ByteRange piece, int64_t packed) {
        for (int64_t i = 0; i < piece.size(); ++i) {
          bytes[static_cast<size_t>(packed + i)] = value_at(piece.begin + i);
        }
      });
      return bytes;
    }
  }
  return {};
}

}  // namespace stria::simulate
