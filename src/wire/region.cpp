#include "wire/region.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace stria::wire {

namespace {

constexpr int64_t kOffsetLimit = int64_t{1} << 62;
// Finding out how many pieces of a row lie in a stripe takes two divisions.
constexpr int64_t kLeastRow = 8;

}  // namespace

void encode_range(Writer& writer, ByteRange range) {
  writer.fixed(uint8_t{1});
  writer.natural(static_cast<uint64_t>(range.begin));
  writer.natural(static_cast<uint64_t>(range.size()));
}

void encode_list(Writer& writer, std::span<const ByteRange> ranges) {
  STRIA_CHECK(ranges.size() <= kMaxListRanges, ranges.size());
  writer.fixed(uint8_t{2});
  writer.natural(ranges.size());
  int64_t previous_end = 0;
  for (const ByteRange& range : ranges) {
    writer.integer(range.begin - previous_end);
    writer.natural(static_cast<uint64_t>(range.size()));
    previous_end = range.end;
  }
}

void encode_type(Writer& writer, const Datatype& type, int64_t displacement, ByteRange window) {
  STRIA_CHECK(window.size() <= kMaxWindowBytes, window.size());
  writer.fixed(uint8_t{3});
  writer.integer(displacement);
  writer.natural(static_cast<uint64_t>(window.begin));
  writer.natural(static_cast<uint64_t>(window.size()));
  std::vector<std::byte> description;
  type.serialize(description);
  writer.bytes(description);
}

ByteRange decode_list_range(Reader& reader, int64_t& previous_end) {
  const int64_t distance = reader.integer();
  const int64_t bytes = reader.offset();
  // Both numbers stay below 2^62 in size, so that neither sum overflows.
  const bool near = distance < kOffsetLimit && distance > -kOffsetLimit;
  const int64_t begin = near ? previous_end + distance : -1;
  if (begin < 0 || begin >= kOffsetLimit || bytes > kOffsetLimit - begin) {
    reader.fail();
    return {};
  }
  previous_end = begin + bytes;
  return {begin, previous_end};
}

Result<Region> Region::decode(Reader& reader) {
  Region region;
  const auto shape = reader.fixed<uint8_t>();
  region.shape_ = static_cast<Shape>(shape);
  Status status;
  if (region.shape_ == Shape::kRange) {
    region.range_.begin = reader.offset();
    const int64_t bytes = reader.offset();
    region.range_.end = region.range_.begin + bytes;
    status = region.range_.end < kOffsetLimit ? reader.finish("range") : Status(ErrorCode::kFormat, "a range ends beyond 2^62");
  } else if (region.shape_ == Shape::kList) {
    status = region.decode_list(reader);
  } else if (region.shape_ == Shape::kType) {
    status = region.decode_type(reader);
  } else {
    status = Status(ErrorCode::kFormat, "a region of the unknown kind " + std::to_string(shape));
  }
  STRIA_RETURN_IF_ERROR(status);
  return region;
}

Status Region::decode_list(Reader& reader) {
  count_ = static_cast<int64_t>(reader.natural_up_to(kMaxListRanges));
  list_ = reader.rest();
  Reader ranges(list_);
  int64_t previous_end = 0;
  for (int64_t i = 0; i < count_ && !ranges.failed(); ++i) {
    decode_list_range(ranges, previous_end);
  }
  STRIA_RETURN_IF_ERROR(reader.finish("list"));
  return ranges.finish("list");
}

