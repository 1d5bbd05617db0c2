// A picture under construction: boxes, lines, text and pixels, drawn by Cairo and Pango, and
// written as PNG.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "picture/color_map.hpp"
#include "stria/status.hpp"

namespace stria::flash {

/// A rectangle in pixels, counted from the upper left corner.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

struct Pen {
  Color color;
  double width = 1;  ///< pixels
  double opacity = 1;
};

enum class Anchor { kLeft, kMiddle, kRight };

struct TextStyle {
  double size = 16;  ///< pixels
  Anchor anchor = Anchor::kLeft;
  bool bold = false;
  bool upwards = false;  ///< turned by a quarter to the left
  Color color{};
};

/// Drawing outside the picture is cut off. write_png() reports earlier failures to
/// draw (no memory).
class Canvas {
 public:
  Canvas(int width, int height, Color background);

  int width() const;
  int height() const;
  Color at(int x, int y) const;

  void fill(const Box& box, Color color);
  /// Draws the sides of a box; lines of one pixel lie within pixels.
  void outline(const Box& box, const Pen& pen);
  void line(double x0, double y0, double x1, double y1, const Pen& pen);
  /// Draws Pango markup with its middle at height y; the anchor says which end `x` means. For
  /// turned text, x and y change their roles.
  void text(double x, double y, const std::string& markup, const TextStyle& style);
  double text_width(const std::string& markup, const TextStyle& style) const;
  /// Copies rows of `width` pixels from the top; (left, top) gets the first.
  void pixels(int left, int top, int width, std::span<const Color> rows);

  /// Writes the picture as a PNG. Errors: kIo, with the reason and the path; kResourceExhausted.
  Status write_png(const std::string& path) const;

 private:
  struct Parts;
  struct Free {
    void operator()(Parts* parts) const;
  };
  std::unique_ptr<Parts, Free> parts_;
};

/// `text` with the characters that mean something in markup replaced.
std::string markup_of(const std::string& text);

}  // namespace stria::flash
