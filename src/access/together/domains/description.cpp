#include "access/together/domains/description.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "datatype/node.hpp"

namespace stria::access {

namespace {

// A displacement and a datatype's offsets add up without overflow below this.
constexpr int64_t kMaxDisplacement = (int64_t{1} << 62) - 1;

void put_number(std::vector<std::byte>& message, int64_t value) {
  size_t at = message.size();
  message.resize(at + sizeof value);
  std::memcpy(message.data() + at, &value, sizeof value);
}

class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> message) : message_(message) {}

  /// Reads a number within [0, maximum].
  Result<int64_t> number(int64_t maximum) { return number(0, maximum); }
  Result<int64_t> number(int64_t minimum, int64_t maximum) {
    int64_t value = 0;
    if (message_.size() < sizeof value) {
      return Status(ErrorCode::kFormat, "file description is cut short");
    }
    std::memcpy(&value, message_.data(), sizeof value);
    message_ = message_.subspan(sizeof value);
    if (value < minimum || value > maximum) {
      return Status(ErrorCode::kFormat, "file description holds an impossible number");
    }
    return value;
  }

  Result<Datatype> datatype() {
    size_t consumed_bytes = 0;
    auto type = Datatype::deserialize(message_, &consumed_bytes);
    if (type.ok()) {
      message_ = message_.subspan(consumed_bytes);
    }
    return type;
  }

  int64_t left_bytes() const { return static_cast<int64_t>(message_.size()); }

 private:
  std::span<const std::byte> message_;
};

}  // namespace

void encode_description(std::span<const Lane> lanes, std::span<const int> chosen, std::vector<std::byte>& message) {
  STRIA_ASSERT(std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) == chosen.end() &&
                   (chosen.empty() || (chosen.front() >= 0 && static_cast<size_t>(chosen.back()) < lanes.size())),
               chosen.size(), lanes.size());
  put_number(message, static_cast<int64_t>(chosen.size()));
  std::vector<Datatype> sent;
  for (int lane : chosen) {
    const auto& streams = lanes[static_cast<size_t>(lane)].streams;
    put_number(message, lane);
    put_number(message, static_cast<int64_t>(streams.size()));
    for (const Stream& stream : streams) {
      put_number(message, stream.displacement);
      put_number(message, stream.skip_bytes);
      put_number(message, stream.size());
      // Variables of a block share one file type, so the message refers to the last one sent
      // instead of repeating it.
      bool repeated = !sent.empty() && sent.back() == stream.file_type;
      put_number(message, repeated ? 1 : 0);
      if (!repeated) {
        stream.file_type.serialize(message);
        sent.assign(1, stream.file_type);
      }
    }
  }
}

Result<std::vector<LaneDescription>> decode_description(std::span<const std::byte> message, int lane_count) {
  MessageReader reader(message);
  std::vector<LaneDescription> description;
  STRIA_ASSIGN_OR_RETURN(int64_t chosen_count, reader.number(lane_count));
  std::optional<Datatype> last;
  for (int64_t i = 0; i < chosen_count; ++i) {
    STRIA_ASSIGN_OR_RETURN(int64_t number, reader.number(lane_count - 1));
    if (!description.empty() && number <= description.back().lane) {
      return Status(ErrorCode::kFormat, "file description does not name its lanes in order");
    }
    STRIA_ASSIGN_OR_RETURN(int64_t stream_count, reader.number(reader.left_bytes()));
    std::vector<Stream> streams;
    for (int64_t k = 0; k < stream_count; ++k) {
      Stream stream;
      STRIA_ASSIGN_OR_RETURN(stream.displacement, reader.number(-kMaxDisplacement, kMaxDisplacement));
      STRIA_ASSIGN_OR_RETURN(stream.skip_bytes, reader.number(INT64_MAX));
      STRIA_ASSIGN_OR_RETURN(stream.bytes, reader.number(INT64_MAX));
      STRIA_ASSIGN_OR_RETURN(int64_t repeated, reader.number(1));
      if (repeated == 0) {
        STRIA_ASSIGN_OR_RETURN(last, reader.datatype());
      }
      if (!last || !last->is_sorted()) {
        return Status(ErrorCode::kFormat, "file description is not in file order");
      }
      stream.file_type = *last;
      if (stream.skip_bytes > stream.file_type.size() || stream.bytes > stream.file_type.size() - stream.skip_bytes) {
        return Status(ErrorCode::kFormat, "file description promises more bytes than its datatype has");
      }
      if (hull_of(stream).begin < (streams.empty() ? 0 : hull_of(streams.back()).begin)) {
        return Status(ErrorCode::kFormat, "file description does not name its streams in order");
      }
      streams.push_back(std::move(stream));
    }
    description.emplace_back(static_cast<int>(number), std::move(streams));
  }
  if (reader.left_bytes() != 0) {
    return Status(ErrorCode::kFormat, "file description is followed by something else");
  }
  return description;
}

LaneDescription::LaneDescription(int number, std::vector<Stream> all) : lane(number), streams(std::move(all)) {
  STRIA_ASSERT(std::is_sorted(streams.begin(), streams.end(),
                              [](const Stream& a, const Stream& b) { return hull_of(a).begin < hull_of(b).begin; }));
  int64_t highest = INT64_MIN;
  for (const Stream& stream : streams) {
    hulls.push_back(hull_of(stream));
    highest = std::max(highest, hulls.back().end);
    reach.push_back(highest);
  }
}

int64_t list_entries(const LaneDescription& lane) {
  int64_t entries = 0;
  for (const Stream& stream : lane.streams) {
    entries += stream.file_type.node().list_entries;
  }
  return entries;
}

void overlaps(const LaneDescription& lane, ByteRange window, std::vector<Overlap>& out) {
  auto first = std::upper_bound(lane.reach.begin(), lane.reach.end(), window.begin) - lane.reach.begin();
  for (auto k = static_cast<size_t>(first); k < lane.streams.size(); ++k) {
    const Stream& stream = lane.streams[k];
    const ByteRange& hull = lane.hulls[k];
    if (hull.begin >= window.end) {
      return;
    }
    if (hull.end <= window.begin) {
      continue;
    }
    ByteRange part = cut(stream.file_type, stream.displacement, window);
    part = intersect(part, {stream.skip_bytes, stream.skip_bytes + stream.size()});
    if (!part.empty()) {
      out.push_back({&stream, part.begin - stream.skip_bytes, part.end - stream.skip_bytes});
    }
  }
}

int64_t overlaps_in(std::span<const LaneDescription> description, std::span<const Window> windows,
                    std::vector<std::pair<size_t, Overlap>>& parts) {
  STRIA_ASSERT(std::adjacent_find(description.begin(), description.end(),
                                  [](const auto& a, const auto& b) { return a.lane >= b.lane; }) == description.end());
  int64_t bytes = 0;
  std::vector<Overlap> found;
  for (size_t w = 0; w < windows.size(); ++w) {
    const auto lane = std::lower_bound(description.begin(), description.end(), windows[w].lane,
                                       [](const LaneDescription& entry, int number) { return entry.lane < number; });
    if (lane == description.end() || lane->lane != windows[w].lane) {
      continue;
    }
    found.clear();
    overlaps(*lane, windows[w].file, found);
    for (const Overlap& overlap : found) {
      parts.emplace_back(w, overlap);
      bytes += overlap.end - overlap.begin;
    }
  }
  return bytes;
}

}  // namespace stria::access
