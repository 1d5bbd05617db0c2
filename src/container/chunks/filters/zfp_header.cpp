#include "container/chunks/filters/zfp_header.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace stria::container {

namespace {

// The first value: ZFP 1.0.0, its stream's version 5, the filter's version 1.1.1.
constexpr uint32_t kVersions = 0x10005111;
// "zfp" and the stream's version.
constexpr uint32_t kMagic = 0x0570667a;
constexpr size_t kValues = 4;

// The lengths less one share 48 bits; then follow, with 2 bits each, their number less one and
// the type less one.
constexpr size_t kMostDims = 4;
constexpr int kBitsOfALength[kMostDims + 1] = {0, 48, 24, 16, 12};
constexpr int kFieldBits = 52;
constexpr uint64_t kFloat32 = 2;
constexpr uint64_t kFloat64 = 3;

// A mode has 12 bits: 2,048 of rates, by the bits of a block, 128 of precisions, one reversible,
// then accuracies by the exponent of the bound.
constexpr uint64_t kFirstPrecision = 2048;
constexpr int kMostPrecision = 64;
constexpr uint64_t kReversible = kFirstPrecision + 128;
constexpr uint64_t kFirstAccuracy = kReversible + 1;
constexpr uint64_t kLastAccuracy = 4094;
constexpr int kLeastExponent = -1074;

Status refused(const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, "ZFP " + why);
}

uint64_t field_of(const DatasetSpec& spec) {
  const std::vector<int64_t> dims = zfp_dims(spec);
  uint64_t field = 0;
  for (const int64_t size : dims) {
    field = field << kBitsOfALength[dims.size()] | static_cast<uint64_t>(size - 1);
  }
  const uint64_t type = spec.element.number == ElementType::kFloat32 ? kFloat32 : kFloat64;
  return (field << 2 | (dims.size() - 1)) << 2 | type;
}

// A block has 4 numbers in each dimension.
double numbers_of_block(size_t dims) {
  return static_cast<double>(int64_t{1} << (2 * dims));
}

// ZFP takes no fewer: those of a block's exponent, and one more.
int least_block_bits(const DatasetSpec& spec) {
  return spec.element.number == ElementType::kFloat32 ? 9 : 12;
}

// So many bit planes of a block's numbers keep its errors below this part of its greatest
// magnitude: those of the bound itself, one for the magnitude's own exponent, and those by which
// ZFP's transform may let errors grow.
int planes_beyond_bound(size_t dims) {
  return 2 * (static_cast<int>(dims) + 1) + 1;
}

}  // namespace

std::vector<int64_t> zfp_dims(const DatasetSpec& spec) {
  std::vector<int64_t> dims;
  std::copy_if(spec.chunking->dims.begin(), spec.chunking->dims.end(), std::back_inserter(dims),
               [](int64_t size) { return size > 1; });
  return dims;
}

namespace {

Status check_mode(const Filters& filters, size_t dims) {
  const int modes = (filters.zfp_absolute != 0 ? 1 : 0) + (filters.zfp_relative != 0 ? 1 : 0) +
                    (filters.zfp_rate != 0 ? 1 : 0) + (filters.zfp_reversible ? 1 : 0);
  if (modes != 1) {
    return refused("takes an absolute or a relative bound, or a rate, or is reversible");
  }
  const auto above_0 = [](double number) { return number > 0 && std::isfinite(number); };
  if (filters.zfp_absolute != 0 && !above_0(filters.zfp_absolute)) {
    return refused("takes an absolute bound above 0");
  }
  if (filters.zfp_relative != 0 && (!above_0(filters.zfp_relative) || filters.zfp_relative >= 1)) {
    return refused("takes a relative bound above 0 and below 1");
  }
  const double most = static_cast<double>(kFirstPrecision) / numbers_of_block(dims);
  if (filters.zfp_rate != 0 && (!above_0(filters.zfp_rate) || filters.zfp_rate > most)) {
    return refused("takes a rate above 0 and up to " + std::to_string(static_cast<int>(most)) + " bits in " +
                   std::to_string(dims) + " dimensions");
  }
  return Status();
}

}  // namespace

