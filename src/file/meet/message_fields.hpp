// Numbers and byte strings one behind another: the form in which ranks tell each other
// what a file holds.
//
// It doesn't use a library for JSON or CBOR. Such documents allocate memory while they are freed,
// so that a rank out of memory would end the program instead of reporting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stria::file {

class FieldWriter {
 public:
  void number(int64_t value);
  void bytes(std::span<const std::byte> value);
  void text(const std::string& value) { bytes(std::as_bytes(std::span(value.data(), value.size()))); }
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
  bool well() const { return well_; }
  /// Nothing is left to read.
  bool done() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool well_ = true;
};

}  // namespace stria::file
