#include "file/define/chunking.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filters/scale_offset.hpp"
#include "container/chunks/filters/zfp_codec.hpp"
#include "container/chunks/filters/zfp_header.hpp"

namespace stria::file {

namespace {

// Whole rows, or as much of a row, until a chunk has 256 KiB: what is made of it then stays in the
// second-level cache. A chunk that rows are appended to is written again each time, so that it has
// as many rows as make 16 KiB.
std::vector<int64_t> usual_chunk(const container::DatasetSpec& spec) {
  constexpr int64_t kUsualBytes = 256 << 10;
  constexpr int64_t kRewrittenBytes = 16 << 10;
  std::vector<int64_t> chunk(spec.dims.size(), 1);
  int64_t bytes = spec.element.bytes;
  for (size_t dim = spec.dims.size(); dim-- > 0;) {
    const bool grows = dim == 0 && spec.extendable;
    chunk[dim] =
        std::clamp<int64_t>((grows ? kRewrittenBytes : kUsualBytes) / bytes, 1, grows ? kRewrittenBytes : spec.dims[dim]);
    bytes *= chunk[dim];
  }
  return chunk;
}

// Tells whether chunks can pass all that they are to pass.
Status check_filters(const container::DatasetSpec& spec) {
  const auto refused = [](const std::string& why) { return Status(ErrorCode::kInvalidArgument, "its chunks: " + why); };
  const Filters& filters = spec.chunking->filters;
  if (filters.deflate && filters.zstd) {
    return refused("they pass either deflate or zstd");
  }
  if (filters.scale_offset && filters.shuffle) {
    return refused("scale-offset leaves no bytes of equal weight to be shuffled");
  }
  if (filters.scale_offset && !container::takes_scale_offset(spec.element)) {
    return refused("scale-offset takes integers");
  }
  if (!filters.zfp()) {
    return Status();
  }
  if (filters.shuffle || filters.deflate || filters.zstd || filters.scale_offset) {
    return refused("with ZFP they pass nothing else but fletcher32");
  }
  STRIA_RETURN_IF_ERROR(container::check_zfp(spec).with_context("its chunks"));
  return container::ZfpCodec::available();
}

}  // namespace

// One without elements, and one value alone, stay in one piece.
Status set_chunking(const DatasetOptions& options, container::DatasetSpec& spec) {
  const auto first = spec.dims.begin() + (spec.extendable ? 1 : 0);
  const bool has_several = !spec.dims.empty() && std::find(first, spec.dims.end(), 0) == spec.dims.end();
  if ((options.chunk.empty() && !options.filters.any() && !spec.extendable) || (options.chunk.empty() && !has_several)) {
    return Status();
  }
  const auto refused = [&](const std::string& why) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': {}", spec.path, why));
  };
  if (!has_several) {
    return refused("it has no elements, or is one value, and can't have chunks");
  }
  spec.chunking = container::Chunking{options.chunk.empty() ? usual_chunk(spec) : options.chunk, options.filters};
  STRIA_RETURN_IF_ERROR(container::check_chunking(spec).with_context(fmt::format("dataset '{}'", spec.path)));
  STRIA_RETURN_IF_ERROR(check_filters(spec).with_context(fmt::format("dataset '{}'", spec.path)));
  for (size_t dim = spec.extendable ? 1 : 0; dim < spec.dims.size(); ++dim) {
    if (spec.chunking->dims[dim] > spec.dims[dim]) {
      return refused(fmt::format("dimension {} of a chunk, {}, is longer than the dataset's, {}", dim, spec.chunking->dims[dim],
                                 spec.dims[dim]));
    }
  }
  return Status();
}

}  // namespace stria::file