Status check_zfp(const DatasetSpec& spec) {
  const ElementSpec& element = spec.element;
  if (element.kind != ElementSpec::Kind::kNumber || element.meaning != Meaning::kNumber ||
      (element.number != ElementType::kFloat32 && element.number != ElementType::kFloat64)) {
    return refused("takes float32 and float64");
  }
  if (element.is_swapped()) {
    return refused("takes numbers in the machine's byte order");
  }
  const std::vector<int64_t> dims = zfp_dims(spec);
  if (dims.empty() || dims.size() > kMostDims) {
    return refused("takes chunks of 1 to 4 dimensions longer than 1; these have " + std::to_string(dims.size()));
  }
  const int64_t longest = int64_t{1} << kBitsOfALength[dims.size()];
  if (*std::max_element(dims.begin(), dims.end()) > longest) {
    return refused("takes chunks of " + std::to_string(dims.size()) + " dimensions of at most " + std::to_string(longest));
  }
  return check_mode(spec.chunking->filters, dims.size());
}

uint64_t zfp_mode(const DatasetSpec& spec) {
  const Filters& filters = spec.chunking->filters;
  if (filters.zfp_absolute != 0) {
    const int exponent = std::max(std::ilogb(filters.zfp_absolute), kLeastExponent);
    return std::min(kFirstAccuracy + static_cast<uint64_t>(exponent - kLeastExponent), kLastAccuracy);
  }
  if (filters.zfp_reversible) {
    return kReversible;
  }
  if (filters.zfp_rate != 0) {
    const double bits = std::floor(filters.zfp_rate * numbers_of_block(zfp_dims(spec).size()) + 0.5);
    return static_cast<uint64_t>(
               std::clamp(static_cast<int>(bits), least_block_bits(spec), static_cast<int>(kFirstPrecision))) -
           1;
  }
  const int planes = planes_beyond_bound(zfp_dims(spec).size()) - std::ilogb(filters.zfp_relative);
  return kFirstPrecision + static_cast<uint64_t>(std::clamp(planes, 1, kMostPrecision) - 1);
}

std::vector<uint32_t> zfp_values(const DatasetSpec& spec) {
  const uint64_t header = field_of(spec) | zfp_mode(spec) << kFieldBits;
  return {kVersions, kMagic, static_cast<uint32_t>(header), static_cast<uint32_t>(header >> 32)};
}

std::optional<Filters> zfp_filters(std::span<const uint32_t> values, const DatasetSpec& spec) {
  if (values.size() != kValues || values[1] != kMagic) {
    return std::nullopt;
  }
  const uint64_t header = static_cast<uint64_t>(values[3]) << 32 | values[2];
  const uint64_t mode = header >> kFieldBits;
  DatasetSpec bounded = spec;
  Filters& filters = bounded.chunking->filters;
  filters = {};
  if (mode < kFirstPrecision) {
    filters.zfp_rate = static_cast<double>(mode + 1) / numbers_of_block(zfp_dims(spec).size());
  } else if (mode == kReversible) {
    filters.zfp_reversible = true;
  } else if (mode >= kFirstAccuracy && mode <= kLastAccuracy) {
    filters.zfp_absolute = std::ldexp(1.0, static_cast<int>(mode - kFirstAccuracy) + kLeastExponent);
  } else if (mode >= kFirstPrecision && mode < kFirstPrecision + kMostPrecision) {
    const int planes = static_cast<int>(mode - kFirstPrecision) + 1;
    filters.zfp_relative = std::ldexp(1.0, planes_beyond_bound(zfp_dims(spec).size()) - planes);
  }
  const bool is_ours = filters.zfp() && (check_zfp(bounded).ok() || filters.zfp_relative >= 1);
  if (!is_ours || zfp_values(bounded)[2] != values[2] || zfp_values(bounded)[3] != values[3]) {
    return std::nullopt;
  }
  return filters;
}

}  // namespace stria::container
