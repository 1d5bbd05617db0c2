#include "container/chunks/filter_pipeline.hpp"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "container/chunks/filters/scale_offset.hpp"
#include "container/chunks/libdeflate.hpp"
#include "container/chunks/shuffle.hpp"
#include "container/corrupted.hpp"

namespace stria::container {

namespace {

constexpr uint32_t kLevel = 1;
constexpr size_t kSumBytes = 4;

// The bits of a mask, one a filter that the dataset has.
struct MaskBits {
  FilterMask scale_offset = 0, zfp = 0, shuffle = 0, deflate = 0, zstd = 0, fletcher32 = 0;

  explicit MaskBits(const Filters& filters) {
    FilterMask bit = 1;
    for (const auto& [has, mask] :
         {std::pair(filters.scale_offset, &scale_offset), std::pair(filters.zfp(), &zfp), std::pair(filters.shuffle, &shuffle),
          std::pair(filters.deflate, &deflate), std::pair(filters.zstd, &zstd), std::pair(filters.fletcher32, &fletcher32)}) {
      if (has) {
        *mask = bit;
        bit <<= 1;
      }
    }
  }
};

// Some writers have stored the halves of the sum the other way round.
bool is_sum_of(uint32_t sum, uint32_t stored) {
  const uint32_t swapped = (stored & 0xff00ff00u) >> 8 | (stored & 0x00ff00ffu) << 8;
  return sum == stored || sum == swapped;
}

}  // namespace

struct FilterPipeline::Deflate {
  isal_zstream out{};
  inflate_state in{};
  std::optional<Libdeflate> libdeflate;
  std::array<uint8_t, ISAL_DEF_LVL1_DEFAULT> tables{};
};

struct FilterPipeline::Zstd {
  Zstd() : out(ZSTD_createCCtx()), in(ZSTD_createDCtx()) {
    if (out == nullptr || in == nullptr) {
      ZSTD_freeCCtx(out);
      ZSTD_freeDCtx(in);
      throw std::bad_alloc();
    }
  }
  ~Zstd() {
    ZSTD_freeCCtx(out);
    ZSTD_freeDCtx(in);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  ZSTD_CCtx* out;
  ZSTD_DCtx* in;
};

FilterPipeline::FilterPipeline(bool with_libdeflate) : deflate_(std::make_unique<Deflate>()) {
  if (with_libdeflate) {
    deflate_->libdeflate.emplace();
  }
}
FilterPipeline::~FilterPipeline() = default;

int64_t FilterPipeline::stored_bytes_max(int64_t chunk_bytes) {
  constexpr int64_t kHeaders = 64 << 10;
  return chunk_bytes + chunk_bytes / 8 + kHeaders;
}

// Appends less than the chunk, or nothing.
bool FilterPipeline::deflate(std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  deflated_.resize(std::max(deflated_.size(), chunk.size()));
  isal_zstream& stream = deflate_->out;
  isal_deflate_stateless_init(&stream);
  stream.level = kLevel;
  stream.level_buf = deflate_->tables.data();
  stream.level_buf_size = static_cast<uint32_t>(deflate_->tables.size());
  stream.gzip_flag = IGZIP_ZLIB;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(chunk.data()));
  stream.avail_in = static_cast<uint32_t>(chunk.size());
  stream.next_out = reinterpret_cast<uint8_t*>(deflated_.data());
  stream.avail_out = static_cast<uint32_t>(chunk.size() - 1);
  if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) {
    return false;
  }
  out.insert(out.end(), deflated_.begin(), deflated_.begin() + stream.total_out);
  return true;
}

Result<size_t> FilterPipeline::inflate(std::span<const std::byte> stored, std::span<std::byte> out) {
  const std::optional<size_t> filled = deflate_->libdeflate ? deflate_->libdeflate->inflate(stored, out) : std::nullopt;
  if (filled) {
    return *filled;
  }
  inflate_state& state = deflate_->in;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  state.next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(stored.data()));
  state.avail_in = static_cast<uint32_t>(stored.size());
  state.next_out = reinterpret_cast<uint8_t*>(out.data());
  state.avail_out = static_cast<uint32_t>(out.size());
  const int outcome = isal_inflate_stateless(&state);
  if (outcome == ISAL_INCORRECT_CHECKSUM) {
    return corrupted("what it inflates to doesn't match its sum");
  }
  return outcome == ISAL_DECOMP_OK ? Result<size_t>(out.size() - state.avail_out) : corrupted("it can't be inflated");
}

// Appends less than the chunk, or nothing.
bool FilterPipeline::zstd(std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  if (zstd_ == nullptr) {
    zstd_ = std::make_unique<Zstd>();
  }
  deflated_.resize(std::max(deflated_.size(), chunk.size()));
  const size_t bytes =
      ZSTD_compressCCtx(zstd_->out, deflated_.data(), chunk.size() - 1, chunk.data(), chunk.size(), kZstdLevel);
  if (ZSTD_isError(bytes) != 0) {
    return false;
  }
  out.insert(out.end(), deflated_.begin(), deflated_.begin() + static_cast<std::ptrdiff_t>(bytes));
  return true;
}

Result<size_t> FilterPipeline::unzstd(std::span<const std::byte> stored, std::span<std::byte> out) {
  if (zstd_ == nullptr) {
    zstd_ = std::make_unique<Zstd>();
  }
  const size_t bytes = ZSTD_decompressDCtx(zstd_->in, out.data(), out.size(), stored.data(), stored.size());
  return ZSTD_isError(bytes) == 0 ? Result<size_t>(bytes) : corrupted("zstd can't decompress it");
}

// Appends less than the chunk, or nothing.
bool FilterPipeline::compress(const Filters& filters, std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  return filters.zstd ? zstd(chunk, out) : deflate(chunk, out);
}

