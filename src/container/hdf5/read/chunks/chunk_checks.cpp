#include "container/hdf5/read/chunks/chunk_checks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/chunks/shuffle.hpp"
#include "container/hdf5/form/chunk_tree.hpp"
#include "container/hdf5/read/chunks/stored_chunks.hpp"
#include "container/hdf5/read/chunks/szip.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/stored/nbit_values.hpp"
#include "container/hdf5/read/types/spaces.hpp"

namespace stria::container::h5 {

namespace {

constexpr H5Z_filter_t kSzipFilter = H5Z_FILTER_SZIP;
constexpr H5Z_filter_t kNbitFilter = H5Z_FILTER_NBIT;
constexpr int64_t kLibrarySizeMax = INT64_C(0xffffffff);  // the most bytes of a chunk

struct PassedFilter {
  H5Z_filter_t id = 0;
  std::vector<unsigned> values;
};

/// A chunk on the way back through its filters.
struct Content {
  int64_t size = 0;
  bool is_known = true;  ///< its bytes are, and not the size alone
  std::vector<std::byte> bytes;

  void become(int64_t new_size) { *this = {.size = new_size, .is_known = false, .bytes = {}}; }
};

Status no_whole_chunk() {
  return Status(ErrorCode::kCorrupted, "it is shorter than its filters read, or they make no whole chunk of it");
}

// Its codes may end early, which shows only when they are decoded.
Status undo_szip(const PassedFilter& filter, int64_t chunk_bytes, Content& content) {
  constexpr size_t kHeadBytes = 4;  // the size before
  if (content.size < static_cast<int64_t>(kHeadBytes)) {
    return no_whole_chunk();
  }
  if (!content.is_known) {
    content.become(chunk_bytes);
    return Status();
  }
  const int64_t size = Decoder(content.bytes).number(kHeadBytes);
  if (size > FilterPipeline::stored_bytes_max(chunk_bytes)) {
    return no_whole_chunk();
  }
  std::vector<std::byte> decoded(static_cast<size_t>(size));
  const auto filled = decode_szip(filter.values, std::span(content.bytes).subspan(kHeadBytes), decoded);
  if (!filled) {
    content.become(size);
    return Status();
  }
  content = {.size = size, .is_known = true, .bytes = std::move(decoded)};
  return static_cast<int64_t>(*filled) == size ? Status() : no_whole_chunk();
}

Status undo_nbit(const PassedFilter& filter, Content& content) {
  constexpr size_t kBeforeElement = 3;
  if (filter.values.size() < kBeforeElement || filter.values[0] != filter.values.size()) {
    return no_whole_chunk();
  }
  if (filter.values[1] != 0) {
    return Status();  // it does nothing
  }
  const auto bytes = std::as_bytes(std::span(filter.values).subspan(kBeforeElement));
  Decoder decoder(bytes);
  const auto element = nbit_element(decoder);
  const int64_t elements = filter.values[2];
  int64_t bits = 0;
  int64_t size = 0;
  if (!element || !checked_multiply(elements, element->bits, &bits) || !checked_multiply(elements, element->bytes, &size) ||
      size > kLibrarySizeMax || bits / 8 + (bits % 8 != 0 ? 1 : 0) > content.size) {
    return no_whole_chunk();
  }
  content.become(size);
  return Status();
}

// The values are the kind of scale, its factor, the elements, whether they are floating-point
// numbers, and their size; before the codes come how many bits each has, and the least element.
Status undo_scale_offset(const PassedFilter& filter, Content& content) {
  constexpr size_t kValues = 20, kFactor = 1, kElements = 2, kIsFloat = 3, kBytes = 4;
  constexpr int64_t kHeadBytes = 21;
  if (filter.values.size() != kValues || filter.values[kBytes] < 1 || filter.values[kBytes] > sizeof(uint64_t)) {
    return no_whole_chunk();
  }
  const int64_t element_bits = 8 * static_cast<int64_t>(filter.values[kBytes]);
  if (filter.values[kIsFloat] == 0 && filter.values[kFactor] == element_bits) {
    return Status();  // it does nothing
  }
  const int64_t size = static_cast<int64_t>(filter.values[kElements]) * filter.values[kBytes];
  const int64_t bits = content.is_known ? Decoder(content.bytes).number(sizeof(uint32_t)) : element_bits;
  const int64_t codes = static_cast<int64_t>(filter.values[kElements]) * bits;
  if (size > kLibrarySizeMax || bits > element_bits || content.size < kHeadBytes ||
      (content.is_known && (codes + 7) / 8 > content.size - kHeadBytes)) {
    return no_whole_chunk();
  }
  content.become(size);
  return Status();
}

Status undo_shuffle(const PassedFilter& filter, Content& content) {
  if (content.is_known && !filter.values.empty() && filter.values[0] > 1) {
    const std::vector<std::byte> before = std::move(content.bytes);
    content.bytes.resize(before.size());
    unshuffle(before, content.bytes, filter.values[0]);
  }
  return Status();
}

Status undo_sum(Content& content) {
  constexpr int64_t kSumBytes = 4;
  if (content.size < kSumBytes) {
    return no_whole_chunk();
  }
  content.size -= kSumBytes;
  content.bytes.resize(content.is_known ? static_cast<size_t>(content.size) : 0);
  return Status();
}

class FilteredChunks {
 public:
  FilteredChunks(std::vector<PassedFilter> filters, int64_t chunk_bytes)
      : filters_(std::move(filters)), chunk_bytes_(chunk_bytes) {}
  Status check(const ChunkAsStored& chunk) const;

