#include "container/hdf5/read/chunk_layout.hpp"

#include <algorithm>
#include <array>

#include "container/hdf5/chunk_tree.hpp"
#include "container/hdf5/read/library.hpp"
#include "container/hdf5/sizes.hpp"

namespace stria::container::h5 {

namespace {

/// One filter of a pipeline, with the first of its values.
struct Filter {
  H5Z_filter_t id = 0;
  size_t value_count = 0;
  unsigned value = 0;
  std::array<char, 64> name{};
};

std::string describe(const Filter& filter) {
  switch (filter.id) {
    case kShuffleFilter:
      return "shuffle";
    case kDeflateFilter:
      return "deflate(" + std::to_string(filter.value) + ")";
    case kZstdFilter:
      return "zstd(" + std::to_string(filter.value) + ")";
    case kFletcher32Filter:
      return "fletcher32";
    default:
      return filter.name[0] != '\0' ? std::string(filter.name.data()) : "filter " + std::to_string(filter.id);
  }
}

// Adds a filter behind those that are there; false when it isn't one of ours, or out of turn.
bool add(const Filter& filter, int64_t element_bytes, Filters& filters) {
  switch (filter.id) {
    case kShuffleFilter: {
      const bool fits = !filters.any() && filter.value_count > 0 && filter.value == static_cast<unsigned>(element_bytes);
      filters.shuffle = true;
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

Result<std::vector<std::byte>> fill_value_of(hid_t dataset) {
  const Id creation(H5Dget_create_plist(dataset));
  const Id type(H5Dget_type(dataset));
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (!creation.valid() || !type.valid() || H5Pfill_value_defined(creation.get(), &defined) < 0) {
    return last_error(ErrorCode::kCorrupted, "its fill value can't be read");
  }
  std::vector<std::byte> value(defined == H5D_FILL_VALUE_USER_DEFINED ? H5Tget_size(type.get()) : 0);
  if (!value.empty() && H5Pget_fill_value(creation.get(), type.get(), value.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "its fill value can't be read");
  }
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
  Chunking chunking;
  for (int i = 0; i < rank; ++i) {
    chunking.dims.push_back(static_cast<int64_t>(dims[static_cast<size_t>(i)]));
  }
  *decodable = spec.element.kind == ElementSpec::Kind::kNumber;
  for (int i = 0; i < filter_count; ++i) {
    Filter filter;
    unsigned flags = 0;
    unsigned config = 0;
    std::array<unsigned, 8> values{};
    filter.value_count = values.size();
    filter.id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &filter.value_count, values.data(),
                               filter.name.size() - 1, filter.name.data(), &config);
    if (filter.id < 0) {
      return last_error(ErrorCode::kCorrupted, "its filters can't be read");
    }
    filter.value = values[0];
    *names += (i > 0 ? " " : "") + describe(filter);
    *decodable = add(filter, spec.element.bytes, chunking.filters) && *decodable;
  }
  return chunking;
}

}  // namespace stria::container::h5