std::span<const std::byte> FilterPipeline::shuffled(const DatasetSpec& spec, std::span<const std::byte> content) {
  if (!spec.chunking->filters.shuffle || shuffled_bytes(spec) == 1) {
    return content;
  }
  scratch_.resize(content.size());
  shuffle(content, scratch_, shuffled_bytes(spec));
  return scratch_;
}

bool FilterPipeline::shrinks(const DatasetSpec& spec, std::span<const std::byte> sample) {
  tried_.clear();
  return compress(spec.chunking->filters, shuffled(spec, sample), tried_);
}

FilterMask FilterPipeline::skipped_by_raw(const Filters& filters) {
  const MaskBits bits(filters);
  return bits.shuffle | bits.deflate | bits.zstd;
}

FilterMask FilterPipeline::encode(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out,
                                  const How& how) {
  STRIA_ASSERT(spec.chunking.has_value(), spec.path);
  const Filters& filters = spec.chunking->filters;
  const MaskBits bits(filters);
  FilterMask skipped = 0;
  const size_t begin = out.size();
  std::span<const std::byte> content = chunk;
  if (filters.scale_offset || filters.zfp()) {
    coded_.clear();
    const bool is_coded = filters.scale_offset ? scale_offset(spec, chunk, coded_)
                                               : !(how.exact && filters.loses()) && zfp_.compress(spec, chunk, coded_);
    content = is_coded ? std::span<const std::byte>(coded_) : chunk;
    skipped = is_coded ? 0 : bits.scale_offset | bits.zfp;
  }
  const bool compresses = filters.deflate || filters.zstd;
  if (compresses && (how.raw || !compress(filters, shuffled(spec, content), out))) {
    skipped |= skipped_by_raw(filters);
    out.insert(out.end(), content.begin(), content.end());
  } else if (!compresses) {
    const auto bytes = shuffled(spec, content);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  if (filters.fletcher32) {
    const uint32_t sum = container::fletcher32(std::span(out).subspan(begin));
    for (size_t i = 0; i < kSumBytes; ++i) {
      out.push_back(static_cast<std::byte>(sum >> (8 * i)));
    }
  }
  return skipped;
}

Status FilterPipeline::decode(const DatasetSpec& spec, std::span<const std::byte> stored, FilterMask skipped,
                              std::span<std::byte> chunk) {
  const MaskBits bits(spec.chunking->filters);
  const auto passed = [&](FilterMask bit) { return (bit & ~skipped) != 0; };
  if (passed(bits.fletcher32)) {
    if (stored.size() < kSumBytes) {
      return corrupted("it is cut short");
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < kSumBytes; ++i) {
      sum |= static_cast<uint32_t>(stored[stored.size() - kSumBytes + i]) << (8 * i);
    }
    stored = stored.first(stored.size() - kSumBytes);
    if (!is_sum_of(container::fletcher32(stored), sum)) {
      return corrupted("it doesn't match its sum");
    }
  }
  const bool shuffled = passed(bits.shuffle) && shuffled_bytes(spec) > 1;
  const bool coded = passed(bits.scale_offset) || passed(bits.zfp);
  const size_t content_bytes = coded ? static_cast<size_t>(stored_bytes_max(static_cast<int64_t>(chunk.size()))) : chunk.size();
  std::span<const std::byte> content = stored;
  if (passed(bits.deflate) || passed(bits.zstd)) {
    scratch_.resize(shuffled || coded ? content_bytes : 0);
    const std::span<std::byte> target = shuffled || coded ? std::span(scratch_) : chunk;
    STRIA_ASSIGN_OR_RETURN(const size_t bytes, passed(bits.deflate) ? inflate(stored, target) : unzstd(stored, target));
    content = target.first(bytes);
  }
  if (!coded && content.size() != chunk.size()) {
    return corrupted("it has another size than a chunk");
  }
  if (shuffled) {
    coded_.resize(coded ? content.size() : 0);
    const std::span<std::byte> target = coded ? std::span(coded_) : chunk;
    unshuffle(content, target, shuffled_bytes(spec));
    content = target;
  }
  if (coded) {
    return passed(bits.zfp) ? zfp_.decompress(spec, content, chunk) : undo_scale_offset(spec, content, chunk);
  }
  if (content.data() != chunk.data()) {
    std::copy(content.begin(), content.end(), chunk.begin());
  }
  return Status();
}

int64_t shuffled_bytes(const DatasetSpec& spec) {
  STRIA_ASSERT(spec.chunking.has_value(), spec.path);
  const int64_t parts = spec.element.meaning == Meaning::kComplex ? 2 : 1;
  return spec.chunking->shuffled_bytes > 0 ? spec.chunking->shuffled_bytes : parts * spec.element.bytes;
}

uint32_t fletcher32(std::span<const std::byte> data) {
  constexpr size_t kWordsAtOnce = 360;  // more could make 32 bits overflow
  uint32_t low = 0;
  uint32_t high = 0;
  const auto fold = [](uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  size_t at = 0;
  for (size_t words = data.size() / 2; words > 0;) {
    const size_t now = std::min(words, kWordsAtOnce);
    for (size_t i = 0; i < now; ++i, at += 2) {
      low += static_cast<uint32_t>(data[at]) << 8 | static_cast<uint32_t>(data[at + 1]);
      high += low;
    }
    words -= now;
    low = fold(low);
    high = fold(high);
  }
  if (data.size() % 2 == 1) {
    low += static_cast<uint32_t>(data[at]) << 8;
    high += low;
    low = fold(low);
    high = fold(high);
  }
  return fold(high) << 16 | fold(low);
}

}  // namespace stria::container
