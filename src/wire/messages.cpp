// Describes what went wrong, and what the manager is asked.
#include "wire/messages.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

/// Returns the reason that an error of version 3 has in its words alone. These are the words of
/// that version, whatever later ones say. Nothing else is decided by the text of a message.
ErrorReason reason_in_words(ErrorCode code, std::string_view text) {
  struct Words {
    ErrorCode code;
    std::string_view words;
    ErrorReason reason;
    bool begin;  ///< they are the first ones
  };
  static constexpr std::array<Words, 5> kWords{{
      {ErrorCode::kAborted, "the move of this part is over", ErrorReason::kMoveIsOver, false},
      {ErrorCode::kUnsupported, "this server is no manager of names", ErrorReason::kNoManager, true},
      {ErrorCode::kUnsupported, "this manager was replaced", ErrorReason::kReplacedManager, true},
      {ErrorCode::kPermissionDenied, "the ticket isn't this store's for the file", ErrorReason::kForeignTicket, false},
      {ErrorCode::kNoSpace, "Disk quota exceeded", ErrorReason::kOverQuota, false},
  }};
  const auto said = std::find_if(kWords.begin(), kWords.end(), [&](const Words& each) {
    const size_t at = text.find(each.words);
    return code == each.code && at != std::string_view::npos && (at == 0 || !each.begin);
  });
  return said == kWords.end() ? ErrorReason::kNone : said->reason;
}

}  // namespace

void Failure::put(Writer& writer) const {
  writer.natural(static_cast<uint64_t>(code));
  writer.text(std::string_view(text).substr(0, kMaxTextBytes));
  if (writer.version() >= kVersionWithReasons) {
    writer.natural(static_cast<uint64_t>(reason));
  }
}

void Failure::get(Reader& reader) {
  const uint64_t number = reader.natural();
  const bool known = number > 0 && number <= static_cast<uint64_t>(ErrorCode::kInternal);
  code = known ? static_cast<ErrorCode>(number) : ErrorCode::kInternal;
  text = reader.text(kMaxTextBytes);
  reason = reader.version() >= kVersionWithReasons ? static_cast<ErrorReason>(reader.natural_up_to(INT_MAX))
                                                   : reason_in_words(code, text);
}

void Open::put(Writer& writer) const {
  writer.text(path);
  writer.fixed(static_cast<uint8_t>(mode));
  put_flag(writer, exclusive);
  writer.natural(handle);
  put_natural(writer, stripe_bytes);
  put_natural(writer, server_count);
  put_natural(writer, first_server + 1);
  put_flag(writer, by_load);
  writer.natural(permissions);
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
  by_load = get_flag(reader);
  permissions = get_mode(reader);
}

void ServerPlace::put(Writer& writer) const {
  put_natural(writer, place_on(index, second));
  writer.text(address);
}

void ServerPlace::get(Reader& reader) {
  const auto place = static_cast<int64_t>(reader.natural_up_to(kMaxPlaces));
  index = server_of(place);
  second = is_second(place);
  address = reader.text(kMaxTextBytes);
}

Status check_servers(const Opened& opened) {
  for (const ServerPlace& slot : opened.slots) {
    if (slot.address.empty()) {
      return Status(ErrorCode::kIo,
                    "server " + std::to_string(slot.index) +
                        " is gone, and its part of the file with it: another directory answers at its address, or it "
                        "was taken out of the store");
    }
  }
  return {};
}

void Opened::put(Writer& writer) const {
  writer.natural(file);
  put_natural(writer, stripe_bytes);
  put_flag(writer, cut);
  put_list(writer, slots, [&](const ServerPlace& slot) { slot.put(writer); });
  ticket.put(writer);
  writer.natural(ticket_ms);
}

void Opened::get(Reader& reader) {
  file = reader.natural();
  stripe_bytes = reader.offset();
  cut = get_flag(reader);
  get_list(reader, slots, kMaxServers, [&](ServerPlace& slot) { slot.get(reader); });
  ticket.get(reader);
  ticket_ms = reader.natural();
}

void Handle::put(Writer& writer) const {
  writer.natural(handle);
  writer.natural(file);
  put_flag(writer, exclusive);
  writer.fixed(rights);
}

