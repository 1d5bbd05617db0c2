#include "wire/tree.hpp"

#include <algorithm>

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

template <typename Enumeration>
void put_choice(Writer& writer, Enumeration value) {
  writer.fixed(static_cast<uint8_t>(value));
}

/// Returns a number that is one of an enumeration's, up to `last`.
template <typename Enumeration>
Enumeration get_choice(Reader& reader, Enumeration last) {
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(last)) {
    reader.fail();
    return {};
  }
  return static_cast<Enumeration>(number);
}

void put_time(Writer& writer, const std::optional<int64_t>& time) {
  put_flag(writer, time.has_value());
  if (time) {
    writer.integer(*time);
  }
}

std::optional<int64_t> get_time(Reader& reader) {
  return get_flag(reader) ? std::optional(reader.integer()) : std::nullopt;
}

void put_places(Writer& writer, const std::vector<ServerPlace>& places) {
  put_list(writer, places, [&](const ServerPlace& place) { place.put(writer); });
}

void get_places(Reader& reader, std::vector<ServerPlace>& places) {
  get_list(reader, places, kMaxServers, [&](ServerPlace& place) { place.get(reader); });
}

/// Writes a number plus 1, or 0 for none.
void put_number(Writer& writer, const std::optional<uint32_t>& number) {
  writer.natural(number ? uint64_t{*number} + 1 : 0);
}

std::optional<uint32_t> get_number(Reader& reader, uint64_t most) {
  const uint64_t value = reader.natural_up_to(most + 1);
  return value > 0 ? std::optional(static_cast<uint32_t>(value - 1)) : std::nullopt;
}

}  // namespace

int64_t Times::modified(int64_t written_ns) const {
  const bool holds = modified_ns && written_ns <= written_before_ns;
  return holds ? *modified_ns : std::max(written_ns, created_ns);
}

int64_t Times::changed(int64_t written_ns) const {
  return std::max({written_ns, created_ns, changed_ns});
}

void Times::put(Writer& writer) const {
  writer.integer(created_ns);
  writer.integer(changed_ns);
  put_time(writer, accessed_ns);
  put_time(writer, modified_ns);
  writer.integer(written_before_ns);
}

void Times::get(Reader& reader) {
  created_ns = reader.integer();
  changed_ns = reader.integer();
  accessed_ns = get_time(reader);
  modified_ns = get_time(reader);
  written_before_ns = reader.integer();
}

void NameState::put(Writer& writer) const {
  put_choice(writer, kind);
  writer.natural(number);
  writer.natural(names);
  owner.put(writer);
  times.put(writer);
  writer.text(target);
  put_natural(writer, stripe_bytes);
  put_list(writer, servers, [&](int64_t server) { put_natural(writer, server); });
  ticket.put(writer);
}

void NameState::get(Reader& reader) {
  kind = get_choice(reader, NameKind::kLink);
  number = reader.natural();
  names = reader.natural();
  owner.get(reader);
  times.get(reader);
  target = reader.text(kMaxPathBytes);
  stripe_bytes = reader.offset();
  get_list(reader, servers, kMaxServers,
           [&](int64_t& place) { place = static_cast<int64_t>(reader.natural_up_to(kMaxPlaces)); });
  ticket.get(reader);
}

Opened place_of(const NameState& state, std::span<const ServerPlace> places) {
  Opened place;
  place.file = state.number;
  place.stripe_bytes = state.stripe_bytes;
  place.ticket = state.ticket;
  for (const int64_t slot : state.servers) {
    const int64_t server = server_of(slot);
    const auto found =
        std::find_if(places.begin(), places.end(), [&](const ServerPlace& each) { return each.index == server; });
    place.slots.push_back({server, found == places.end() ? "" : found->address, is_second(slot)});
  }
  return place;
}

void Look::put(Writer& writer) const {
  writer.text(path);
  put_flag(writer, follow);
}

