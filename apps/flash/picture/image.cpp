#include "picture/image.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "picture/glyphs.hpp"

namespace stria::flash {
namespace {

uint8_t mix(uint8_t from, uint8_t to, double share) {
  return static_cast<uint8_t>(std::lround(from + (to - from) * share));
}

}  // namespace

Image::Image(int width, int height, Color background)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

void Image::set(int x, int y, Color color) {
  blend(x, y, color, 1.0);
}

void Image::blend(int x, int y, Color color, double opacity) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) {
    return;
  }
  Color& pixel = pixels_[static_cast<std::size_t>(y) * width_ + x];
  pixel = {mix(pixel.red, color.red, opacity), mix(pixel.green, color.green, opacity), mix(pixel.blue, color.blue, opacity)};
}

void Image::fill(const PixelBox& box, Color color) {
  for (int y = box.top; y < box.bottom; ++y) {
    for (int x = box.left; x < box.right; ++x) {
      set(x, y, color);
    }
  }
}

void Image::outline(const PixelBox& box, Color color, double opacity) {
  for (int x = box.left; x < box.right; ++x) {
    blend(x, box.top, color, opacity);
    blend(x, box.bottom - 1, color, opacity);
  }
  for (int y = box.top + 1; y < box.bottom - 1; ++y) {
    blend(box.left, y, color, opacity);
    blend(box.right - 1, y, color, opacity);
  }
}

void Image::text(int x, int y, std::string_view text, int scale, Color color) {
  for (char character : text) {
    const Glyph& glyph = glyph_of(character);
    for (int row = 0; row < 7; ++row) {
      for (int column = 0; column < 5; ++column) {
        if (glyph[static_cast<std::size_t>(row)] >> (4 - column) & 1) {
          int left = x + column * scale;
          int top = y + row * scale;
          fill({left, top, left + scale, top + scale}, color);
        }
      }
    }
    x += 6 * scale;
  }
}

Status Image::write_png(const std::string& path) const {
  static_assert(sizeof(Color) == 3, "pixels are passed to libpng as they lie");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(width_);
  png.height = static_cast<png_uint_32>(height_);
  png.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&png, path.c_str(), 0, pixels_.data(), 0, nullptr) == 0) {
    return {ErrorCode::kIo, "writing picture '" + path + "': " + png.message};
  }
  return {};
}

Color viridis(double share) {
  static constexpr Color kStops[] = {{68, 1, 84},    {71, 45, 123}, {59, 82, 139},  {44, 114, 142}, {33, 145, 140},
                                     {40, 174, 128}, {94, 201, 98}, {173, 220, 48}, {253, 231, 37}};
  constexpr int kLast = static_cast<int>(std::size(kStops)) - 1;
  const double position = std::clamp(share, 0.0, 1.0) * kLast;
  const int stop = std::min(static_cast<int>(position), kLast - 1);
  const double rest = position - stop;
  return {mix(kStops[stop].red, kStops[stop + 1].red, rest), mix(kStops[stop].green, kStops[stop + 1].green, rest),
          mix(kStops[stop].blue, kStops[stop + 1].blue, rest)};
}

}  // namespace stria::flash
