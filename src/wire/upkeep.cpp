#include "wire/upkeep.hpp"

#include <array>

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

/// Returns a number that is one of an enumeration's, up to `last`.
template <typename Enumeration>
Enumeration get_one_of(Reader& reader, Enumeration last) {
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(last)) {
    reader.fail();
    return {};
  }
  return static_cast<Enumeration>(number);
}

void put_files(Writer& writer, const std::vector<uint64_t>& files) {
  put_list(writer, files, [&](uint64_t file) { writer.natural(file); });
}

void get_files(Reader& reader, std::vector<uint64_t>& files) {
  get_list(reader, files, kMaxListed, [&](uint64_t& file) { file = reader.natural(); });
}

void put_servers(Writer& writer, const std::vector<int64_t>& servers) {
  put_list(writer, servers, [&](int64_t server) { put_natural(writer, server); });
}

void get_servers(Reader& reader, std::vector<int64_t>& servers) {
  get_list(reader, servers, kMaxServers,
           [&](int64_t& server) { server = static_cast<int64_t>(reader.natural_up_to(kMaxPlaces)); });
}

}  // namespace

const char* condition_name(Condition condition) {
  constexpr std::array<const char*, 5> kNames{"good", "nearly full", "read-only", "failing", "ended"};
  return kNames[static_cast<size_t>(condition)];
}

void ServerCondition::put(Writer& writer) const {
  writer.bytes(server);
  writer.fixed(static_cast<uint8_t>(condition));
  writer.text(std::string_view(why).substr(0, kMaxTextBytes));
}

void ServerCondition::get(Reader& reader) {
  get_bytes(reader, server);
  condition = get_one_of(reader, Condition::kLeaving);
  why = reader.text(kMaxTextBytes);
}

void Conditions::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    put_natural(writer, entry.server);
    writer.fixed(static_cast<uint8_t>(entry.condition));
    put_flag(writer, entry.closed);
    writer.text(entry.why);
  });
}

void Conditions::get(Reader& reader) {
  get_list(reader, entries, kMaxServers, [&](Entry& entry) {
    entry.server = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
    entry.condition = get_one_of(reader, Condition::kLeaving);
    entry.closed = get_flag(reader);
    entry.why = reader.text(kMaxTextBytes);
  });
}

void NewFiles::put(Writer& writer) const {
  put_natural(writer, server);
  put_flag(writer, taken);
}

void NewFiles::get(Reader& reader) {
  server = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  taken = get_flag(reader);
}

void Backup::put(Writer& writer) const {
  writer.natural(number);
  put_natural(writer, offset);
}

void Backup::get(Reader& reader) {
  number = reader.natural();
  offset = reader.offset();
}

void BackupPart::put(Writer& writer) const {
  writer.natural(number);
  put_natural(writer, total_bytes);
  writer.natural(bytes.size());
  writer.bytes(bytes);
}

void BackupPart::get(Reader& reader) {
  number = reader.natural();
  total_bytes = reader.offset();
  const auto from = reader.bytes(reader.natural_up_to(kMaxBackupPartBytes));
  bytes.assign(from.begin(), from.end());
}

void Striped::put(Writer& writer) const {
  put_natural(writer, stripe_bytes);
  put_natural(writer, slot_count);
  put_natural(writer, slot);
}

void Striped::get(Reader& reader) {
  stripe_bytes = reader.offset();
  slot_count = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  slot = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
}

void Parts::put(Writer& writer) const {
  writer.natural(after);
  put_files(writer, files);
}

void Parts::get(Reader& reader) {
  after = reader.natural();
  get_files(reader, files);
}

void PartsListed::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.natural(entry.file);
    writer.fixed(static_cast<uint8_t>(entry.state));
    put_natural(writer, entry.bytes);
    put_natural(writer, entry.expected_bytes);
    entry.striped.put(writer);
  });
  put_flag(writer, more);
}

void PartsListed::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.file = reader.natural();
    entry.state = get_one_of(reader, PartState::kOtherSize);
    entry.bytes = reader.offset();
    entry.expected_bytes = reader.offset();
    entry.striped.get(reader);
  });
  more = get_flag(reader);
}

void NamedListed::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.natural(entry.file);
    put_flag(writer, entry.named);
    put_natural(writer, entry.stripe_bytes);
    put_servers(writer, entry.servers);
  });
  put_flag(writer, more);
}

void NamedListed::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.file = reader.natural();
    entry.named = get_flag(reader);
    entry.stripe_bytes = reader.offset();
    get_servers(reader, entry.servers);
  });
  more = get_flag(reader);
}

void PartsOf::put(Writer& writer) const {
  put_natural(writer, server);
  put_files(writer, files);
}

void PartsOf::get(Reader& reader) {
  server = static_cast<int64_t>(reader.natural_up_to(kMaxServers));
  get_files(reader, files);
}

void PartsKnown::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    writer.fixed(static_cast<uint8_t>(entry.known));
    entry.striped.put(writer);
  });
}

void PartsKnown::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.known = get_one_of(reader, PartKnown::kLeaves);
    entry.striped.get(reader);
  });
}

void Paths::put(Writer& writer) const {
  put_list(writer, paths, [&](const std::string& path) { writer.text(path); });
}

void Paths::get(Reader& reader) {
  get_list(reader, paths, kMaxListed, [&](std::string& path) { path = reader.text(kMaxPathBytes); });
}

void Adopt::put(Writer& writer) const {
  writer.natural(file);
  put_natural(writer, stripe_bytes);
  put_servers(writer, servers);
}

void Adopt::get(Reader& reader) {
  file = reader.natural();
  stripe_bytes = reader.offset();
  get_servers(reader, servers);
}

}  // namespace stria::wire
