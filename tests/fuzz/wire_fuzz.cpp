// Reads every message from any bytes. An accepted message is written again the same, and a region
// gives places within its limits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "wire/frame.hpp"
#include "wire/messages.hpp"
#include "wire/region.hpp"
#include "wire/standby.hpp"
#include "wire/tree.hpp"
#include "wire/trust/encryption.hpp"
#include "wire/upkeep.hpp"

namespace {

using namespace stria;

constexpr int kMostSteps = 500;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

template <typename Message>
void read(std::span<const std::byte> body, uint16_t version) {
  const auto message = wire::decode<Message>(body, version);
  if (!message.ok()) {
    require(message.status().code() == ErrorCode::kFormat);
    return;
  }
  // Numbers may be longer than necessary. What is written again must be read as the same message.
  const auto again = wire::encode(*message, version);
  require(again.size() <= body.size());
  const auto second = wire::decode<Message>(again, version);
  require(second.ok() && wire::encode(*second, version) == again);
}

template <typename... Messages>
void read_as_any(std::span<const std::byte> body) {
  (read<Messages>(body, wire::kVersion), ...);
  (read<Messages>(body, wire::kOldestVersion), ...);
}

void read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < wire::kHeaderBytes) {
    return;
  }
  const auto head = bytes.first<wire::kHeaderBytes>();
  const auto header = wire::decode_header(head);
  require(!header.ok() || (header->body_bytes <= wire::kMaxBodyBytes && header->payload_bytes <= wire::kMaxPayloadBytes));
  static_cast<void>(wire::check_body(head, bytes.subspan(wire::kHeaderBytes)));
}

void walk_region(std::span<const std::byte> body) {
  wire::Reader reader(body);
  wire::Transfer transfer;
  transfer.get(reader);
  if (reader.failed()) {
    return;
  }
  const auto region = wire::Region::decode(reader);
  if (!region.ok()) {
    require(region.status().code() == ErrorCode::kFormat);
    return;
  }
  wire::SlotWalk walk(*region, transfer.layout, transfer.slot);
  for (int step = 0; step < kMostSteps; ++step) {
    int64_t looks = 1 + step;
    const PieceRow row = walk.next(&looks);
    require(looks >= 0);
    if (row.count == 0) {
      require(walk.done() || looks == 0);
      if (walk.done()) {
        break;
      }
      continue;
    }
    require(row.begin >= 0 && row.piece_bytes > 0 && row.end() < int64_t{1} << 62);
    require(row.count == 1 || row.stride >= row.piece_bytes);
    for (const int64_t place : {row.begin, row.end() - 1}) {
      const int64_t in_file = transfer.layout.place_of(transfer.slot, place);
      require(transfer.layout.slot_of(in_file) == transfer.slot && transfer.layout.below(transfer.slot, in_file) == place);
    }
  }
}

// Nobody has the key, so nothing may come out. Nothing beyond the longest record is asked for.
void open_records(std::span<const std::byte> bytes) {
  wire::RecordOpener opener(wire::RecordKey{});
  while (true) {
    const auto opened = opener.opened();
    if (!opened.ok()) {
      require(opened.status().code() == ErrorCode::kCorrupted);
      return;
    }
    require(opened->empty());
    if (bytes.empty()) {
      return;
    }
    const auto room = opener.room();
    require(!room.empty() && room.size() <= wire::kRecordHeadBytes + wire::kMaxRecordBytes);
    const size_t now = std::min({room.size(), bytes.size(), size_t{1} + static_cast<size_t>(bytes[0])});
    std::copy_n(bytes.begin(), now, room.begin());
    opener.received(now);
    bytes = bytes.subspan(now);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_header(bytes);
  read_as_any<wire::Failure, wire::Hello, wire::Challenge, wire::KeyProof, wire::Credential, wire::Open, wire::Opened,
              wire::Handle, wire::Path, wire::Renewed, wire::NewDirectory, wire::SetOwnership, wire::Rename, wire::Attributes,
              wire::List, wire::Listed, wire::Pulse, wire::PulseAnswer, wire::StoreServers, wire::Extent, wire::LocalFile,
              wire::Scrub, wire::Scrubbed, wire::Figures, wire::LockRange, wire::Answer, wire::Retire, wire::Retired>(bytes);
  read_as_any<wire::ServerCondition, wire::Conditions, wire::NewFiles, wire::Backup, wire::BackupPart, wire::Parts,
              wire::PartsListed, wire::Named, wire::NamedListed, wire::PartsOf, wire::PartsKnown, wire::Paths, wire::Adopt,
              wire::Discarded>(bytes);
  read_as_any<wire::Look, wire::Looked, wire::LookedAll, wire::Made, wire::Handles, wire::Change, wire::NewLink,
              wire::SetAttribute, wire::GetAttribute, wire::UserAttributes, wire::ExtentsOf, wire::Extents>(bytes);
  read_as_any<wire::Role, wire::RoleTold, wire::Follow, wire::Followed, wire::Promote, wire::Promoted>(bytes);
  walk_region(bytes);
  open_records(bytes);
  return 0;
}
