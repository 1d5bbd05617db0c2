#include "picture/canvas.hpp"

#include <cairo.h>
#include <pango/pangocairo.h>

#include <cerrno>
#include <cmath>
#include <numbers>

namespace stria::flash {
namespace {

constexpr const char* kFont = "DejaVu Sans";

// Closes what Cairo, Pango and GLib make.
template <auto Release>
struct ReleasedBy {
  template <typename T>
  void operator()(T* object) const {
    Release(object);
  }
};
using Layout = std::unique_ptr<PangoLayout, ReleasedBy<g_object_unref>>;
using Font = std::unique_ptr<PangoFontDescription, ReleasedBy<pango_font_description_free>>;

Layout lay_out(cairo_t* cairo, const std::string& markup, const TextStyle& style) {
  Layout layout(pango_cairo_create_layout(cairo));
  const Font font(pango_font_description_from_string(kFont));
  pango_font_description_set_absolute_size(font.get(), style.size * PANGO_SCALE);
  pango_font_description_set_weight(font.get(), style.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description(layout.get(), font.get());
  pango_layout_set_markup(layout.get(), markup.c_str(), -1);
  return layout;
}

void set_color(cairo_t* cairo, Color color, double opacity) {
  constexpr double kFull = 255;
  cairo_set_source_rgba(cairo, color.red / kFull, color.green / kFull, color.blue / kFull, opacity);
}

}  // namespace

struct Canvas::Parts {
  cairo_surface_t* surface = nullptr;
  cairo_t* cairo = nullptr;
};

void Canvas::Free::operator()(Parts* parts) const {
  cairo_destroy(parts->cairo);
  cairo_surface_destroy(parts->surface);
  delete parts;
}

Canvas::Canvas(int width, int height, Color background) : parts_(new Parts) {
  parts_->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  parts_->cairo = cairo_create(parts_->surface);
  set_color(parts_->cairo, background, 1);
  cairo_paint(parts_->cairo);
}

int Canvas::width() const {
  return cairo_image_surface_get_width(parts_->surface);
}

int Canvas::height() const {
  return cairo_image_surface_get_height(parts_->surface);
}

Color Canvas::at(int x, int y) const {
  cairo_surface_flush(parts_->surface);
  const unsigned char* row = cairo_image_surface_get_data(parts_->surface) +
                             static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(parts_->surface);
  const uint32_t word = reinterpret_cast<const uint32_t*>(row)[x];
  return {static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 8), static_cast<uint8_t>(word)};
}

void Canvas::fill(const Box& box, Color color) {
  set_color(parts_->cairo, color, 1);
  cairo_rectangle(parts_->cairo, box.left, box.top, box.width(), box.height());
  cairo_fill(parts_->cairo);
}

void Canvas::outline(const Box& box, const Pen& pen) {
  set_color(parts_->cairo, pen.color, pen.opacity);
  cairo_set_line_width(parts_->cairo, pen.width);
  cairo_rectangle(parts_->cairo, std::floor(box.left) + 0.5, std::floor(box.top) + 0.5,
                  std::floor(box.right) - std::floor(box.left), std::floor(box.bottom) - std::floor(box.top));
  cairo_stroke(parts_->cairo);
}

void Canvas::line(double x0, double y0, double x1, double y1, const Pen& pen) {
  set_color(parts_->cairo, pen.color, pen.opacity);
  cairo_set_line_width(parts_->cairo, pen.width);
  cairo_move_to(parts_->cairo, std::floor(x0) + 0.5, std::floor(y0) + 0.5);
  cairo_line_to(parts_->cairo, std::floor(x1) + 0.5, std::floor(y1) + 0.5);
  cairo_stroke(parts_->cairo);
}

void Canvas::text(double x, double y, const std::string& markup, const TextStyle& style) {
  const Layout layout = lay_out(parts_->cairo, markup, style);
  int width = 0;
  int height = 0;
  pango_layout_get_pixel_size(layout.get(), &width, &height);
  const double along = style.anchor == Anchor::kLeft ? 0 : style.anchor == Anchor::kMiddle ? width / 2.0 : width;
  cairo_save(parts_->cairo);
  cairo_translate(parts_->cairo, x, y);
  if (style.upwards) {
    cairo_rotate(parts_->cairo, -std::numbers::pi / 2);
  }
  cairo_move_to(parts_->cairo, -along, -height / 2.0);
  set_color(parts_->cairo, style.color, 1);
  pango_cairo_show_layout(parts_->cairo, layout.get());
  cairo_restore(parts_->cairo);
}

double Canvas::text_width(const std::string& markup, const TextStyle& style) const {
  int width = 0;
  pango_layout_get_pixel_size(lay_out(parts_->cairo, markup, style).get(), &width, nullptr);
  return width;
}

void Canvas::pixels(int left, int top, int width, std::span<const Color> rows) {
  cairo_surface_flush(parts_->surface);
  unsigned char* data = cairo_image_surface_get_data(parts_->surface);
  if (data == nullptr) {
    return;
  }
  const int stride = cairo_image_surface_get_stride(parts_->surface);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int x = left + static_cast<int>(i % static_cast<std::size_t>(width));
    const int y = top + static_cast<int>(i / static_cast<std::size_t>(width));
    if (x >= 0 && y >= 0 && x < this->width() && y < this->height()) {
      auto* row = reinterpret_cast<uint32_t*>(data + static_cast<std::ptrdiff_t>(y) * stride);
      row[x] = static_cast<uint32_t>(rows[i].red) << 16 | static_cast<uint32_t>(rows[i].green) << 8 | rows[i].blue;
    }
  }
  cairo_surface_mark_dirty(parts_->surface);
}

Status Canvas::write_png(const std::string& path) const {
  cairo_status_t status = cairo_status(parts_->cairo);
  errno = 0;
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_write_to_png(parts_->surface, path.c_str());
  }
  if (status == CAIRO_STATUS_SUCCESS) {
    return {};
  }
  if (status == CAIRO_STATUS_NO_MEMORY) {
    return {ErrorCode::kResourceExhausted, "drawing picture '" + path + "': no memory"};
  }
  // Cairo tells only that writing failed; errno has the reason.
  return errno != 0 ? Status::from_errno(errno, "write picture '" + path + "'")
                    : Status(ErrorCode::kIo, "writing picture '" + path + "': " + cairo_status_to_string(status));
}

std::string markup_of(const std::string& text) {
  const std::unique_ptr<char, ReleasedBy<g_free>> safe(g_markup_escape_text(text.c_str(), -1));
  return safe.get();
}

}  // namespace stria::flash
