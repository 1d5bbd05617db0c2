// A frame, the unit that both sides send: a header, a body with the message's fields, and a payload
// with the data (docs/formats/wire.md).
//
// Invariant: no memory is reserved for a length before it is checked against the limits below, and
// no field is used before its checksum is verified.
// Cost: 48 bytes per frame; one pass of XXH3 over header and body, and one over the payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stria/status.hpp"
#include "wire/form/version.hpp"

namespace stria::wire {

inline constexpr size_t kHeaderBytes = 48;
inline constexpr size_t kMaxBodyBytes = size_t{1} << 20;
/// The largest payload: small enough to stay in the second-level cache between the
/// socket and the file.
inline constexpr size_t kMaxPayloadBytes = size_t{256} << 10;

/// Says what a frame is. A reply is its request's kind with the highest bit set.
enum class Kind : uint16_t {
  kHello = 0x01,
  kProof = 0x02,
  kData = 0x03,
  kOpen = 0x10,
  kClose = 0x11,
  kReclaim = 0x12,
  kStat = 0x13,
  kRename = 0x14,
  kRemove = 0x15,
  kList = 0x16,
  kMakeDirectory = 0x17,
  kSyncNames = 0x18,
  kServers = 0x19,
  kPulse = 0x1a,
  kSetOwnership = 0x1b,
  kRetire = 0x1c,
  kWrite = 0x20,
  kRead = 0x21,
  kExtent = 0x22,
  kResize = 0x23,
  kReserve = 0x24,
  kSync = 0x25,
  kLock = 0x26,
  kUnlock = 0x27,
  kIsLocked = 0x28,
  kScrub = 0x29,
  kStatus = 0x2a,
  kParts = 0x2b,
  kMovePart = 0x2c,
  kExtents = 0x2e,
  kCondition = 0x30,
  kConditions = 0x31,
  kNewFiles = 0x32,
  kBackup = 0x33,
  kNamed = 0x34,
  kKnown = 0x35,
  kPaths = 0x36,
  kAdopt = 0x37,
  kDiscard = 0x38,
  kMoveBegin = 0x40,
  kMoveCommit = 0x41,
  kMoveAbort = 0x42,
  kMoving = 0x43,
  kWhere = 0x44,
  kSetQuota = 0x48,
  kQuotas = 0x49,
  kUsage = 0x4a,
  kLook = 0x50,
  kLookAll = 0x51,
  kResolve = 0x52,
  kChange = 0x53,
  kMakeLink = 0x54,
  kLinkName = 0x55,
  kSetAttribute = 0x56,
  kGetAttribute = 0x57,
  kMake = 0x58,
  kCloseAll = 0x59,
  kRole = 0x5a,
  kFollow = 0x5b,
  kPromote = 0x5c,
  kReply = 0x8000,
  kError = 0xffff,    ///< instead of a reply
  kWorking = 0xfffe,  ///< the reply will take longer; the server lives
};

inline Kind reply_to(Kind request) {
  return static_cast<Kind>(static_cast<uint16_t>(request) | static_cast<uint16_t>(Kind::kReply));
}

/// Returns the version from which on there is that kind of request.
constexpr uint16_t first_version_of(Kind kind) {
  return kind >= Kind::kMake && kind <= Kind::kPromote ? 4 : kOldestVersion;
}

struct Header {
  uint16_t version = kVersion;
  Kind kind = Kind::kError;
  uint64_t request = 0;      ///< a reply has its request's number
  uint32_t deadline_ms = 0;  ///< how long the sender waits for the answer; 0: not said
  uint32_t body_bytes = 0;
  uint32_t payload_bytes = 0;
  bool more = false;  ///< the stream of data goes on in another frame
  uint64_t payload_sum = 0;
};

/// Encodes the header and the body as they travel; body_bytes is set from `body`. \pre body.size()
/// <= kMaxBodyBytes
std::vector<std::byte> encode_head(Header header, std::span<const std::byte> body);

/// Reads a header of a version up to `newest`. kUnsupported when it is of another, kFormat when it
/// is none, or beyond a limit, kCorrupted when it isn't as it was sent. So nobody waits for bytes
/// of a length that never was.
Result<Header> decode_header(std::span<const std::byte, kHeaderBytes> bytes, uint16_t newest = kVersion);

/// kCorrupted unless the body is what was sent with the header.
Status check_body(std::span<const std::byte, kHeaderBytes> header, std::span<const std::byte> body);

}  // namespace stria::wire
