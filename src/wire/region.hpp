// Describes which bytes of a file a request is about, as they are sent: a range, a list of ranges,
// or a datatype with a window of its stream. Walks over those bytes that lie on one server.
//
// Problem: a request may name more pieces than fit in a list, and may come from anywhere.
// Method: everything is checked once, when it is decoded. The walk then reads the list in place, or
// moves a cursor over the datatype, by as many pieces of a row as a stripe has, and jumps over the
// stripes of other servers.
// Cost: memory of the request's own size; time for the server's own pieces where they are not
// regular, for each of its stripes, and for each entry of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "datatype/cursor.hpp"
#include "stria/datatype.hpp"
#include "stria/status.hpp"
#include "wire/form/codec.hpp"
#include "wire/layout.hpp"

namespace stria::wire {

/// Ranges of one list; an encoded range takes at most 20 bytes.
inline constexpr int64_t kMaxListRanges = 32768;
/// Bytes of the window of a datatype's stream in one request, which bounds the pieces that a server
/// may have to walk.
inline constexpr int64_t kMaxWindowBytes = int64_t{1} << 30;

/// Writes regions; see docs/formats/wire.md.
void encode_range(Writer& writer, ByteRange range);
/// \pre ranges.size() <= kMaxListRanges
void encode_list(Writer& writer, std::span<const ByteRange> ranges);
/// Encodes the bytes of `window` of the stream of `type`, placed at `displacement`. \pre
/// window.size() <= kMaxWindowBytes
void encode_type(Writer& writer, const Datatype& type, int64_t displacement, ByteRange window);

class Region {
 public:
  Region() = default;
  /// Takes the rest of the message; kFormat unless all of it is a valid region. `body` must outlive
  /// the region.
  static Result<Region> decode(Reader& reader);
  /// True when what comes next is a datatype, which takes memory beside its message.
  static bool is_type(Reader& reader) { return static_cast<Shape>(reader.fixed<uint8_t>()) == Shape::kType; }

 private:
  friend class SlotWalk;
  enum class Shape : uint8_t { kRange = 1, kList = 2, kType = 3 };
  Status decode_list(Reader& reader);
  Status decode_type(Reader& reader);

  Shape shape_ = Shape::kRange;
  ByteRange range_;                  // kRange: of the file; kType: of the stream
  int64_t count_ = 0;                // kList
  std::span<const std::byte> list_;  // kList: as it came
  Datatype type_;
  int64_t displacement_ = 0;
};

/// Walks the bytes of a region that lie on one slot, in the order of the region.
class SlotWalk {
 public:
  SlotWalk(const Region& region, const Layout& layout, int64_t slot);

  /// Returns the next pieces of the slot's own bytes, ascending and without overlap. None when
  /// there are no more, or when it has looked at `*looks` ranges of the file, from which it takes
  /// what it looked at: done() tells.
  PieceRow next(int64_t* looks);
  bool done() const { return done_; }

 private:
  bool next_of_file(ByteRange& range);
  void take_row();
  ByteRange own_part(ByteRange range);
  void skip_others(int64_t local);

  const Region& region_;
  Layout layout_;
  int64_t slot_;
  bool done_ = false;
  int64_t given_ = 0;  // ranges of the file taken so far
  Reader list_;
  int64_t previous_end_ = 0;
  std::optional<Cursor> cursor_;
  ByteRange stripe_;          // the stripe of the file, the slot's stripe that was met last
  int64_t stripe_shift_ = 0;  // from a place in that stripe to the slot's own
  PieceRow row_;              // the next pieces, among the slot's bytes; the cursor is behind them
};

/// Checks one range of a list as it comes, and gives it. The end of the range is where the next
/// one's distance is counted from.
ByteRange decode_list_range(Reader& reader, int64_t& previous_end);

}  // namespace stria::wire
