#include "wire/frame.hpp"

#include <string>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "wire/form/codec.hpp"

namespace stria::wire {

namespace {

constexpr uint32_t kMagic = 0x31525453;  // "STR1"
constexpr uint32_t kMore = 1;
constexpr size_t kSummedBytes = kHeaderBytes - 2 * sizeof(uint32_t);

uint32_t short_sum(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(hash_bytes(bytes));
}

std::string spoken_versions(uint16_t newest) {
  const std::string last = std::to_string(newest);
  return newest == kOldestVersion ? last : std::to_string(kOldestVersion) + " to " + last;
}

}  // namespace

std::vector<std::byte> encode_head(Header header, std::span<const std::byte> body) {
  STRIA_CHECK(body.size() <= kMaxBodyBytes, body.size());
  std::vector<std::byte> out;
  out.reserve(kHeaderBytes + body.size());
  Writer writer(out);
  writer.fixed(kMagic);
  writer.fixed(header.version);
  writer.fixed(static_cast<uint16_t>(header.kind));
  writer.fixed(header.request);
  writer.fixed(header.deadline_ms);
  writer.fixed(static_cast<uint32_t>(body.size()));
  writer.fixed(header.payload_bytes);
  writer.fixed(header.more ? kMore : uint32_t{0});
  writer.fixed(header.payload_sum);
  writer.fixed(short_sum(out));
  writer.fixed(short_sum(body));
  writer.bytes(body);
  return out;
}

Result<Header> decode_header(std::span<const std::byte, kHeaderBytes> bytes, uint16_t newest) {
  Reader reader(bytes);
  if (reader.fixed<uint32_t>() != kMagic) {
    return Status(ErrorCode::kFormat, "what arrived is not a message of this protocol");
  }
  Header header;
  header.version = reader.fixed<uint16_t>();
  if (header.version < kOldestVersion || header.version > newest) {
    return Status(ErrorCode::kUnsupported, "the other side speaks version " + std::to_string(header.version) +
                                               " of the protocol, this one " + spoken_versions(newest) + ": upgrade " +
                                               (header.version < kOldestVersion ? "the other first" : "this one first"));
  }
  header.kind = static_cast<Kind>(reader.fixed<uint16_t>());
  header.request = reader.fixed<uint64_t>();
  header.deadline_ms = reader.fixed<uint32_t>();
  header.body_bytes = reader.fixed<uint32_t>();
  header.payload_bytes = reader.fixed<uint32_t>();
  const auto flags = reader.fixed<uint32_t>();
  header.more = (flags & kMore) != 0;
  header.payload_sum = reader.fixed<uint64_t>();
  if (reader.fixed<uint32_t>() != short_sum(bytes.first<kSummedBytes>())) {
    return Status(ErrorCode::kCorrupted, "a message changed on its way");
  }
  if (header.body_bytes > kMaxBodyBytes || header.payload_bytes > kMaxPayloadBytes || (flags & ~kMore) != 0) {
    return Status(ErrorCode::kFormat, "a message is beyond the protocol's limits");
  }
  return header;
}

Status check_body(std::span<const std::byte, kHeaderBytes> header, std::span<const std::byte> body) {
  Reader reader(header.last<sizeof(uint32_t)>());
  const bool same = reader.fixed<uint32_t>() == short_sum(body);
  return same ? Status() : Status(ErrorCode::kCorrupted, "a message changed on its way");
}

}  // namespace stria::wire
