// The fields of messages as bytes: fixed numbers are little-endian, variable ones have seven bits
// per byte, and texts have their length in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "stria/status.hpp"
#include "wire/form/version.hpp"

namespace stria::wire {

/// Appends fields to a buffer.
class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out, uint16_t version = kVersion) : out_(out), version_(version) {
    STRIA_ASSERT(kOldestVersion <= version && version <= kVersion, version);
  }

  /// The other side speaks this version of the protocol.
  uint16_t version() const { return version_; }

  template <typename Number>
  void fixed(Number value) {
    static_assert(std::is_unsigned_v<Number>);
    for (size_t i = 0; i < sizeof value; ++i) {
      out_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  }
  void natural(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      out_.push_back(static_cast<std::byte>(value | 0x80));
    }
    out_.push_back(static_cast<std::byte>(value));
  }
  void integer(int64_t value) { natural((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63)); }
  void bytes(std::span<const std::byte> data) { out_.insert(out_.end(), data.begin(), data.end()); }
  void text(std::string_view value) {
    natural(value.size());
    bytes(std::as_bytes(std::span(value)));
  }

 private:
  std::vector<std::byte>& out_;
  uint16_t version_;
};

/// Takes fields from a buffer that may come from anywhere. After the first missing field
/// every other field is 0 or empty, and finish() reports it. So a message is decoded in one
/// go and checked once.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> in, uint16_t version = kVersion) : in_(in), version_(version) {}

  /// The other side speaks this version of the protocol.
  uint16_t version() const { return version_; }

  template <typename Number>
  Number fixed() {
    static_assert(std::is_unsigned_v<Number>);
    const auto from = bytes(sizeof(Number));
    Number value = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      value = static_cast<Number>(value | static_cast<Number>(from[i]) << (8 * i));
    }
    return value;
  }
  uint64_t natural() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && position_ < in_.size(); shift += 7) {
      const auto next = static_cast<uint64_t>(in_[position_++]);
      if (shift == 63 && next > 1) {
        break;
      }
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) == 0) {
        return value;
      }
    }
    return fail(), 0;
  }
  int64_t integer() {
    const uint64_t value = natural();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  /// Returns a number that fits into 62 bits, as offsets and sizes do.
  int64_t offset() {
    const uint64_t value = natural();
    return value >> 62 == 0 ? static_cast<int64_t>(value) : (fail(), 0);
  }
  /// Returns a place that only locks have: up to 2^63 - 1.
  int64_t place() {
    const uint64_t value = natural();
    return value >> 63 == 0 ? static_cast<int64_t>(value) : (fail(), 0);
  }
  /// Returns a number up to `most`.
  uint64_t natural_up_to(uint64_t most) {
    const uint64_t value = natural();
    return value <= most ? value : (fail(), 0);
  }
  std::span<const std::byte> bytes(size_t count) {
    if (in_.size() - position_ < count) {
      return fail(), std::span<const std::byte>();
    }
    position_ += count;
    return in_.subspan(position_ - count, count);
  }
  std::string text(size_t most_bytes) {
    const auto from = bytes(natural_up_to(most_bytes));
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  std::span<const std::byte> rest() { return bytes(in_.size() - position_); }

  void fail() {
    failed_ = true;
    position_ = in_.size();
  }
  bool failed() const { return failed_; }
  /// Success when every field was there and nothing is left.
  Status finish(const char* what) const {
    const bool good = !failed_ && position_ == in_.size();
    return good ? Status() : Status(ErrorCode::kFormat, std::string("the message '") + what + "' is malformed");
  }

 private:
  std::span<const std::byte> in_;
  uint16_t version_;
  size_t position_ = 0;
  bool failed_ = false;
};

/// Encodes the body of a message: all of its fields.
template <typename Message>
std::vector<std::byte> encode(const Message& message, uint16_t version = kVersion) {
  std::vector<std::byte> body;
  Writer writer(body, version);
  message.put(writer);
  return body;
}

/// kFormat unless the body is exactly one such message.
template <typename Message>
Result<Message> decode(std::span<const std::byte> body, uint16_t version = kVersion) {
  Reader reader(body, version);
  Message message;
  message.get(reader);
  STRIA_RETURN_IF_ERROR(reader.finish(Message::kName));
  return message;
}

}  // namespace stria::wire
