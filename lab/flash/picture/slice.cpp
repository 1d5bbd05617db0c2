#include "picture/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "picture/ticks.hpp"

namespace stria::flash {
namespace {

constexpr Color kPaper{255, 255, 255};
constexpr Color kInk{32, 32, 40};
constexpr Color kMuted{96, 100, 112};
constexpr Color kNoValue{150, 150, 150};
constexpr Pen kFrame{.color = kInk, .width = 1, .opacity = 1};
constexpr Pen kBlock{.color = {255, 255, 255}, .width = 1, .opacity = 0.38};
constexpr double kText = 16;
constexpr double kTitle = 20;
constexpr double kMargin = 24;
constexpr double kTop = 104;    // title, and the panel's name above its plot
constexpr double kLeft = 78;    // tick labels and the name of the vertical axis
constexpr double kBottom = 88;  // tick labels, the axis' name and the range
constexpr double kRight = 146;  // colour bar, its labels and its name
constexpr double kBarGap = 16;
constexpr double kBarWidth = 20;
constexpr double kTick = 6;
constexpr int kTicks = 5;
constexpr double kLogRatio = 1e3;  // from this ratio of values on, colours go by powers of ten
constexpr const char* kAxes[] = {"x", "y", "z"};
constexpr const char* kUnit = "code units";

// The axes of the plot, across and up.
struct PlotAxes {
  int across = 0;
  int up = 1;
};

PlotAxes axes_of(const SliceInput& input) {
  return input.dim == 2 ? PlotAxes{} : PlotAxes{input.normal == 0 ? 1 : 0, input.normal == 2 ? 1 : 2};
}

double length(const SliceInput& input, int d) {
  return input.domain_hi[d] - input.domain_lo[d];
}

struct PlotSize {
  double width = 0;
  double height = 0;
};

PlotSize size_of(const SliceInput& input, const SliceStyle& style) {
  const PlotAxes axes = axes_of(input);
  const double longer = std::max(length(input, axes.across), length(input, axes.up));
  return {std::round(style.plot_pixels * length(input, axes.across) / longer),
          std::round(style.plot_pixels * length(input, axes.up) / longer)};
}

// One block that the plane cuts.
struct CutBlock {
  int64_t block;
  int layer;  // the layer of its cells along the normal
};

// Maps values to colours.
struct Scale {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  bool logarithmic = false;
  Color (*colors)(double share) = viridis;

  void include(double value) {
    if (std::isfinite(value)) {
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
  }
  void finish() {
    if (least > greatest) {
      least = greatest = 0;
    }
    logarithmic = least > 0 && greatest / least >= kLogRatio;
  }
  double share(double value) const {
    if (!(greatest > least)) {
      return 0;
    }
    return logarithmic ? std::log(value / least) / std::log(greatest / least) : (value - least) / (greatest - least);
  }
  Color color(double value) const { return std::isfinite(value) ? colors(share(value)) : kNoValue; }
  std::vector<Tick> ticks() const {
    return logarithmic ? decade_ticks(least, greatest, kTicks) : round_ticks(least, greatest, kTicks);
  }
};

class PanelDrawing {
 public:
  PanelDrawing(const SliceInput& input, const SlicePanel& panel, const Box& plot, bool is_second)
      : input_(input), axes_(axes_of(input)), panel_(panel), plot_(plot) {
    scale_.colors = is_second ? inferno : viridis;
    find_cut();
    for (const CutBlock& cut : cut_) {
      for_each_value(cut, [this](double value) { scale_.include(value); });
    }
    scale_.finish();
  }

  void draw(Canvas& canvas, bool draw_blocks) const {
    canvas.fill(plot_, kNoValue);
    for (const CutBlock& cut : cut_) {
      draw_cells(canvas, cut);
    }
    if (draw_blocks) {
      for (const CutBlock& cut : cut_) {
        canvas.outline(pixels_of(cut.block), kBlock);
      }
    }
    draw_axes(canvas);
    draw_bar(canvas);
    canvas.text(plot_.left, plot_.top - 18, quantity(), {.size = kText, .bold = true, .color = kInk});
    const std::string range = scale_.greatest > scale_.least
                                  ? fmt::format("shown: {} to {}", number_markup(scale_.least), number_markup(scale_.greatest))
                                  : fmt::format("shown: {} everywhere", number_markup(scale_.least));
    canvas.text(plot_.right, plot_.top - 18, range + (scale_.logarithmic ? ", logarithmic" : ""),
                {.size = 14, .anchor = Anchor::kRight, .color = kMuted});
  }

 private:
  double box(int64_t block, int d, int side) const {
    return input_.bounding_box[static_cast<std::size_t>(6 * block + 2 * d + side)];
  }
  std::string quantity() const { return markup_of(quantity_name(panel_.name)); }

