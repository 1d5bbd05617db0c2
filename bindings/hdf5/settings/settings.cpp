#include "hdf5/settings/settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace stria::hdf5 {

namespace {

constexpr int64_t kBufferBytes = 256 << 20;  // unless STRIA_HDF5_BUFFER says otherwise
constexpr std::string_view kBackground = "background";

/// Empty where it isn't set.
std::string_view text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

void say_unclear(const char* name, std::string_view text, const char* what) {
  std::fprintf(stderr, "stria: %s is '%s'; write %s\n", name, std::string(text).c_str(), what);
}

struct Defer {
  int64_t most_bytes = 0;
  bool in_background = false;
};

Defer read_defer() {
  const std::string_view text = text_of("STRIA_HDF5_DEFER");
  const size_t comma = text.find(',');
  const std::string_view word = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  const auto bytes = parse_bytes(text.substr(0, comma));
  if (text.empty() || (bytes && comma == std::string_view::npos)) {
    return {bytes.value_or(0), false};
  }
  if (!bytes || word != kBackground) {
    say_unclear("STRIA_HDF5_DEFER", text,
                "a number of bytes, as 256M, and ',background' behind it or nothing. Nothing is deferred now");
    return {};
  }
  return {*bytes, true};
}

const Defer& defer() {
  static const Defer read = read_defer();
  return read;
}

int shift_of(char unit) {
  switch (unit) {
    case 'K':
    case 'k':
      return 10;
    case 'M':
    case 'm':
      return 20;
    case 'G':
    case 'g':
      return 30;
    default:
      return 0;
  }
}

}  // namespace

std::optional<int64_t> parse_bytes(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  const int shift = rest.empty() ? 0 : shift_of(rest.front());
  rest.remove_prefix(shift > 0 ? 1 : 0);
  const bool is_plain = rest.empty() || (shift > 0 && rest == "iB");
  if (error != std::errc() || !is_plain || number < 0 || number > (std::numeric_limits<int64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return number << shift;
}

bool is_turned_off() {
  return text_of("STRIA_HDF5") == "off";
}

int64_t most_buffer_bytes() {
  static const int64_t most = [] {
    const std::string_view text = text_of("STRIA_HDF5_BUFFER");
    const auto bytes = text.empty() ? std::optional(kBufferBytes) : parse_bytes(text);
    if (!bytes || *bytes == 0) {
      say_unclear("STRIA_HDF5_BUFFER", text, "a number of bytes, as 64M. It is 256M now");
      return kBufferBytes;
    }
    return *bytes;
  }();
  return most;
}

int64_t most_held_bytes() {
  return defer().most_bytes;
}

bool travels_in_background() {
  return defer().in_background;
}

}  // namespace stria::hdf5