 private:
  std::vector<PassedFilter> filters_;
  int64_t chunk_bytes_;
};

Status FilteredChunks::check(const ChunkAsStored& chunk) const {
  Content content{.size = static_cast<int64_t>(chunk.bytes.size()), .is_known = true, .bytes = chunk.bytes};
  for (size_t i = filters_.size(); i-- > 0;) {
    const PassedFilter& filter = filters_[i];
    if ((chunk.skipped >> i & 1) != 0) {
      continue;
    }
    Status status;
    switch (filter.id) {
      case kShuffleFilter:
        status = undo_shuffle(filter, content);
        break;
      case kFletcher32Filter:
        status = undo_sum(content);
        break;
      case kSzipFilter:
        status = undo_szip(filter, chunk_bytes_, content);
        break;
      case kNbitFilter:
        status = undo_nbit(filter, content);
        break;
      case kScaleOffsetFilter:
        status = undo_scale_offset(filter, content);
        break;
      default:
        return Status();  // what it makes isn't known
    }
    STRIA_RETURN_IF_ERROR(status);
  }
  return content.size == chunk_bytes_ ? Status() : no_whole_chunk();
}

Result<std::vector<PassedFilter>> filters_of(hid_t creation) {
  std::vector<PassedFilter> filters;
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    size_t values = 0;
    PassedFilter filter;
    H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    filter.values.resize(values);
    filter.id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, filter.values.data(), 0, nullptr, &config);
    if (filter.id < 0 || values != filter.values.size()) {
      return last_error(ErrorCode::kCorrupted, "its filters can't be read");
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

bool takes_a_look(const PassedFilter& filter) {
  return filter.id == kSzipFilter || filter.id == kNbitFilter || filter.id == kScaleOffsetFilter;
}

}  // namespace

Status check_filtered_chunks(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count) {
  const Id creation(H5Dget_create_plist(dataset));
  const Part part{start, count};
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED || part.is_empty()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(auto filters, filters_of(creation.get()));
  if (std::none_of(filters.begin(), filters.end(), takes_a_look)) {
    return Status();
  }
  const Id type(H5Dget_type(dataset));
  const Id space(H5Dget_space(dataset));
  DatasetSpec spec;
  spec.element.kind = ElementSpec::Kind::kOther;
  spec.element.bytes = static_cast<int64_t>(H5Tget_size(type.get()));
  STRIA_ASSIGN_OR_RETURN(spec.dims, dims_of(space.get()));
  std::vector<hsize_t> lengths(spec.dims.size());
  if (H5Pget_chunk(creation.get(), static_cast<int>(lengths.size()), lengths.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "its chunks can't be read");
  }
  spec.chunking.emplace().dims.assign(lengths.begin(), lengths.end());
  spec.extendable = true;  // chunks may be longer
  if (!check_chunking(spec).ok()) {
    return Status();
  }
  const ChunkGrid grid(spec);
  const FilteredChunks checks(std::move(filters), grid.chunk_bytes());
  return for_each_stored_chunk(dataset, grid, part, [&](const ChunkAsStored& chunk) { return checks.check(chunk); });
}

}  // namespace stria::container::h5
