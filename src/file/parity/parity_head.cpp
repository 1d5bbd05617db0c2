#include "file/parity/parity_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/byte_range.hpp"
#include "base/hash.hpp"
#include "file/checksums/seal.hpp"
#include "file/meet/message_fields.hpp"
#include "file/parity/parity_code.hpp"
#include "file/parts/part_names.hpp"

namespace stria::file {

namespace {

constexpr std::string_view kMagic = "STRIAPAR";
constexpr int64_t kVersion = 1;
constexpr int64_t kFixedBytes = 24;         // the magic, the mark, the length of what follows
constexpr int64_t kTableAlignBytes = 4096;  // the bytes of records and units
constexpr int64_t kMostHeadBytes = 128 << 10;
constexpr int64_t kStretches = 16;

std::vector<std::byte> content_of(const ParityHead& head, int number) {
  FieldWriter fields;
  fields.number(kVersion);
  fields.number(number);
  fields.text(head.file_name);
  fields.number(head.generation);
  fields.bytes(head.identity);
  fields.number(head.unit_bytes);
  fields.number(head.parities);
  fields.number(head.member_count());
  for (const ParityMember& member : head.members) {
    fields.text(member.name);
    fields.number(member.begin);
    fields.number(member.bytes);
  }
  return with_own_sum(fields.take());
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string("/\0", 2)) == std::string::npos;
}

// Whatever a damaged or hostile file claims, offsets stay far from the end of the numbers.
bool makes_sense(const ParityHead& head, int number) {
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  const bool sound = is_plain_name(head.file_name) && head.generation >= 0 &&
                     (head.unit_bytes == ParityHead::kLargeUnitBytes || head.unit_bytes == ParityHead::kSmallUnitBytes) &&
                     head.parities >= 1 && !head.members.empty() && head.unit_count() <= ParityCode::kMostUnits &&
                     number >= 0 && number < head.parities;
  return sound && std::all_of(head.members.begin(), head.members.end(), [&](const ParityMember& member) {
           return is_plain_name(member.name) && member.begin >= 0 && member.bytes >= 0 && member.begin <= kMostBytes &&
                  member.bytes <= kMostBytes;
         });
}

Result<ReadHead> decode(std::span<const std::byte> summed, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const std::span<const std::byte> content, without_own_sum(summed, path));
  FieldReader fields(content);
  ReadHead read;
  ParityHead& head = read.head;
  if (const int64_t version = fields.number(); version != kVersion) {
    return Status(ErrorCode::kFormat,
                  fmt::format("'{}' is parity of version {}, which this version of Stria doesn't know", path, version));
  }
  const int64_t number = fields.number();
  head.file_name = fields.text();
  head.generation = fields.number();
  const auto identity = fields.bytes();
  bool sound = identity.size() == head.identity.size();
  std::copy_n(identity.begin(), sound ? identity.size() : 0, head.identity.begin());
  head.unit_bytes = fields.number();
  const int64_t parities = fields.number();
  const int64_t members = fields.number();
  sound = sound && std::clamp<int64_t>(parities, 1, ParityCode::kMostUnits) == parities &&
          std::clamp<int64_t>(members, 1, ParityCode::kMostUnits) == members &&
          std::clamp<int64_t>(number, 0, ParityCode::kMostUnits) == number;
  head.parities = sound ? static_cast<int>(parities) : 0;
  read.number = sound ? static_cast<int>(number) : 0;
  for (int64_t left = members; sound && left > 0; --left) {
    ParityMember& member = head.members.emplace_back();
    member.name = fields.text();
    member.begin = fields.number();
    member.bytes = fields.number();
  }
  if (!sound || !fields.is_whole() || !makes_sense(head, read.number)) {
    return Status(ErrorCode::kFormat, fmt::format("the head of '{}' makes no sense", path));
  }
  return read;
}

}  // namespace

int64_t ParityHead::longest_bytes() const {
  int64_t longest = 0;
  for (const ParityMember& member : members) {
    longest = std::max(longest, member.bytes);
  }
  return longest;
}

int64_t ParityHead::bytes_of(int64_t stripe, int unit) const {
  const int64_t whole = unit < member_count() ? members[static_cast<size_t>(unit)].bytes : longest_bytes();
  return std::clamp<int64_t>(whole - stripe * unit_bytes, 0, unit_bytes);
}

