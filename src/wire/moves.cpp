#include "wire/moves.hpp"

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

int64_t get_server(Reader& reader) {
  return static_cast<int64_t>(reader.natural_up_to(kMaxServers));
}

}  // namespace

Status move_is_over() {
  return Status(ErrorCode::kAborted, "the move of this part is over", ErrorReason::kMoveIsOver);
}

bool is_move_over(const Status& status) {
  return status.reason() == ErrorReason::kMoveIsOver;
}

void MoveBegin::put(Writer& writer) const {
  writer.natural(file);
  put_natural(writer, from);
  put_natural(writer, to);
}

void MoveBegin::get(Reader& reader) {
  file = reader.natural();
  from = get_server(reader);
  to = get_server(reader);
}

void MoveBegun::put(Writer& writer) const {
  ticket.put(writer);
  put_natural(writer, layout.stripe_bytes);
  put_natural(writer, layout.slot_count);
  put_natural(writer, slot);
  from.put(writer);
  to.put(writer);
}

void MoveBegun::get(Reader& reader) {
  ticket.get(reader);
  layout.stripe_bytes = reader.offset();
  layout.slot_count = reader.offset();
  slot = reader.offset();
  from.get(reader);
  to.get(reader);
  if (!layout.valid() || slot >= layout.slot_count) {
    reader.fail();
  }
}

void MoveOf::put(Writer& writer) const {
  writer.fixed(file);
  ticket.put(writer);
}

void MoveOf::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  ticket.get(reader);
}

void MovesAsked::put(Writer& writer) const {
  writer.bytes(server);
  put_flag(writer, starts);
  put_list(writer, parts, [&](const Entry& entry) {
    writer.fixed(entry.part);
    put_flag(writer, entry.ends);
  });
}

void MovesAsked::get(Reader& reader) {
  get_bytes(reader, server);
  starts = get_flag(reader);
  get_list(reader, parts, kMaxListed, [&](Entry& entry) {
    entry.part = reader.fixed<uint64_t>();
    entry.ends = get_flag(reader);
  });
}

void MovesTold::put(Writer& writer) const {
  put_list(writer, parts, [&](PartMoves moves) { writer.fixed(static_cast<uint8_t>(moves)); });
  put_list(writer, gone, [&](uint64_t part) { writer.fixed(part); });
  writer.natural(last_expiry_ms);
}

void MovesTold::get(Reader& reader) {
  get_list(reader, parts, kMaxListed, [&](PartMoves& moves) {
    const auto number = reader.fixed<uint8_t>();
    moves = static_cast<PartMoves>(number);
    if (number > static_cast<uint8_t>(PartMoves::kElsewhere)) {
      reader.fail();
    }
  });
  get_list(reader, gone, kMaxListed, [&](uint64_t& part) { part = reader.fixed<uint64_t>(); });
  last_expiry_ms = reader.natural();
}

void Places::put(Writer& writer) const {
  put_list(writer, slots, [&](const ServerPlace& slot) { slot.put(writer); });
}

void Places::get(Reader& reader) {
  get_list(reader, slots, kMaxServers, [&](ServerPlace& slot) { slot.get(reader); });
}

void MovePart::put(Writer& writer) const {
  writer.fixed(part);
  ticket.put(writer);
  writer.fixed(static_cast<uint8_t>(step));
  writer.natural(since);
  writer.integer(modified_ns);
}

void MovePart::get(Reader& reader) {
  part = reader.fixed<uint64_t>();
  ticket.get(reader);
  const auto number = reader.fixed<uint8_t>();
  step = static_cast<MoveStep>(number);
  since = reader.natural();
  modified_ns = reader.integer();
  if (number > static_cast<uint8_t>(MoveStep::kGone)) {
    reader.fail();
  }
}

void PartMoved::put(Writer& writer) const {
  extent.put(writer);
  put_flag(writer, exists);
  writer.natural(changes);
  put_list(writer, changed, [&](const ByteRange& range) {
    put_natural(writer, range.begin);
    put_natural(writer, range.end);
  });
}

void PartMoved::get(Reader& reader) {
  extent.get(reader);
  exists = get_flag(reader);
  changes = reader.natural();
  get_list(reader, changed, kMaxListed, [&](ByteRange& range) {
    range.begin = reader.offset();
    range.end = reader.offset();
  });
}

}  // namespace stria::wire
