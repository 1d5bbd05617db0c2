#include "storage/posix/file_system/stripes.hpp"

#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.hpp"

namespace stria::storage {

namespace {

// Magic numbers and places of Lustre's records, all little-endian.
constexpr uint32_t kPlainV1 = 0x0BD10BD0;
constexpr uint32_t kPlainV3 = 0x0BD30BD0;
constexpr uint32_t kPlainWithServers = 0x0BD50BD0;
constexpr uint32_t kComposite = 0x0BD60BD0;

constexpr size_t kPatternAt = 4;
constexpr size_t kStripeSizeAt = 24;
constexpr size_t kStripeCountAt = 28;
constexpr size_t kPlainBytes = 32;
constexpr uint32_t kPatternRaid0 = 0x001;
constexpr uint32_t kPatternMetadata = 0x100;  // the bytes lie on the metadata server
constexpr uint32_t kPatternMask = 0xFFFF;
constexpr uint16_t kAllServers = 0xFFFF;  // a component that isn't instantiated yet

constexpr size_t kEntryCountAt = 14;
constexpr size_t kCompositeBytes = 32;
constexpr size_t kStripeEntryBytes = 48;
constexpr size_t kEntryFlagsAt = 4;
constexpr size_t kEntryExtentEndAt = 16;
constexpr size_t kEntryOffsetAt = 24;
constexpr size_t kEntrySizeAt = 28;
constexpr uint32_t kStale = 0x1;
constexpr uint32_t kOffline = 0x8;

// No file system has larger stripes; a larger value is a damaged record.
constexpr int64_t kMostStripeBytes = int64_t{1} << 40;

/// \pre at + sizeof(T) <= record.size()
template <typename T>
T number_at(std::span<const std::byte> record, size_t at) {
  STRIA_ASSERT(at + sizeof(T) <= record.size(), at, record.size());
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(record[at + i]) << (8 * i)));
  }
  return value;
}

/// Reads a plain layout, even one whose count is not decided yet (0).
std::optional<StripeLayout> parse_plain(std::span<const std::byte> record) {
  if (record.size() < kPlainBytes) {
    return std::nullopt;
  }
  const uint32_t magic = number_at<uint32_t>(record, 0);
  if (magic != kPlainV1 && magic != kPlainV3 && magic != kPlainWithServers) {
    return std::nullopt;
  }
  const uint32_t pattern = number_at<uint32_t>(record, kPatternAt) & kPatternMask;
  const int64_t stripe_bytes = number_at<uint32_t>(record, kStripeSizeAt);
  if ((pattern & kPatternMetadata) != 0 || (pattern != 0 && (pattern & kPatternRaid0) == 0) || stripe_bytes == 0) {
    return std::nullopt;
  }
  const uint16_t count = number_at<uint16_t>(record, kStripeCountAt);
  return StripeLayout{stripe_bytes, count == kAllServers ? 0 : count};
}

std::optional<StripeLayout> parse_composite(std::span<const std::byte> record) {
  if (record.size() < kCompositeBytes) {
    return std::nullopt;
  }
  const size_t entries = number_at<uint16_t>(record, kEntryCountAt);
  if (entries > (record.size() - kCompositeBytes) / kStripeEntryBytes) {
    return std::nullopt;
  }
  std::optional<StripeLayout> farthest;
  uint64_t farthest_end = 0;
  int most_servers = 1;
  for (size_t i = 0; i < entries; ++i) {
    const auto entry = record.subspan(kCompositeBytes + i * kStripeEntryBytes, kStripeEntryBytes);
    const size_t offset = number_at<uint32_t>(entry, kEntryOffsetAt);
    const size_t bytes = number_at<uint32_t>(entry, kEntrySizeAt);
    if ((number_at<uint32_t>(entry, kEntryFlagsAt) & (kStale | kOffline)) != 0 || offset > record.size() ||
        bytes > record.size() - offset) {
      continue;
    }
    const auto layout = parse_plain(record.subspan(offset, bytes));
    const uint64_t end = number_at<uint64_t>(entry, kEntryExtentEndAt);
    if (!layout) {
      continue;
    }
    most_servers = std::max(most_servers, layout->stripe_count);
    if (!farthest || end > farthest_end) {
      farthest = layout;
      farthest_end = end;
    }
  }
  if (farthest && farthest->stripe_count == 0) {
    farthest->stripe_count = most_servers;
  }
  return farthest;
}

std::optional<StripeLayout> ask_lustre(int descriptor) {
  std::vector<std::byte> record(64 << 10);  // the largest that Linux hands out
  const ssize_t bytes = fgetxattr(descriptor, "lustre.lov", record.data(), record.size());
  return bytes <= 0 ? std::nullopt : parse_lustre_layout(std::span(record).first(static_cast<size_t>(bytes)));
}

std::optional<StripeLayout> ask_beegfs(int descriptor) {
  struct StripeInfo {
    unsigned pattern;
    unsigned chunk_bytes;
    uint16_t target_count;
  };
  StripeInfo info = {};
  if (ioctl(descriptor, _IOR('f', 25, StripeInfo), &info) != 0 || info.chunk_bytes == 0) {
    return std::nullopt;
  }
  return StripeLayout{info.chunk_bytes, std::max<int>(info.target_count, 1)};
}

}  // namespace

std::optional<StripeLayout> parse_lustre_layout(std::span<const std::byte> record) {
  if (record.size() < sizeof(uint32_t)) {
    return std::nullopt;
  }
  auto layout = number_at<uint32_t>(record, 0) == kComposite ? parse_composite(record) : parse_plain(record);
  if (!layout || layout->stripe_bytes > kMostStripeBytes) {
    return std::nullopt;
  }
  layout->stripe_count = std::max(layout->stripe_count, 1);
  return layout;
}

std::optional<StripeLayout> find_stripes(int descriptor, uint32_t magic) {
  if (magic == kLustreMagic) {
    return ask_lustre(descriptor);
  }
  return magic == kBeegfsMagic ? ask_beegfs(descriptor) : std::nullopt;
}

}  // namespace stria::storage
