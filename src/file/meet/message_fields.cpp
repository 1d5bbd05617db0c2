#include "file/meet/message_fields.hpp"

#include <cstring>

namespace stria::file {

void FieldWriter::number(int64_t value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  message_.insert(message_.end(), bytes.begin(), bytes.end());
}

void FieldWriter::bytes(std::span<const std::byte> value) {
  number(static_cast<int64_t>(value.size()));
  message_.insert(message_.end(), value.begin(), value.end());
}

void FieldWriter::status(const Status& value) {
  number(static_cast<int64_t>(value.code()));
  number(static_cast<int64_t>(value.reason()));
  text(value.message());
}

int64_t FieldReader::number() {
  int64_t value = 0;
  if (rest_.size() < sizeof value) {
    well_ = false;
    rest_ = {};
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_ = rest_.subspan(sizeof value);
  return value;
}

std::span<const std::byte> FieldReader::bytes() {
  const int64_t size = number();
  if (size < 0 || size > static_cast<int64_t>(rest_.size())) {
    well_ = false;
    rest_ = {};
    return {};
  }
  const auto value = rest_.first(static_cast<size_t>(size));
  rest_ = rest_.subspan(static_cast<size_t>(size));
  return value;
}

std::string FieldReader::text() {
  const auto value = bytes();
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

Status FieldReader::status() {
  const auto code = static_cast<ErrorCode>(number());
  const auto reason = static_cast<ErrorReason>(number());
  return Status(code, text(), reason);
}

}  // namespace stria::file
