#include "wire/messages.hpp"

#include <algorithm>

namespace stria::wire {

namespace {

void put_flag(Writer& writer, bool flag) {
  writer.fixed(static_cast<uint8_t>(flag));
}

bool get_flag(Reader& reader) {
  const auto value = reader.fixed<uint8_t>();
  if (value > 1) {
    reader.fail();
  }
  return value == 1;
}

template <size_t size>
void get_bytes(Reader& reader, std::array<std::byte, size>& to) {
  const auto from = reader.bytes(size);
  std::copy(from.begin(), from.end(), to.begin());
}

void put_natural(Writer& writer, int64_t value) {
  writer.natural(static_cast<uint64_t>(value));
}

template <typename Entry, typename Put>
void put_list(Writer& writer, const std::vector<Entry>& list, Put put) {
  writer.natural(list.size());
  for (const Entry& entry : list) {
    put(entry);
  }
}

/// The list grows with what really comes, not with what is announced.
template <typename Entry, typename Get>
void get_list(Reader& reader, std::vector<Entry>& list, uint64_t most, Get get) {
  const uint64_t count = reader.natural_up_to(most);
  for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
    get(list.emplace_back());
  }
}

}  // namespace

void Failure::put(Writer& writer) const {
  writer.natural(static_cast<uint64_t>(code));
  writer.text(std::string_view(text).substr(0, kMaxTextBytes));
}

void Failure::get(Reader& reader) {
  const uint64_t number = reader.natural();
  const bool known = number > 0 && number <= static_cast<uint64_t>(ErrorCode::kInternal);
  code = known ? static_cast<ErrorCode>(number) : ErrorCode::kInternal;
  text = reader.text(kMaxTextBytes);
}

void Hello::put(Writer& writer) const {
  writer.bytes(session);
  writer.bytes(nonce);
}

void Hello::get(Reader& reader) {
  get_bytes(reader, session);
  get_bytes(reader, nonce);
}

void Challenge::put(Writer& writer) const {
  put_flag(writer, wants_proof);
  writer.bytes(server);
  writer.bytes(nonce);
  writer.bytes(proof);
}

void Challenge::get(Reader& reader) {
  wants_proof = get_flag(reader);
  get_bytes(reader, server);
  get_bytes(reader, nonce);
  get_bytes(reader, proof);
}

void KeyProof::put(Writer& writer) const {
  writer.bytes(proof);
}

void KeyProof::get(Reader& reader) {
  get_bytes(reader, proof);
}

void Open::put(Writer& writer) const {
  writer.text(path);
  writer.fixed(static_cast<uint8_t>(mode));
  put_flag(writer, exclusive);
  writer.natural(handle);
  put_natural(writer, stripe_bytes);
  put_natural(writer, server_count);
  put_natural(writer, first_server + 1);
}

void Open::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(OpenMode::kCreateNew)) {
    reader.fail();
  }
  mode = static_cast<OpenMode>(number);
  exclusive = get_flag(reader);
  handle = reader.natural();
  stripe_bytes = reader.offset();
  server_count = reader.offset();
  first_server = reader.offset() - 1;
}

void ServerPlace::put(Writer& writer) const {
  put_natural(writer, index);
  writer.text(address);
}

void ServerPlace::get(Reader& reader) {
  index = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  address = reader.text(kMaxTextBytes);
}

void Opened::put(Writer& writer) const {
  writer.natural(file);
  put_natural(writer, stripe_bytes);
  put_flag(writer, cut);
  put_list(writer, slots, [&](const ServerPlace& slot) { slot.put(writer); });
}

void Opened::get(Reader& reader) {
  file = reader.natural();
  stripe_bytes = reader.offset();
  cut = get_flag(reader);
  get_list(reader, slots, kMaxServers, [&](ServerPlace& slot) { slot.get(reader); });
}

void Handle::put(Writer& writer) const {
  writer.natural(handle);
  writer.natural(file);
  put_flag(writer, exclusive);
}

void Handle::get(Reader& reader) {
  handle = reader.natural();
  file = reader.natural();
  exclusive = get_flag(reader);
}

void Rename::put(Writer& writer) const {
  writer.text(from);
  writer.text(to);
}

void Rename::get(Reader& reader) {
  from = reader.text(kMaxPathBytes);
  to = reader.text(kMaxPathBytes);
}

void Attributes::put(Writer& writer) const {
  put_flag(writer, is_directory);
  writer.integer(created_ns);
  place.put(writer);
}

void Attributes::get(Reader& reader) {
  is_directory = get_flag(reader);
  created_ns = reader.integer();
  place.get(reader);
}

void List::put(Writer& writer) const {
  writer.text(path);
  writer.text(after);
}

void List::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  after = reader.text(kMaxNameBytes);
}

void Listed::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.text(entry.name);
    put_flag(writer, entry.is_directory);
  });
  put_flag(writer, more);
}

void Listed::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.name = reader.text(kMaxNameBytes);
    entry.is_directory = get_flag(reader);
  });
  more = get_flag(reader);
}

void Pulse::put(Writer& writer) const {
  writer.bytes(server);
  writer.text(address);
  put_natural(writer, total_bytes);
  put_natural(writer, free_bytes);
  put_list(writer, removed, [&](uint64_t file) { writer.natural(file); });
}

void Pulse::get(Reader& reader) {
  get_bytes(reader, server);
  address = reader.text(kMaxTextBytes);
  total_bytes = reader.offset();
  free_bytes = reader.offset();
  get_list(reader, removed, kMaxListed, [&](uint64_t& file) { file = reader.natural(); });
}

void PulseAnswer::put(Writer& writer) const {
  put_natural(writer, index);
  put_list(writer, remove, [&](uint64_t file) { writer.natural(file); });
}

void PulseAnswer::get(Reader& reader) {
  index = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  get_list(reader, remove, kMaxListed, [&](uint64_t& file) { file = reader.natural(); });
}

void StoreServers::put(Writer& writer) const {
  put_list(writer, servers, [&](const Entry& entry) {
    entry.place.put(writer);
    put_natural(writer, entry.total_bytes);
    put_natural(writer, entry.free_bytes);
    writer.integer(entry.silent_ms);
  });
}

void StoreServers::get(Reader& reader) {
  get_list(reader, servers, kMaxServers, [&](Entry& entry) {
    entry.place.get(reader);
    entry.total_bytes = reader.offset();
    entry.free_bytes = reader.offset();
    entry.silent_ms = reader.integer();
  });
}

void Transfer::put(Writer& writer) const {
  writer.fixed(file);
  put_natural(writer, layout.stripe_bytes);
  put_natural(writer, layout.slot_count);
  put_natural(writer, slot);
}

void Transfer::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
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
  put_natural(writer, local_bytes);
}

void LocalFile::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  local_bytes = reader.offset();
}

void Scrub::put(Writer& writer) const {
  writer.fixed(file);
  put_natural(writer, first_block);
  put_flag(writer, accept);
}

void Scrub::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
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
  put_natural(writer, range.begin);
  put_natural(writer, range.end);
  put_flag(writer, exclusive);
  writer.fixed(holder);
}

void LockRange::get(Reader& reader) {
  file = reader.fixed<uint64_t>();
  range.begin = reader.place();
  range.end = reader.place();
  exclusive = get_flag(reader);
  holder = reader.fixed<uint64_t>();
}

}  // namespace stria::wire