  void find_cut() {
    const auto blocks = static_cast<int64_t>(input_.bounding_box.size() / 6);
    for (int64_t b = 0; b < blocks; ++b) {
      const int n = input_.normal;
      const double share = input_.dim == 2 ? 0 : (input_.plane - box(b, n, 0)) / (box(b, n, 1) - box(b, n, 0));
      const bool at_the_end = share == 1 && box(b, n, 1) >= input_.domain_hi[n];
      if (share >= 0 && (share < 1 || at_the_end)) {
        cut_.push_back({b, input_.dim == 2 ? 0 : std::min(static_cast<int>(share * input_.cells[n]), input_.cells[n] - 1)});
      }
    }
  }

  double value(const CutBlock& cut, int across, int up) const {
    std::array<int, 3> at{};
    at[static_cast<std::size_t>(axes_.across)] = across;
    at[static_cast<std::size_t>(axes_.up)] = up;
    if (input_.dim == 3) {
      at[static_cast<std::size_t>(input_.normal)] = cut.layer;
    }
    const auto& cells = input_.cells;
    const auto index = ((cut.block * cells[2] + at[2]) * cells[1] + at[1]) * cells[0] + at[0];
    return panel_.values[static_cast<std::size_t>(index)];
  }

  template <typename Visit>
  void for_each_value(const CutBlock& cut, Visit visit) const {
    for (int up = 0; up < input_.cells[static_cast<std::size_t>(axes_.up)]; ++up) {
      for (int across = 0; across < input_.cells[static_cast<std::size_t>(axes_.across)]; ++across) {
        visit(value(cut, across, up));
      }
    }
  }

  double pixel_x(double x) const {
    return plot_.left + (x - input_.domain_lo[axes_.across]) / length(input_, axes_.across) * plot_.width();
  }
  double pixel_y(double y) const {
    return plot_.bottom - (y - input_.domain_lo[axes_.up]) / length(input_, axes_.up) * plot_.height();
  }

  // The box has whole pixels, so that neighbours share their sides.
  Box pixels_of(int64_t b) const {
    return {std::round(pixel_x(box(b, axes_.across, 0))), std::round(pixel_y(box(b, axes_.up, 1))),
            std::round(pixel_x(box(b, axes_.across, 1))), std::round(pixel_y(box(b, axes_.up, 0)))};
  }

  void draw_cells(Canvas& canvas, const CutBlock& cut) const {
    const Box pixels = pixels_of(cut.block);
    // Returns the cell under the centre of pixel `pixel`, when cells run from `first` to `last`.
    auto cell_at = [](double pixel, double first, double last, int cells) {
      return std::clamp(static_cast<int>((pixel + 0.5 - first) / (last - first) * cells), 0, cells - 1);
    };
    std::vector<Color> row(static_cast<std::size_t>(std::max(0.0, pixels.width())));
    for (double y = pixels.top; y < pixels.bottom; ++y) {
      const int up = cell_at(y, pixel_y(box(cut.block, axes_.up, 0)), pixel_y(box(cut.block, axes_.up, 1)),
                             input_.cells[static_cast<std::size_t>(axes_.up)]);
      for (std::size_t x = 0; x < row.size(); ++x) {
        const int across =
            cell_at(pixels.left + static_cast<double>(x), pixel_x(box(cut.block, axes_.across, 0)),
                    pixel_x(box(cut.block, axes_.across, 1)), input_.cells[static_cast<std::size_t>(axes_.across)]);
        row[x] = scale_.color(value(cut, across, up));
      }
      canvas.pixels(static_cast<int>(pixels.left), static_cast<int>(y), static_cast<int>(row.size()), row);
    }
  }

  void draw_axes(Canvas& canvas) const {
    canvas.outline(plot_, kFrame);
    const TextStyle centred{.size = kText, .anchor = Anchor::kMiddle, .color = kInk};
    for (const Tick& tick : round_ticks(input_.domain_lo[axes_.across], input_.domain_hi[axes_.across], kTicks)) {
      canvas.line(pixel_x(tick.value), plot_.bottom, pixel_x(tick.value), plot_.bottom + kTick, kFrame);
      canvas.text(pixel_x(tick.value), plot_.bottom + kTick + 14, tick.label, centred);
    }
    for (const Tick& tick : round_ticks(input_.domain_lo[axes_.up], input_.domain_hi[axes_.up], kTicks)) {
      canvas.line(plot_.left - kTick, pixel_y(tick.value), plot_.left, pixel_y(tick.value), kFrame);
      canvas.text(plot_.left - kTick - 5, pixel_y(tick.value), tick.label,
                  {.size = kText, .anchor = Anchor::kRight, .color = kInk});
    }
    canvas.text((plot_.left + plot_.right) / 2, plot_.bottom + kTick + 42, axis_name(axes_.across), centred);
    canvas.text(plot_.left - 62, (plot_.top + plot_.bottom) / 2, axis_name(axes_.up),
                {.size = kText, .anchor = Anchor::kMiddle, .upwards = true, .color = kInk});
  }

  static std::string axis_name(int d) { return fmt::format("<i>{}</i> ({})", kAxes[d], kUnit); }

