#include "wire/form/version.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace stria::wire {

Result<uint16_t> newest_version() {
  const char* const value = std::getenv("STRIA_WIRE_VERSION");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty()) {
    return kVersion;
  }
  uint16_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || version < kOldestVersion || version > kVersion) {
    return Status(ErrorCode::kInvalidArgument, "STRIA_WIRE_VERSION is " + std::to_string(kOldestVersion) + " or " +
                                                   std::to_string(kVersion) + ", not '" + std::string(text) + "'");
  }
  return version;
}

}  // namespace stria::wire
