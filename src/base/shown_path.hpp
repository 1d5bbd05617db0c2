// A path as a message shows it: on a line, however long it is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace stria {

/// The most bytes of a path in a message.
inline constexpr size_t kMostShownBytes = 200;

/// Returns the path; of a long one the beginning and the end, which tell most. Bytes that would
/// break the line are "?".
inline std::string shown_path(std::string_view path) {
  constexpr std::string_view kLeftOut = "[...]";
  constexpr size_t kBegin = kMostShownBytes / 3;
  constexpr size_t kEnd = kMostShownBytes - kBegin - kLeftOut.size();
  std::string shown(path);
  if (path.size() > kMostShownBytes) {
    shown = std::string(path.substr(0, kBegin)) + std::string(kLeftOut) + std::string(path.substr(path.size() - kEnd));
  }
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char byte) { return byte < ' ' || byte == 0x7f; }, '?');
  return shown;
}

}  // namespace stria