Status Region::decode_type(Reader& reader) {
  displacement_ = reader.integer();
  range_.begin = reader.offset();
  range_.end = range_.begin + static_cast<int64_t>(reader.natural_up_to(kMaxWindowBytes));
  const auto description = reader.rest();
  STRIA_RETURN_IF_ERROR(reader.finish("datatype"));
  size_t used = 0;
  STRIA_ASSIGN_OR_RETURN(type_, Datatype::deserialize(description, &used));
  if (used != description.size()) {
    return Status(ErrorCode::kFormat, "bytes are left behind a datatype");
  }
  const bool displaced_well = displacement_ < kOffsetLimit && displacement_ > -kOffsetLimit;
  if (!displaced_well || range_.end > type_.size() || displacement_ + type_.true_lower_bound() < 0 ||
      displacement_ + type_.true_upper_bound() >= kOffsetLimit) {
    return Status(ErrorCode::kFormat, "a datatype's bytes lie outside every file");
  }
  return {};
}

SlotWalk::SlotWalk(const Region& region, const Layout& layout, int64_t slot)
    : region_(region), layout_(layout), slot_(slot), list_(region.list_) {
  if (region.shape_ == Region::Shape::kType) {
    cursor_.emplace(region.type_, region.displacement_);
    cursor_->seek(region.range_.begin);
  }
}

bool SlotWalk::next_of_file(ByteRange& range) {
  switch (region_.shape_) {
    case Region::Shape::kRange:
      range = region_.range_;
      return given_++ == 0;
    case Region::Shape::kList:
      if (given_++ >= region_.count_) {
        return false;
      }
      range = decode_list_range(list_, previous_end_);
      return true;
    case Region::Shape::kType:
      break;
  }
  if (cursor_->stream_position() >= region_.range_.end || cursor_->done()) {
    return false;
  }
  range = cursor_->piece();
  range.end = std::min(range.end, range.begin + region_.range_.end - cursor_->stream_position());
  cursor_->advance(range.size());
  return true;
}

// Most pieces lie in the same stripe as the one before, and need no division.
ByteRange SlotWalk::own_part(ByteRange range) {
  if (range.begin >= stripe_.begin && range.end <= stripe_.end) {
    return {range.begin + stripe_shift_, range.end + stripe_shift_};
  }
  const ByteRange own = layout_.own(slot_, range);
  if (!own.empty()) {
    const int64_t last = align_down(own.end - 1, layout_.stripe_bytes);
    stripe_.begin = layout_.place_of(slot_, last);
    stripe_.end = stripe_.begin + layout_.stripe_bytes;
    stripe_shift_ = last - stripe_.begin;
  }
  return own;
}

// Takes the cursor's next pieces, when a row of them lies in the stripe that was met last.
void SlotWalk::take_row() {
  if (!cursor_ || cursor_->done()) {
    return;
  }
  const PieceRow row = cursor_->row();
  const int64_t room = stripe_.end - row.begin - row.piece_bytes;
  if (row.count < kLeastRow || row.stride < row.piece_bytes || row.begin < stripe_.begin || room < 0) {
    return;
  }
  const int64_t wanted = (region_.range_.end - cursor_->stream_position()) / row.piece_bytes;
  const int64_t count = std::min({row.count, room / row.stride + 1, wanted});
  if (count > 0) {
    row_ = {row.begin + stripe_shift_, row.piece_bytes, row.stride, count};
    cursor_->advance_row(count);
  }
}

// The cursor goes on at the slot's next byte; the pieces between belong to other slots.
void SlotWalk::skip_others(int64_t local) {
  if (!cursor_ || !region_.type_.is_sorted() || cursor_->done()) {
    return;
  }
  const int64_t place = layout_.place_of(slot_, local);
  if (cursor_->piece().begin < place) {
    cursor_->seek_offset(place);
  }
}

PieceRow SlotWalk::next(int64_t* looks) {
  PieceRow now = std::exchange(row_, {});
  while (now.count == 0 && *looks > 0) {
    --*looks;
    ByteRange range;
    if (!next_of_file(range)) {
      done_ = true;
      break;
    }
    if (const ByteRange own = own_part(range); !own.empty()) {
      now = {own.begin, own.size(), 0, 1};
      take_row();
    } else if (!range.empty()) {
      skip_others(layout_.below(slot_, range.end));
    }
  }
  return now;
}

}  // namespace stria::wire
