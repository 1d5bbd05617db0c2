// A picture in memory, and as a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/status.hpp"

namespace stria::flash {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

/// A half-open rectangle of pixels, counted from the upper left corner.
struct PixelBox {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

/// Pixels in rows from the top. Drawing outside the picture is cut off.
class Image {
 public:
  Image(int width, int height, Color background);

  int width() const { return width_; }
  int height() const { return height_; }
  Color at(int x, int y) const { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }

  void set(int x, int y, Color color);
  /// Mixes `color` into a pixel with weight `opacity`, 0 to 1.
  void blend(int x, int y, Color color, double opacity);
  void fill(const PixelBox& box, Color color);
  /// Draws the outermost pixels of a box.
  void outline(const PixelBox& box, Color color, double opacity);
  /// Writes text whose upper left corner is (x, y), each dot of its 5 by 7 letters `scale` pixels wide. Letters are capitals.
  void text(int x, int y, std::string_view text, int scale, Color color);

  /// Width in pixels of a text.
  static int text_width(std::string_view text, int scale) { return static_cast<int>(text.size()) * 6 * scale - scale; }
  static int text_height(int scale) { return 7 * scale; }

  /// Writes the picture as an 8-bit RGB PNG. Errors: kIo with libpng's words.
  Status write_png(const std::string& path) const;

 private:
  int width_;
  int height_;
  std::vector<Color> pixels_;
};

/// The colour of `share`, 0 to 1, on a scale of evenly growing lightness from dark violet over green to yellow (viridis).
Color viridis(double share);

}  // namespace stria::flash
