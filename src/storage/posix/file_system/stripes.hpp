// Describes how a parallel file system has spread a file over its servers, found without its
// library.
//
// Lustre tells it in the extended attribute "lustre.lov". This is a binary record, either plain
// (v1, v3) or composite (a list of components, each for a stretch of the file). BeeGFS tells it by
// an ioctl. GPFS stripes and locks by its block, which stat tells. The answers are not trusted: a
// count or size of zero, or a record that is cut short, counts as not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace stria::storage {

struct StripeLayout {
  int64_t stripe_bytes = 0;  ///< > 0
  int stripe_count = 1;      ///< servers that hold the file; >= 1
};

/// Reads the value of "lustre.lov". In a composite layout the component that reaches farthest
/// counts, since it holds most of a large file. Components of stale mirrors, and those on the
/// metadata server, don't count. No value when the record says nothing that can be used.
std::optional<StripeLayout> parse_lustre_layout(std::span<const std::byte> record);

/// Asks the file system of `magic` (statfs) about an open file.
std::optional<StripeLayout> find_stripes(int descriptor, uint32_t magic);

inline constexpr uint32_t kLustreMagic = 0x0BD00BD0;
inline constexpr uint32_t kGpfsMagic = 0x47504653;
inline constexpr uint32_t kBeegfsMagic = 0x19830326;

}  // namespace stria::storage
