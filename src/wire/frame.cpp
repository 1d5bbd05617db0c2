#include "wire/frame.hpp"

#include <string>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "wire/codec.hpp"

namespace stria::wire {

namespace {

constexpr uint32_t kMagic = 0x31525453;  // "STR1"
constexpr uint32_t kMore = 1;
constexpr size_t kSummedBytes = kHeaderBytes - 2 * sizeof(uint32_t);

uint32_t short_sum(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(hash_bytes(bytes));
}

}  // namespace

std::vector<std::byte> encode_head(Header header, std::span<const std::byte> body) {
  STRIA_CHECK(body.size() <= kMaxBodyBytes, body.size());
  std::vector<std::byte> out;
  out.reserve(kHeaderBytes + body.size());
  Writer writer(out);
  writer.fixed(kMagic);
  writer.fixed(kVersion);
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

Result<Header> decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  Reader reader(bytes);
  if (reader.fixed<uint32_t>() != kMagic) {
    return Status(ErrorCode::kFormat, "what arrived is not a message of this protocol");
  }
  if (const auto version = reader.fixed<uint16_t>(); version != kVersion) {
    return Status(ErrorCode::kUnsupported, "the other side speaks version " + std::to_string(version) +
                                               " of the protocol, this one " + std::to_string(kVersion));
  }
  Header header;
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
