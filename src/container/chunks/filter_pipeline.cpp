#include "container/chunks/filter_pipeline.hpp"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "container/chunks/shuffle.hpp"

namespace stria::container {

namespace {

constexpr uint32_t kLevel = 1;
constexpr size_t kSumBytes = 4;

// The bits of a mask, one a filter that the dataset has.
struct MaskBits {
  FilterMask shuffle = 0, deflate = 0, zstd = 0, fletcher32 = 0;

  explicit MaskBits(const Filters& filters) {
    FilterMask bit = 1;
    for (const auto& [has, mask] : {std::pair(filters.shuffle, &shuffle), std::pair(filters.deflate, &deflate),
                                    std::pair(filters.zstd, &zstd), std::pair(filters.fletcher32, &fletcher32)}) {
      if (has) {
        *mask = bit;
        bit <<= 1;
      }
    }
  }
};

Status corrupted(const char* what) {
  return Status(ErrorCode::kCorrupted, what);
}

// Some writers have stored the halves of the sum the other way round.
bool is_sum_of(uint32_t sum, uint32_t stored) {
  const uint32_t swapped = (stored & 0xff00ff00u) >> 8 | (stored & 0x00ff00ffu) << 8;
  return sum == stored || sum == swapped;
}

}  // namespace

struct FilterPipeline::Deflate {
  isal_zstream out{};
  inflate_state in{};
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

FilterPipeline::FilterPipeline() : deflate_(std::make_unique<Deflate>()) {}
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

Status FilterPipeline::inflate(std::span<const std::byte> stored, std::span<std::byte> chunk) {
  inflate_state& state = deflate_->in;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  state.next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(stored.data()));
  state.avail_in = static_cast<uint32_t>(stored.size());
  state.next_out = reinterpret_cast<uint8_t*>(chunk.data());
  state.avail_out = static_cast<uint32_t>(chunk.size());
  const int outcome = isal_inflate_stateless(&state);
  if (outcome == ISAL_INCORRECT_CHECKSUM) {
    return corrupted("what it inflates to doesn't match its sum");
  }
  if (outcome != ISAL_DECOMP_OK || state.avail_out != 0) {
    return corrupted("it can't be inflated");
  }
  return Status();
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

Status FilterPipeline::unzstd(std::span<const std::byte> stored, std::span<std::byte> chunk) {
  if (zstd_ == nullptr) {
    zstd_ = std::make_unique<Zstd>();
  }
  const size_t bytes = ZSTD_decompressDCtx(zstd_->in, chunk.data(), chunk.size(), stored.data(), stored.size());
  return bytes == chunk.size() ? Status() : corrupted("zstd can't decompress it");
}

FilterMask FilterPipeline::encode(const Filters& filters, int64_t element_bytes, std::span<const std::byte> chunk,
                                  std::vector<std::byte>& out) {
  const MaskBits bits(filters);
  FilterMask skipped = 0;
  const size_t begin = out.size();
  std::span<const std::byte> shuffled = chunk;
  if (filters.shuffle && element_bytes > 1) {
    scratch_.resize(chunk.size());
    shuffle(chunk, scratch_, element_bytes);
    shuffled = scratch_;
  }
  const bool compresses = filters.deflate || filters.zstd;
  if (compresses && !(filters.zstd ? zstd(shuffled, out) : deflate(shuffled, out))) {
    skipped = bits.shuffle | bits.deflate | bits.zstd;
    out.insert(out.end(), chunk.begin(), chunk.end());
  } else if (!compresses) {
    out.insert(out.end(), shuffled.begin(), shuffled.end());
  }
  if (filters.fletcher32) {
    const uint32_t sum = container::fletcher32(std::span(out).subspan(begin));
    for (size_t i = 0; i < kSumBytes; ++i) {
      out.push_back(static_cast<std::byte>(sum >> (8 * i)));
    }
  }
  return skipped;
}

Status FilterPipeline::decode(const Filters& filters, int64_t element_bytes, std::span<const std::byte> stored,
                              FilterMask skipped, std::span<std::byte> chunk) {
  const MaskBits bits(filters);
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
  const bool shuffled = passed(bits.shuffle) && element_bytes > 1;
  scratch_.resize(shuffled ? chunk.size() : 0);
  const std::span<std::byte> target = shuffled ? std::span(scratch_) : chunk;
  if (passed(bits.deflate)) {
    STRIA_RETURN_IF_ERROR(inflate(stored, target));
  } else if (passed(bits.zstd)) {
    STRIA_RETURN_IF_ERROR(unzstd(stored, target));
  } else if (stored.size() != target.size()) {
    return corrupted("it has another size than a chunk");
  } else {
    std::copy(stored.begin(), stored.end(), target.begin());
  }
  if (shuffled) {
    unshuffle(scratch_, chunk, element_bytes);
  }
  return Status();
}

uint32_t fletcher32(std::span<const std::byte> data) {
  constexpr size_t kWordsAtOnce = 360;  // as many as 32 bits can't overflow by
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
