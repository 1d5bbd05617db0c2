#include "picture/slice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace stria::flash {
namespace {

constexpr Color kPaper{255, 255, 255};
constexpr Color kInk{32, 32, 40};
constexpr Color kWhite{255, 255, 255};
constexpr Color kNoValue{128, 128, 128};
constexpr int kTextScale = 2;
constexpr int kMargin = 24;
constexpr int kTickLength = 6;
constexpr int kBarWidth = 28;
constexpr int kBarLabels = 150;

// A number in a few characters.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// One block that the plane cuts.
struct CutBlock {
  int64_t block;
  int layer;  // of its cells
};

class SliceDrawing {
 public:
  SliceDrawing(const SliceInput& input, const SliceStyle& style)
      : input_(input),
        style_(style),
        plot_(place_plot()),
        image_(plot_.right + kMargin + kBarWidth + kBarLabels, plot_.bottom + kMargin + 2 * Image::text_height(kTextScale),
               kPaper) {
    find_cut();
    find_range();
  }

  Image draw() {
    image_.text(plot_.left, kMargin, style_.title, kTextScale, kInk);
    image_.fill(plot_, kNoValue);
    for (const CutBlock& cut : cut_) {
      draw_cells(cut);
    }
    if (style_.draw_blocks) {
      for (const CutBlock& cut : cut_) {
        image_.outline(pixels_of(cut.block), kWhite, 0.4);
      }
    }
    image_.outline({plot_.left - 1, plot_.top - 1, plot_.right + 1, plot_.bottom + 1}, kInk, 1.0);
    draw_axes();
    draw_bar();
    return std::move(image_);
  }

 private:
  double length(int d) const { return input_.domain_hi[d] - input_.domain_lo[d]; }
  double box(int64_t block, int d, int side) const {
    return input_.bounding_box[static_cast<std::size_t>(6 * block + 2 * d + side)];
  }

  PixelBox place_plot() const {
    const double longer = std::max(length(0), length(1));
    const int left = kMargin + Image::text_width("0.00", kTextScale) + 2 * kTickLength;
    const int top = 2 * kMargin + Image::text_height(kTextScale);
    return {left, top, left + static_cast<int>(std::lround(style_.plot_pixels * length(0) / longer)),
            top + static_cast<int>(std::lround(style_.plot_pixels * length(1) / longer))};
  }

  void find_cut() {
    const auto blocks = static_cast<int64_t>(input_.bounding_box.size() / 6);
    for (int64_t b = 0; b < blocks; ++b) {
      if (input_.dim == 2) {
        cut_.push_back({b, 0});
        continue;
      }
      const double share = (input_.plane_z - box(b, 2, 0)) / (box(b, 2, 1) - box(b, 2, 0));
      if (share >= 0 && share < 1) {
        cut_.push_back({b, std::min(static_cast<int>(share * input_.cells[2]), input_.cells[2] - 1)});
      }
    }
  }

  // Cells of the layer that the plane cuts, x fastest.
  std::span<const double> layer(const CutBlock& cut) const {
    const auto cells = static_cast<std::size_t>(input_.cells[0] * input_.cells[1]);
    const auto block_cells = cells * static_cast<std::size_t>(input_.cells[2]);
    return input_.values.subspan(
        static_cast<std::size_t>(cut.block) * block_cells + static_cast<std::size_t>(cut.layer) * cells, cells);
  }

  void find_range() {
    for (const CutBlock& cut : cut_) {
      for (double value : layer(cut)) {
        if (std::isfinite(value)) {
          least_ = std::min(least_, value);
          greatest_ = std::max(greatest_, value);
        }
      }
    }
    if (least_ > greatest_) {
      least_ = greatest_ = 0;
    }
  }

  double pixel_x(double x) const { return plot_.left + (x - input_.domain_lo[0]) / length(0) * (plot_.right - plot_.left); }
  double pixel_y(double y) const { return plot_.bottom - (y - input_.domain_lo[1]) / length(1) * (plot_.bottom - plot_.top); }

  PixelBox pixels_of(int64_t b) const {
    auto whole = [](double x) { return static_cast<int>(std::lround(x)); };
    // One pixel of overlap, so that neighbours share one line.
    return {whole(pixel_x(box(b, 0, 0))), whole(pixel_y(box(b, 1, 1))), std::min(whole(pixel_x(box(b, 0, 1))) + 1, plot_.right),
            std::min(whole(pixel_y(box(b, 1, 0))) + 1, plot_.bottom)};
  }

