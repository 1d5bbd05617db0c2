#include "wire/standby.hpp"

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

constexpr uint64_t kMaxPiecesBytes = kMaxBodyBytes / 2;
constexpr uint64_t kMostEpochs = uint64_t{1} << 62;  // There is always a next one below this.

template <typename Value>
Value get_up_to(Reader& reader, Value last) {
  const auto value = reader.fixed<uint8_t>();
  if (value > static_cast<uint8_t>(last)) {
    reader.fail();
    return Value{};
  }
  return static_cast<Value>(value);
}

void put_bytes(Writer& writer, const std::vector<std::byte>& bytes) {
  writer.natural(bytes.size());
  writer.bytes(bytes);
}

void get_some(Reader& reader, std::vector<std::byte>& bytes) {
  const auto from = reader.bytes(reader.natural_up_to(kMaxPiecesBytes));
  bytes.assign(from.begin(), from.end());
}

}  // namespace

void Mark::put(Writer& writer) const {
  writer.natural(epoch);
  writer.natural(number);
  writer.bytes(in_step);
}

void Mark::get(Reader& reader) {
  epoch = reader.natural_up_to(kMostEpochs);
  number = reader.natural_up_to(kMostEpochs);
  get_bytes(reader, in_step);
}

void Role::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(step));
  mark.put(writer);
  writer.text(manager);
  seen.put(writer);
  put_flag(writer, forced);
}

void Role::get(Reader& reader) {
  step = get_up_to(reader, RoleStep::kFence);
  mark.get(reader);
  manager = reader.text(kMaxTextBytes);
  seen.get(reader);
  forced = get_flag(reader);
}

void RoleTold::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(kind));
  mark.put(writer);
  writer.text(manager);
}

void RoleTold::get(Reader& reader) {
  kind = get_up_to(reader, RoleKind::kReplaced);
  mark.get(reader);
  manager = reader.text(kMaxTextBytes);
}

void Follow::put(Writer& writer) const {
  writer.bytes(standby);
  writer.natural(number);
  put_flag(writer, whole);
  put_natural(writer, offset);
  writer.natural(applied);
}

void Follow::get(Reader& reader) {
  get_bytes(reader, standby);
  number = reader.natural();
  whole = get_flag(reader);
  offset = reader.offset();
  applied = reader.natural();
}

void Followed::put(Writer& writer) const {
  writer.natural(number);
  put_natural(writer, total_bytes);
  writer.natural(first);
  put_bytes(writer, copy);
  put_list(writer, pieces, [&](const Piece& piece) {
    writer.natural(piece.sequence);
    writer.fixed(static_cast<uint8_t>(piece.form));
    put_flag(writer, piece.durable);
    put_flag(writer, piece.last);
    put_bytes(writer, piece.bytes);
  });
  put_flag(writer, ended);
}

void Followed::get(Reader& reader) {
  number = reader.natural();
  total_bytes = reader.offset();
  first = reader.natural();
  get_some(reader, copy);
  get_list(reader, pieces, kMaxListed, [&](Piece& piece) {
    piece.sequence = reader.natural();
    piece.form = get_up_to(reader, ChangeForm::kSchema);
    piece.durable = get_flag(reader);
    piece.last = get_flag(reader);
    get_some(reader, piece.bytes);
  });
  ended = get_flag(reader);
}

void Promote::put(Writer& writer) const {
  put_flag(writer, even_if_behind);
}

void Promote::get(Reader& reader) {
  even_if_behind = get_flag(reader);
}

void Promoted::put(Writer& writer) const {
  writer.natural(epoch);
  writer.text(manager);
  put_flag(writer, was_reached);
  put_list(writer, unreached, [&](const std::string& address) { writer.text(address); });
}

void Promoted::get(Reader& reader) {
  epoch = reader.natural();
  manager = reader.text(kMaxTextBytes);
  was_reached = get_flag(reader);
  get_list(reader, unreached, kMaxServers, [&](std::string& address) { address = reader.text(kMaxTextBytes); });
}

Status no_manager(const std::string& manager) {
  return Status(
      ErrorCode::kUnsupported,
      "this server is no manager of names: use the address of the one that is" + (manager.empty() ? "" : ", " + manager),
      ErrorReason::kNoManager);
}

Status replaced_manager(const std::string& manager) {
  return Status(ErrorCode::kUnsupported,
                "this manager was replaced by the one at " + manager +
                    ": use that address, or both with a comma between (stria://ONE,OTHER/…)",
                ErrorReason::kReplacedManager);
}

bool is_no_manager(const Status& status) {
  return status.reason() == ErrorReason::kNoManager || status.reason() == ErrorReason::kReplacedManager;
}

}  // namespace stria::wire
