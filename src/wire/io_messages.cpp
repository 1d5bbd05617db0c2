// Describes what the I/O servers are asked.
#include "wire/form/fields.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

void Transfer::put(Writer& writer) const {
  writer.fixed(file);
  ticket.put(writer);
  put_natural(writer, layout.stripe_bytes);
  put_natural(writer, layout.slot_count);
  put_natural(writer, slot);
}

void Transfer::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  ticket.get(reader);
  layout.stripe_bytes = reader.offset();
  layout.slot_count = reader.offset();
  slot = reader.offset();
  if (!layout.valid() || slot >= layout.slot_count) {
    reader.fail();
  }
}

void Extent::put(Writer& writer) const {
  put_natural(writer, local_bytes);
  writer.integer(modified_ns);
}

void Extent::get(Reader& reader) {
  local_bytes = reader.offset();
  modified_ns = reader.integer();
}

void LocalFile::put(Writer& writer) const {
  writer.fixed(file);
  ticket.put(writer);
  put_natural(writer, local_bytes);
}

void LocalFile::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  ticket.get(reader);
  local_bytes = reader.offset();
}

void Scrub::put(Writer& writer) const {
  writer.fixed(file);
  ticket.put(writer);
  put_natural(writer, first_block);
  put_flag(writer, accept);
}

void Scrub::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  ticket.get(reader);
  first_block = reader.offset();
  accept = get_flag(reader);
}

void Scrubbed::put(Writer& writer) const {
  put_natural(writer, local_bytes);
  put_natural(writer, next_block);
  put_flag(writer, done);
  put_list(writer, bad, [&](const Bad& each) {
    put_natural(writer, each.block);
    writer.fixed(static_cast<uint8_t>(each.fault));
  });
}

void Scrubbed::get(Reader& reader) {
  local_bytes = reader.offset();
  next_block = reader.offset();
  done = get_flag(reader);
  get_list(reader, bad, kMaxListed, [&](Bad& each) {
    each.block = reader.offset();
    const auto fault = reader.fixed<uint8_t>();
    each.fault = static_cast<BlockFault>(fault);
    if (fault < 1 || fault > 3) {
      reader.fail();
    }
  });
}

void Figures::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.text(entry.name);
    writer.integer(entry.value);
  });
}

void Figures::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.name = reader.text(kMaxNameBytes);
    entry.value = reader.integer();
  });
}

void LockRange::put(Writer& writer) const {
  writer.fixed(file);
  ticket.put(writer);
  put_natural(writer, range.begin);
  put_natural(writer, range.end);
  put_flag(writer, exclusive);
  writer.fixed(holder);
}

void LockRange::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  ticket.get(reader);
  range.begin = reader.place();
  range.end = reader.place();
  exclusive = get_flag(reader);
  holder = reader.fixed<uint64_t>();
}

}  // namespace stria::wire
