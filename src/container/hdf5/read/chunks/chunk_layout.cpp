#include "container/hdf5/read/chunks/chunk_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "container/chunks/filter_pipeline.hpp"
#include "container/chunks/filters/scale_offset.hpp"
#include "container/chunks/filters/zfp_header.hpp"
#include "container/hdf5/form/chunk_tree.hpp"
#include "container/hdf5/form/sizes.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/types/element_types.hpp"
#include "container/hdf5/read/types/remade_types.hpp"

namespace stria::container::h5 {

namespace {

/// One filter of a pipeline, with its values.
struct Filter {
  H5Z_filter_t id = 0;
  size_t value_count = 0;
  std::array<unsigned, 32> values{};
  std::array<char, 64> name{};

  /// Returns those that there was room for.
  std::span<const unsigned> known_values() const { return std::span(values).first(std::min(value_count, values.size())); }
};

// Describes the mode of a ZFP filter, if it is one that we know.
std::string describe_zfp(const Filter& filter, const DatasetSpec& spec) {
  const auto known = zfp_filters(filter.known_values(), spec);
  if (!known) {
    return "zfp";
  }
  return known->zfp_reversible      ? "zfp(reversible)"
         : known->zfp_rate != 0     ? fmt::format("zfp(rate {:.3g})", known->zfp_rate)
         : known->zfp_absolute != 0 ? fmt::format("zfp(absolute {:.3g})", known->zfp_absolute)
                                    : fmt::format("zfp(relative {:.3g})", known->zfp_relative);
}

// The spec has the chunks' lengths.
std::string describe(const Filter& filter, const DatasetSpec& spec) {
  switch (filter.id) {
    case kShuffleFilter:
      return "shuffle";
    case kDeflateFilter:
      return fmt::format("deflate({})", filter.values[0]);
    case kZstdFilter:
      return fmt::format("zstd({})", filter.values[0]);
    case kFletcher32Filter:
      return "fletcher32";
    case kScaleOffsetFilter:
      return "scale_offset";
    case kZfpFilter:
      return describe_zfp(filter, spec);
    default:
      return filter.name[0] != '\0' ? std::string(filter.name.data()) : fmt::format("filter {}", filter.id);
  }
}

// The number of bits may be given, and then only says what a writer is to lose.
bool is_our_scale_offset(const Filter& filter, const DatasetSpec& spec) {
  constexpr size_t kGivenBits = 1;
  if (!takes_scale_offset(spec.element) || filter.values[kGivenBits] >= 8 * spec.element.bytes) {
    return false;
  }
  std::vector<uint32_t> expected = scale_offset_values(spec);
  expected[kGivenBits] = filter.values[kGivenBits];
  return std::equal(expected.begin(), expected.end(), filter.known_values().begin(), filter.known_values().end());
}

// Adds a filter behind those that are there; false when it isn't one of ours, or out of turn.
bool add(const Filter& filter, DatasetSpec& spec) {
  Filters& filters = spec.chunking->filters;
  switch (filter.id) {
    case kScaleOffsetFilter: {
      const bool fits = !filters.any() && is_our_scale_offset(filter, spec);
      filters.scale_offset = true;
      return fits;
    }
    case kZfpFilter: {
      const auto known = zfp_filters(filter.known_values(), spec);
      const bool fits = !filters.any() && known.has_value();
      filters = fits ? *known : filters;
      return fits;
    }
    case kShuffleFilter: {
      const int64_t element_bytes = shuffled_bytes(spec);
      const int64_t bytes = filter.value_count > 0 ? filter.values[0] : 0;
      const bool fits =
          !filters.shuffle && !filters.deflate && !filters.zstd && !filters.fletcher32 && bytes > 0 && bytes <= element_bytes;
      filters.shuffle = true;
      spec.chunking->shuffled_bytes = bytes;
      return fits;
    }
    case kDeflateFilter: {
      const bool fits = !filters.deflate && !filters.zstd && !filters.fletcher32;
      filters.deflate = true;
      return fits;
    }
    case kZstdFilter: {
      const bool fits = !filters.deflate && !filters.zstd && !filters.fletcher32;
      filters.zstd = true;
      return fits;
    }
    case kFletcher32Filter: {
      const bool fits = !filters.fletcher32;
      filters.fletcher32 = true;
      return fits;
    }
    default:
      return false;
  }
}

}  // namespace

Result<std::vector<std::byte>> fill_value_of(hid_t dataset, const ElementSpec& element) {
  const Id creation(H5Dget_create_plist(dataset));
  Id type(H5Dget_type(dataset));
  std::vector<KeptBits> kept;
  if (type.valid() && takes_library(type.get())) {
    kept = kept_bits(type.get(), element);
    STRIA_ASSIGN_OR_RETURN(type, remade_type(type.get(), element));
  }
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (!creation.valid() || !type.valid() || H5Pfill_value_defined(creation.get(), &defined) < 0) {
    return last_error(ErrorCode::kCorrupted, "its fill value can't be read");
  }
  std::vector<std::byte> value(defined == H5D_FILL_VALUE_USER_DEFINED ? H5Tget_size(type.get()) : 0);
  if (!value.empty() && H5Pget_fill_value(creation.get(), type.get(), value.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "its fill value can't be read");
  }
  extend_bits(kept, static_cast<int64_t>(value.size()), value);
  if (std::all_of(value.begin(), value.end(), [](std::byte byte) { return byte == std::byte{0}; })) {
    value.clear();
  }
  return value;
}

Result<Chunking> chunking_of(hid_t creation, const DatasetSpec& spec, std::string* names, bool* decodable) {
  std::array<hsize_t, kMostDimensions> dims{};
  const int rank = H5Pget_chunk(creation, static_cast<int>(dims.size()), dims.data());
  const int filter_count = H5Pget_nfilters(creation);
  if (rank < 0 || filter_count < 0) {
    return last_error(ErrorCode::kCorrupted, "its chunks can't be read");
  }
  DatasetSpec cut = spec;
  Chunking& chunking = cut.chunking.emplace();
  for (int i = 0; i < rank; ++i) {
    chunking.dims.push_back(static_cast<int64_t>(dims[static_cast<size_t>(i)]));
  }
  *decodable = true;
  for (int i = 0; i < filter_count; ++i) {
    Filter filter;
    unsigned flags = 0;
    unsigned config = 0;
    filter.value_count = filter.values.size();
    filter.id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &filter.value_count, filter.values.data(),
                               filter.name.size() - 1, filter.name.data(), &config);
    if (filter.id < 0) {
      return last_error(ErrorCode::kCorrupted, "its filters can't be read");
    }
    *names += (i > 0 ? " " : "") + describe(filter, cut);
    *decodable = add(filter, cut) && *decodable;
  }
  return chunking;
}

}  // namespace stria::container::h5