void Look::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  follow = get_flag(reader);
}

void Looked::put(Writer& writer) const {
  state.put(writer);
  put_places(writer, places);
}

void Looked::get(Reader& reader) {
  state.get(reader);
  get_places(reader, places);
}

void Made::put(Writer& writer) const {
  opened.put(writer);
  file.put(writer);
  directory.put(writer);
}

void Made::get(Reader& reader) {
  opened.get(reader);
  file.get(reader);
  directory.get(reader);
}

void Handles::put(Writer& writer) const {
  put_list(writer, handles, [&](uint64_t handle) { writer.natural(handle); });
}

void Handles::get(Reader& reader) {
  get_list(reader, handles, kMaxListed, [&](uint64_t& handle) { handle = reader.natural(); });
}

void LookedAll::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.text(entry.name);
    entry.state.put(writer);
  });
  put_places(writer, places);
  put_flag(writer, more);
}

void LookedAll::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.name = reader.text(kMaxNameBytes);
    entry.state.get(reader);
  });
  get_places(reader, places);
  more = get_flag(reader);
}

void TimeChange::put(Writer& writer) const {
  put_choice(writer, how);
  writer.integer(ns);
}

void TimeChange::get(Reader& reader) {
  how = get_choice(reader, How::kNow);
  ns = reader.integer();
}

void Change::put(Writer& writer) const {
  what.put(writer);
  put_number(writer, uid);
  put_number(writer, gid);
  put_number(writer, mode);
  accessed.put(writer);
  modified.put(writer);
  writer.integer(written_ns);
}

void Change::get(Reader& reader) {
  what.get(reader);
  uid = get_number(reader, UINT32_MAX - 1);
  gid = get_number(reader, UINT32_MAX - 1);
  mode = get_number(reader, kMaxMode);
  accessed.get(reader);
  modified.get(reader);
  written_ns = reader.integer();
}

void NewLink::put(Writer& writer) const {
  writer.text(path);
  writer.text(target);
}

void NewLink::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  target = reader.text(kMaxPathBytes);
}

void SetAttribute::put(Writer& writer) const {
  what.put(writer);
  put_choice(writer, how);
  writer.text(name);
  writer.text(value);
}

void SetAttribute::get(Reader& reader) {
  what.get(reader);
  how = get_choice(reader, How::kRemove);
  name = reader.text(kMaxAttributeNameBytes);
  value = reader.text(kMaxAttributeBytes);
}

void GetAttribute::put(Writer& writer) const {
  what.put(writer);
  writer.text(name);
}

void GetAttribute::get(Reader& reader) {
  what.get(reader);
  name = reader.text(kMaxAttributeNameBytes);
}

void UserAttributes::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.text(entry.name);
    writer.text(entry.value);
  });
}

void UserAttributes::get(Reader& reader) {
  get_list(reader, entries, kMaxAttributeBytes, [&](Entry& entry) {
    entry.name = reader.text(kMaxAttributeNameBytes);
    entry.value = reader.text(kMaxAttributeBytes);
  });
}

void ExtentsOf::put(Writer& writer) const {
  put_list(writer, files, [&](const Entry& entry) {
    writer.fixed(entry.file);
    entry.ticket.put(writer);
  });
}

void ExtentsOf::get(Reader& reader) {
  get_list(reader, files, kMaxListed, [&](Entry& entry) {
    entry.file = reader.fixed<uint64_t>();
    entry.ticket.get(reader);
  });
}

void Extents::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.natural(static_cast<uint64_t>(entry.error));
    entry.extent.put(writer);
    put_natural(writer, entry.allocated_bytes);
  });
}

void Extents::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.error = static_cast<ErrorCode>(reader.natural_up_to(static_cast<uint64_t>(ErrorCode::kInternal)));
    entry.extent.get(reader);
    entry.allocated_bytes = reader.offset();
  });
}

}  // namespace stria::wire
