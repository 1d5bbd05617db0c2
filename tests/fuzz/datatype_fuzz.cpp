// Reads a datatype from any bytes. Then it asks of an accepted one everything that a server would;
// its invariants must hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "datatype/cursor.hpp"
#include "datatype/node.hpp"
#include "stria/datatype.hpp"

namespace {

using stria::ByteRange;
using stria::Cursor;
using stria::Datatype;

constexpr int kMaxSteps = 200;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// A piece lies within the type's bounds, and the cursor finds it again from its position.
void check_piece(const Datatype& type, const Cursor& cursor) {
  const ByteRange piece = cursor.piece();
  require(!piece.empty());
  require(piece.begin >= type.true_lower_bound() && piece.end <= type.true_upper_bound());
  Cursor other(type);
  other.seek(cursor.stream_position());
  require(other.piece() == piece && other.stream_position() == cursor.stream_position());
}

void walk(const Datatype& type) {
  Cursor cursor(type);
  int64_t previous_end = type.true_lower_bound();
  for (int step = 0; step < kMaxSteps && !cursor.done(); ++step) {
    check_piece(type, cursor);
    require(!type.is_sorted() || cursor.piece().begin >= previous_end);
    previous_end = cursor.piece().end;
    cursor.advance(cursor.piece().size());
  }
}

void jump(const Datatype& type, std::span<const std::byte> numbers) {
  Cursor cursor(type);
  for (size_t i = 0; i < std::min<size_t>(numbers.size(), 32); ++i) {
    const int64_t share = static_cast<int64_t>(numbers[i]);
    cursor.seek(type.size() / 256 * share + share);
    if (!cursor.done()) {
      check_piece(type, cursor);
      cursor.advance_row((cursor.row().count + share) / (share + 1));
    }
    if (!cursor.done()) {
      check_piece(type, cursor);
      cursor.advance(share * share);
    }
    if (type.is_sorted()) {
      const int64_t offset = type.true_lower_bound() + (type.true_upper_bound() - type.true_lower_bound()) / 256 * share;
      cursor.seek_offset(offset);
      require(cursor.done() || cursor.piece().begin >= offset);
      require(stria::cut(type, 0, {type.true_lower_bound(), offset}) == (ByteRange{0, cursor.stream_position()}));
    }
  }
}

void rewrite(const Datatype& type, size_t input_bytes) {
  std::vector<std::byte> bytes;
  type.serialize(bytes);
  // A tree that was read is never larger than its description, except that joined numbers may
  // take more bytes.
  require(bytes.size() <= 16 * input_bytes + 64);
  size_t consumed = 0;
  stria::Result<Datatype> again = Datatype::deserialize(bytes, &consumed);
  require(again.ok() && consumed == bytes.size());
  require(*again == type && again->fingerprint() == type.fingerprint());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  size_t consumed = 0;
  stria::Result<Datatype> type = Datatype::deserialize(input, &consumed);
  if (!type.ok()) {
    require(type.status().code() == stria::ErrorCode::kFormat);
    return 0;
  }
  require(consumed <= size);
  require(type->piece_count() <= type->size() && type->depth() <= stria::datatype::kMaxDepth);
  walk(*type);
  jump(*type, input);
  rewrite(*type, size);
  return 0;
}