int64_t ParityHead::records_begin() const {
  return align_up(kFixedBytes + static_cast<int64_t>(content_of(*this, 0).size()), kTableAlignBytes);
}

int64_t ParityHead::units_begin() const {
  return align_up(records_begin() + stripe_count() * record_bytes(), kTableAlignBytes);
}

std::string ParityHead::parity_name(int number) const {
  return file::parity_name(file_name, generation, number);
}

std::vector<std::byte> ParityHead::encode(int number) const {
  const std::vector<std::byte> content = content_of(*this, number);
  const auto bytes = static_cast<int64_t>(content.size());
  std::vector<std::byte> head(static_cast<size_t>(kFixedBytes) + content.size());
  std::memcpy(head.data(), kMagic.data(), kMagic.size());
  std::memcpy(head.data() + ParityHead::kMarkOffset + 8, &bytes, sizeof bytes);
  std::copy(content.begin(), content.end(), head.begin() + kFixedBytes);
  return head;
}

std::array<std::byte, 8> mark_of(const ParityHead& head) {
  const uint64_t sum = sum_of(head.identity);
  std::array<std::byte, 8> mark{};
  std::memcpy(mark.data(), &sum, sizeof sum);
  return mark;
}

Result<ReadHead> decode_head(std::span<const std::byte> encoded, const std::string& path) {
  int64_t bytes = 0;
  const bool is_whole = encoded.size() >= static_cast<size_t>(kFixedBytes);
  if (is_whole) {
    std::memcpy(&bytes, encoded.data() + ParityHead::kMarkOffset + 8, sizeof bytes);
  }
  const auto left = static_cast<int64_t>(encoded.size()) - kFixedBytes;
  if (!is_whole || std::memcmp(encoded.data(), kMagic.data(), kMagic.size()) != 0 || bytes < 0 || bytes > left) {
    return Status(ErrorCode::kFormat, fmt::format("'{}' has no head of a parity file", path));
  }
  STRIA_ASSIGN_OR_RETURN(ReadHead read, decode(encoded.subspan(kFixedBytes, static_cast<size_t>(bytes)), path));
  const auto mark = mark_of(read.head);
  read.is_committed = std::equal(mark.begin(), mark.end(), encoded.begin() + ParityHead::kMarkOffset);
  return read;
}

Result<ReadHead> read_head(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size, file.size());
  std::vector<std::byte> encoded(static_cast<size_t>(std::min(size, kMostHeadBytes)));
  const storage::ReadSegment segment{0, encoded.data(), static_cast<int64_t>(encoded.size())};
  if (encoded.empty()) {
    return decode_head(encoded, file.path());
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t got, file.read(std::span(&segment, 1)));
  return decode_head(std::span(encoded).first(static_cast<size_t>(got)), file.path());
}

std::vector<uint64_t> sealed_record(std::vector<uint64_t> sums) {
  sums.push_back(sum_of(std::as_bytes(std::span(sums))));
  return sums;
}

bool is_sound_record(const std::vector<uint64_t>& record) {
  return record.back() == sum_of(std::as_bytes(std::span(record).first(record.size() - 1)));
}

int64_t unit_bytes_for(int64_t longest_bytes) {
  return longest_bytes < ParityHead::kLargeUnitBytes ? ParityHead::kSmallUnitBytes : ParityHead::kLargeUnitBytes;
}

// Stretches lie far apart, so that bytes that are lost together, however many up to a sixteenth of
// the file, meet each stripe once or twice.
std::vector<ParityMember> stretches_of(const std::string& name, int64_t file_bytes, int64_t unit_bytes) {
  const int64_t share = (file_bytes + kStretches - 1) / kStretches;
  const int64_t bytes = std::max((share + unit_bytes - 1) / unit_bytes, int64_t{1}) * unit_bytes;
  std::vector<ParityMember> members;
  for (int64_t begin = 0; begin < file_bytes || members.empty(); begin += bytes) {
    members.push_back({.name = name, .begin = begin, .bytes = std::min(bytes, file_bytes - begin)});
  }
  return members;
}

}  // namespace stria::file