  void draw_cells(const CutBlock& cut) {
    const PixelBox pixels = pixels_of(cut.block);
    const auto values = layer(cut);
    // The cell under the centre of pixel `pixel`, when cells run from `first` to `last`.
    auto cell_at = [](int pixel, double first, double last, int cells) {
      double share = (pixel + 0.5 - first) / (last - first);
      return std::clamp(static_cast<int>(share * cells), 0, cells - 1);
    };
    for (int y = pixels.top; y < pixels.bottom; ++y) {
      int j = cell_at(y, pixel_y(box(cut.block, 1, 0)), pixel_y(box(cut.block, 1, 1)), input_.cells[1]);
      for (int x = pixels.left; x < pixels.right; ++x) {
        int i = cell_at(x, pixel_x(box(cut.block, 0, 0)), pixel_x(box(cut.block, 0, 1)), input_.cells[0]);
        image_.set(x, y, color_of(values[static_cast<std::size_t>(j * input_.cells[0] + i)]));
      }
    }
  }

  Color color_of(double value) const {
    if (!std::isfinite(value)) {
      return kNoValue;
    }
    return viridis(greatest_ > least_ ? (value - least_) / (greatest_ - least_) : 0.0);
  }

  void draw_axes() {
    for (int tick = 0; tick <= 4; ++tick) {
      const double share = tick / 4.0;
      const std::string x_label = number(input_.domain_lo[0] + share * length(0));
      const int x = plot_.left + static_cast<int>(std::lround(share * (plot_.right - plot_.left - 1)));
      image_.fill({x, plot_.bottom, x + 1, plot_.bottom + kTickLength}, kInk);
      image_.text(x - Image::text_width(x_label, kTextScale) / 2, plot_.bottom + 2 * kTickLength, x_label, kTextScale, kInk);
      const std::string y_label = number(input_.domain_lo[1] + share * length(1));
      const int y = plot_.bottom - 1 - static_cast<int>(std::lround(share * (plot_.bottom - plot_.top - 1)));
      image_.fill({plot_.left - kTickLength, y, plot_.left, y + 1}, kInk);
      image_.text(plot_.left - 2 * kTickLength - Image::text_width(y_label, kTextScale), y - Image::text_height(kTextScale) / 2,
                  y_label, kTextScale, kInk);
    }
  }

  void draw_bar() {
    const PixelBox bar{plot_.right + kMargin, plot_.top, plot_.right + kMargin + kBarWidth, plot_.bottom};
    const int height = bar.bottom - bar.top;
    for (int y = bar.top; y < bar.bottom; ++y) {
      image_.fill({bar.left, y, bar.right, y + 1}, viridis((bar.bottom - 1 - y) / static_cast<double>(height - 1)));
    }
    image_.outline({bar.left - 1, bar.top - 1, bar.right + 1, bar.bottom + 1}, kInk, 1.0);
    for (int tick = 0; tick <= 4; ++tick) {
      const int y = bar.bottom - 1 - static_cast<int>(std::lround(tick / 4.0 * (height - 1)));
      image_.fill({bar.right, y, bar.right + kTickLength, y + 1}, kInk);
      image_.text(bar.right + 2 * kTickLength, y - Image::text_height(kTextScale) / 2,
                  number(least_ + tick / 4.0 * (greatest_ - least_)), kTextScale, kInk);
    }
    image_.text(bar.left, kMargin, style_.quantity, kTextScale, kInk);
  }

  const SliceInput& input_;
  const SliceStyle& style_;
  PixelBox plot_;
  Image image_;
  std::vector<CutBlock> cut_;
  double least_ = std::numeric_limits<double>::infinity();
  double greatest_ = -std::numeric_limits<double>::infinity();
};

Status check(const SliceInput& input, const SliceStyle& style) {
  const bool cells = input.cells[0] > 0 && input.cells[1] > 0 && input.cells[2] > 0 && input.cells[0] <= 4096 &&
                     input.cells[1] <= 4096 && input.cells[2] <= 4096 && (input.dim == 3 || input.cells[2] == 1);
  if ((input.dim != 2 && input.dim != 3) || !cells) {
    return {ErrorCode::kInvalidArgument, "a slice shows blocks of 1 to 4096 cells a side in 2 or 3 dimensions"};
  }
  const auto block_cells = static_cast<std::size_t>(input.cells[0]) * static_cast<std::size_t>(input.cells[1]) *
                           static_cast<std::size_t>(input.cells[2]);
  const std::size_t blocks = input.bounding_box.size() / 6;
  if (input.bounding_box.size() != 6 * blocks || input.values.size() / block_cells != blocks ||
      input.values.size() % block_cells != 0) {
    return {ErrorCode::kInvalidArgument, "bounding boxes and values of a slice's blocks differ in number"};
  }
  if (style.plot_pixels < 16 || style.plot_pixels > 16384) {
    return {ErrorCode::kInvalidArgument, "a plot is 16 to 16384 pixels long"};
  }
  for (int d = 0; d < 2; ++d) {
    if (!(input.domain_lo[d] < input.domain_hi[d])) {
      return {ErrorCode::kInvalidArgument, "a slice's domain is empty"};
    }
  }
  return {};
}

}  // namespace

Result<Image> draw_slice(const SliceInput& input, const SliceStyle& style) {
  STRIA_RETURN_IF_ERROR(check(input, style));
  return SliceDrawing(input, style).draw();
}

}  // namespace stria::flash
