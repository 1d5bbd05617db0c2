#include "container/chunks/filters/zfp_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "container/chunks/filters/libzfp.hpp"
#include "container/chunks/filters/zfp_header.hpp"

namespace stria::container {

namespace {

/// Gives ZFP's view of a chunk and of a stream of its bits.
class Session {
 public:
  /// Throws std::bad_alloc.
  Session(const Libzfp& zfp, const DatasetSpec& spec, void* chunk) : zfp_(zfp) {
    const std::vector<int64_t> dims = zfp_dims(spec);
    const zfp_type type = spec.element.number == ElementType::kFloat32 ? zfp_type_float : zfp_type_double;
    const auto fastest = [&](size_t i) { return static_cast<size_t>(dims[dims.size() - 1 - i]); };
    switch (dims.size()) {
      case 1:
        field_ = zfp.zfp_field_1d(chunk, type, fastest(0));
        break;
      case 2:
        field_ = zfp.zfp_field_2d(chunk, type, fastest(0), fastest(1));
        break;
      case 3:
        field_ = zfp.zfp_field_3d(chunk, type, fastest(0), fastest(1), fastest(2));
        break;
      default:
        field_ = zfp.zfp_field_4d(chunk, type, fastest(0), fastest(1), fastest(2), fastest(3));
    }
    stream_ = zfp.zfp_stream_open(nullptr);
    if (field_ == nullptr || stream_ == nullptr) {
      release();
      throw std::bad_alloc();
    }
    zfp.zfp_stream_set_mode(stream_, zfp_mode(spec));
  }
  ~Session() { release(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Returns the most that a stream of such a chunk has.
  size_t most_bytes() const { return zfp_.zfp_stream_maximum_size(stream_, field_); }
  /// Returns the bytes of the stream; 0 on failure.
  size_t compress(std::span<uint64_t> into) {
    attach(into);
    return zfp_.zfp_compress(stream_, field_);
  }
  size_t decompress(std::span<uint64_t> from) {
    attach(from);
    return zfp_.zfp_decompress(stream_, field_);
  }

 private:
  void attach(std::span<uint64_t> words) {
    bits_ = zfp_.stream_open(words.data(), words.size_bytes());
    if (bits_ == nullptr) {
      throw std::bad_alloc();
    }
    zfp_.zfp_stream_set_bit_stream(stream_, bits_);
  }
  void release() {
    if (bits_ != nullptr) {
      zfp_.stream_close(bits_);
    }
    if (stream_ != nullptr) {
      zfp_.zfp_stream_close(stream_);
    }
    if (field_ != nullptr) {
      zfp_.zfp_field_free(field_);
    }
  }

  const Libzfp& zfp_;
  zfp_field* field_ = nullptr;
  zfp_stream* stream_ = nullptr;
  bitstream* bits_ = nullptr;
};

size_t words_for(size_t bytes) {
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

template <typename T>
T element(std::span<const std::byte> chunk, size_t i) {
  T value;
  std::memcpy(&value, chunk.data() + i * sizeof value, sizeof value);
  return value;
}

/// Returns the greatest magnitude; NaN where one isn't finite.
template <typename T>
double greatest_magnitude(std::span<const std::byte> chunk) {
  double greatest = 0;
  for (size_t i = 0; i < chunk.size() / sizeof(T); ++i) {
    const double value = std::abs(static_cast<double>(element<T>(chunk, i)));
    if (!std::isfinite(value)) {
      return NAN;
    }
    greatest = std::max(greatest, value);
  }
  return greatest;
}

template <typename T>
bool is_within(std::span<const std::byte> chunk, std::span<const std::byte> back, double bound) {
  for (size_t i = 0; i < chunk.size() / sizeof(T); ++i) {
    const double error = std::abs(static_cast<double>(element<T>(chunk, i)) - static_cast<double>(element<T>(back, i)));
    if (!(error <= bound)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status ZfpCodec::available() {
  return Libzfp::load().status();
}

bool ZfpCodec::compress(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  const bool is_single = spec.element.number == ElementType::kFloat32;
  const double greatest = is_single ? greatest_magnitude<float>(chunk) : greatest_magnitude<double>(chunk);
  const Filters& filters = spec.chunking->filters;
  const double bound = filters.zfp_absolute != 0 ? filters.zfp_absolute : filters.zfp_relative * greatest;
  const auto zfp = Libzfp::load();
  if ((std::isnan(greatest) && filters.loses()) || !zfp.ok()) {
    return false;
  }
  Session writing(**zfp, spec, const_cast<std::byte*>(chunk.data()));  // ZFP only reads them.
  stream_.assign(words_for(writing.most_bytes()), 0);
  const size_t bytes = writing.compress(stream_);
  if (bytes == 0 || bytes >= chunk.size()) {
    return false;
  }
  back_.resize(chunk.size());
  Session reading(**zfp, spec, back_.data());
  const auto is_as_asked = [&] {
    if (filters.zfp_reversible) {
      return std::equal(chunk.begin(), chunk.end(), back_.begin());
    }
    return filters.zfp_rate != 0 ||
           (is_single ? is_within<float>(chunk, back_, bound) : is_within<double>(chunk, back_, bound));
  };
  if (reading.decompress(stream_) == 0 || !is_as_asked()) {
    return false;
  }
  const auto* const stored = reinterpret_cast<const std::byte*>(stream_.data());
  out.insert(out.end(), stored, stored + bytes);
  return true;
}

Status ZfpCodec::decompress(const DatasetSpec& spec, std::span<const std::byte> stored, std::span<std::byte> chunk) {
  STRIA_ASSIGN_OR_RETURN(const Libzfp* const zfp, Libzfp::load());
  Session reading(*zfp, spec, chunk.data());
  stream_.assign(words_for(std::max(stored.size(), reading.most_bytes())) + 1, 0);
  std::copy(stored.begin(), stored.end(), reinterpret_cast<std::byte*>(stream_.data()));
  const size_t bytes = reading.decompress(stream_);
  if (bytes == 0 || words_for(bytes) > words_for(stored.size())) {
    return Status(ErrorCode::kCorrupted, "ZFP can't decompress it");
  }
  return Status();
}

}  // namespace stria::container