  void draw_bar(Canvas& canvas) const {
    const Box bar{plot_.right + kBarGap, plot_.top, plot_.right + kBarGap + kBarWidth, plot_.bottom};
    for (double y = bar.top; y < bar.bottom; ++y) {
      canvas.fill({bar.left, y, bar.right, y + 1}, scale_.colors((bar.bottom - 0.5 - y) / bar.height()));
    }
    canvas.outline(bar, kFrame);
    double widest = 0;
    const TextStyle label{.size = kText, .color = kInk};
    for (const Tick& tick : scale_.ticks()) {
      const double y = bar.bottom - scale_.share(tick.value) * bar.height();
      canvas.line(bar.right, y, bar.right + kTick, y, kFrame);
      canvas.text(bar.right + kTick + 4, y, tick.label, label);
      widest = std::max(widest, canvas.text_width(tick.label, label));
    }
    canvas.text(bar.right + kTick + 4 + widest + 18, (bar.top + bar.bottom) / 2, fmt::format("{} ({})", quantity(), kUnit),
                {.size = kText, .anchor = Anchor::kMiddle, .upwards = true, .color = kInk});
  }

  const SliceInput& input_;
  PlotAxes axes_;
  const SlicePanel& panel_;
  Box plot_;
  std::vector<CutBlock> cut_;
  Scale scale_;
};

Status check_mesh(const SliceInput& input, const SliceStyle& style) {
  const bool cells = std::all_of(input.cells.begin(), input.cells.end(), [](int n) { return n > 0 && n <= 4096; }) &&
                     (input.dim == 3 || input.cells[2] == 1);
  if ((input.dim != 2 && input.dim != 3) || !cells) {
    return {ErrorCode::kInvalidArgument, "a slice shows blocks of 1 to 4096 cells per side in 2 or 3 dimensions"};
  }
  if (style.plot_pixels < 16 || style.plot_pixels > 16384) {
    return {ErrorCode::kInvalidArgument, "a plot is 16 to 16384 pixels long"};
  }
  for (int d = 0; d < input.dim; ++d) {
    if (!(input.domain_lo[static_cast<std::size_t>(d)] < input.domain_hi[static_cast<std::size_t>(d)])) {
      return {ErrorCode::kInvalidArgument, "a slice's domain is empty"};
    }
  }
  if (input.dim == 3 && (input.normal < 0 || input.normal > 2 || !(input.plane >= input.domain_lo[input.normal]) ||
                         !(input.plane <= input.domain_hi[input.normal]))) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("the plane at {} lies outside the mesh, which reaches from {} to {}", input.plane,
                        input.domain_lo[std::clamp(input.normal, 0, 2)], input.domain_hi[std::clamp(input.normal, 0, 2)])};
  }
  return {};
}

Status check_panels(const SliceInput& input, std::span<const SlicePanel> panels) {
  const auto block_cells = static_cast<std::size_t>(input.cells[0]) * static_cast<std::size_t>(input.cells[1]) *
                           static_cast<std::size_t>(input.cells[2]);
  const std::size_t blocks = input.bounding_box.size() / 6;
  const bool fit = std::all_of(panels.begin(), panels.end(), [&](const SlicePanel& panel) {
    return panel.values.size() / block_cells == blocks && panel.values.size() % block_cells == 0;
  });
  if (input.bounding_box.size() != 6 * blocks || !fit || panels.empty()) {
    return {ErrorCode::kInvalidArgument, "bounding boxes and values of a slice's blocks differ in number"};
  }
  return {};
}

}  // namespace

Box plot_box(const SliceInput& input, int panel, const SliceStyle& style) {
  const PlotSize size = size_of(input, style);
  const double left = kMargin + kLeft + panel * (size.width + kLeft + kRight);
  return {left, kTop, left + size.width, kTop + size.height};
}

std::string quantity_name(const std::string& variable) {
  static constexpr std::pair<const char*, const char*> kNames[] = {
      {"dens", "density"},         {"pres", "pressure"},      {"temp", "temperature"},   {"ener", "specific energy"},
      {"eint", "internal energy"}, {"velx", "velocity in x"}, {"vely", "velocity in y"}, {"velz", "velocity in z"}};
  const auto* const found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& entry) { return entry.first == variable; });
  return found == std::end(kNames) ? variable : found->second;
}

Result<Canvas> draw_slice(const SliceInput& input, std::span<const SlicePanel> panels, const SliceStyle& style) {
  STRIA_RETURN_IF_ERROR(check_mesh(input, style));
  STRIA_RETURN_IF_ERROR(check_panels(input, panels));
  const Box last = plot_box(input, static_cast<int>(panels.size()) - 1, style);
  Canvas canvas(static_cast<int>(last.right + kRight), static_cast<int>(last.bottom + kBottom), kPaper);
  canvas.text(plot_box(input, 0, style).left, 38, markup_of(style.title), {.size = kTitle, .color = kInk});
  for (std::size_t p = 0; p < panels.size(); ++p) {
    PanelDrawing(input, panels[p], plot_box(input, static_cast<int>(p), style), p % 2 == 1).draw(canvas, style.draw_blocks);
  }
  return canvas;
}

}  // namespace stria::flash
