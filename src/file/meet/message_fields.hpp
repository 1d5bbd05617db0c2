// Numbers and byte strings one behind another: the form in which ranks tell each other
// what a file holds.
//
// It doesn't use a library for JSON or CBOR. Such documents allocate memory while they are freed,
// so that a rank out of memory would end the program instead of reporting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stria/status.hpp"

namespace stria::file {

class FieldWriter {
 public:
  void number(int64_t value);
  void bytes(std::span<const std::byte> value);
  void text(const std::string& value) { bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  void status(const Status& value);
  std::vector<std::byte> take() { return std::move(message_); }

 private:
  std::vector<std::byte> message_;
};

/// Reads them in the same order. What is missing reads as 0 or as nothing, and well() is
/// false from then on.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> message) : rest_(message) {}

  int64_t number();
  /// The bytes stay where the message is.
  std::span<const std::byte> bytes();
  std::string text();
  Status status();
  /// Adds the values of a byte string to `values`. A string that ends within a value is missing.
  template <typename T>
  void append_to(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::span<const std::byte> value = bytes();
    well_ = well_ && value.size() % sizeof(T) == 0;
    if (well_ && !value.empty()) {
      const size_t before = values.size();
      values.resize(before + value.size() / sizeof(T));
      std::memcpy(static_cast<void*>(values.data() + before), value.data(), value.size());
    }
  }
  bool well() const { return well_; }
  /// Nothing is left to read.
  bool done() const { return rest_.empty(); }
  /// All of the message was read, and nothing was missing.
  bool is_whole() const { return well() && done(); }

 private:
  std::span<const std::byte> rest_;
  bool well_ = true;
};

}  // namespace stria::file