void Handle::get(Reader& reader) {
  handle = reader.natural();
  file = reader.natural();
  exclusive = get_flag(reader);
  rights = reader.fixed<uint8_t>();
  if ((rights & ~(kMayRead | kMayWrite)) != 0) {
    reader.fail();
  }
}

void Renewed::put(Writer& writer) const {
  ticket.put(writer);
  writer.natural(ticket_ms);
}

void Renewed::get(Reader& reader) {
  ticket.get(reader);
  ticket_ms = reader.natural();
}

void Rename::put(Writer& writer) const {
  writer.text(from);
  writer.text(to);
}

void Rename::get(Reader& reader) {
  from = reader.text(kMaxPathBytes);
  to = reader.text(kMaxPathBytes);
}

void NewDirectory::put(Writer& writer) const {
  writer.text(path);
  writer.natural(permissions);
}

void NewDirectory::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  permissions = get_mode(reader);
}

void SetOwnership::put(Writer& writer) const {
  writer.text(path);
  for (const auto& each : {uid, gid, mode}) {
    writer.natural(each ? uint64_t{*each} + 1 : 0);
  }
}

void SetOwnership::get(Reader& reader) {
  path = reader.text(kMaxPathBytes);
  for (auto* each : {&uid, &gid, &mode}) {
    const uint64_t value = reader.natural_up_to(each == &mode ? uint64_t{kMaxMode} + 1 : UINT32_MAX);
    if (value > 0) {
      *each = static_cast<uint32_t>(value - 1);
    }
  }
}

void Attributes::put(Writer& writer) const {
  put_flag(writer, is_directory);
  writer.integer(created_ns);
  owner.put(writer);
  place.put(writer);
}

void Attributes::get(Reader& reader) {
  is_directory = get_flag(reader);
  created_ns = reader.integer();
  owner.get(reader);
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
  put_natural(writer, busy_bytes);
  put_list(writer, removed, [&](uint64_t file) { writer.natural(file); });
}

void Pulse::get(Reader& reader) {
  get_bytes(reader, server);
  address = reader.text(kMaxTextBytes);
  total_bytes = reader.offset();
  free_bytes = reader.offset();
  busy_bytes = reader.offset();
  get_list(reader, removed, kMaxListed, [&](uint64_t& file) { file = reader.natural(); });
}

void PulseAnswer::put(Writer& writer) const {
  put_natural(writer, index);
  writer.bytes(secret);
  writer.fixed(now_ms);
  put_list(writer, remove, [&](uint64_t file) { writer.natural(file); });
  if (writer.version() >= kVersionWithEpochs) {
    writer.natural(epoch);
  }
}

void PulseAnswer::get(Reader& reader) {
  index = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  get_bytes(reader, secret);
  now_ms = reader.fixed<uint64_t>();
  get_list(reader, remove, kMaxListed, [&](uint64_t& file) { file = reader.natural(); });
  if (reader.version() >= kVersionWithEpochs) {
    epoch = reader.natural();
  }
}

void Retire::put(Writer& writer) const {
  put_natural(writer, server);
  put_flag(writer, lost);
}

void Retire::get(Reader& reader) {
  server = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  lost = get_flag(reader);
}

void Retired::put(Writer& writer) const {
  writer.natural(files);
  put_flag(writer, done);
}

void Retired::get(Reader& reader) {
  files = reader.natural();
  done = get_flag(reader);
}

void StoreServers::put(Writer& writer) const {
  put_list(writer, servers, [&](const Entry& entry) {
    entry.place.put(writer);
    put_natural(writer, entry.total_bytes);
    put_natural(writer, entry.free_bytes);
    writer.integer(entry.silent_ms);
    put_natural(writer, entry.load_bytes);
  });
}

void StoreServers::get(Reader& reader) {
  get_list(reader, servers, kMaxServers, [&](Entry& entry) {
    entry.place.get(reader);
    entry.total_bytes = reader.offset();
    entry.free_bytes = reader.offset();
    entry.silent_ms = reader.integer();
    entry.load_bytes = reader.offset();
  });
}

}  // namespace stria::wire
