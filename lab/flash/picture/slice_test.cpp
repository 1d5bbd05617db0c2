#include "picture/slice.hpp"

#include <cairo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "picture/ticks.hpp"

namespace stria::flash {
namespace {

bool same(Color a, Color b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> list;
  for (const Tick& tick : ticks) {
    list.push_back(tick.label);
  }
  return list;
}

// Four 2-D blocks over the unit square with one value each.
struct FourBlocks {
  std::vector<double> boxes;
  std::vector<double> values;
  SliceInput input;
  SliceStyle style{.title = "t = 1.5, 4 blocks", .plot_pixels = 100, .draw_blocks = false};

  FourBlocks() {
    for (int b = 0; b < 4; ++b) {
      double x = 0.5 * (b & 1);
      double y = 0.5 * (b >> 1);
      boxes.insert(boxes.end(), {x, x + 0.5, y, y + 0.5, 0, 1});
      values.insert(values.end(), 64, b);
    }
    input.bounding_box = boxes;
  }

  Result<Canvas> draw() const {
    const SlicePanel panel{"dens", values};
    return draw_slice(input, std::span(&panel, 1), style);
  }
};

// Returns the colour in the plot at a place of the domain, 0 to 1 along both axes.
Color at(const Canvas& canvas, const Box& plot, double x, double y) {
  return canvas.at(static_cast<int>(plot.left + x * plot.width()), static_cast<int>(plot.bottom - y * plot.height()));
}

TEST(ColorMaps, GrowLighterFromEndToEnd) {
  auto lightness = [](Color c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; };
  for (const auto& colors : {viridis, inferno}) {
    for (int n = 0; n < 100; ++n) {
      EXPECT_LT(lightness(colors(n / 100.0)), lightness(colors((n + 1) / 100.0)) + 0.5);
    }
    EXPECT_TRUE(same(colors(-1), colors(0)));
    EXPECT_TRUE(same(colors(2), colors(1)));
  }
}

TEST(Ticks, AreRoundAndWithinTheRange) {
  EXPECT_EQ(labels(round_ticks(0, 1, 5)), (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(round_ticks(0.0123, 5.02, 5)), (std::vector<std::string>{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(labels(round_ticks(-3, 4, 4)), (std::vector<std::string>{"−2", "0", "2", "4"}));
  EXPECT_EQ(labels(round_ticks(0, 2e-5, 2)), (std::vector<std::string>{"0", "1×10<sup>−5</sup>", "2×10<sup>−5</sup>"}));
  EXPECT_TRUE(round_ticks(1, 1, 5).empty());
  EXPECT_TRUE(round_ticks(0, INFINITY, 5).empty());
}

TEST(Ticks, NumbersHaveThreeDigits) {
  EXPECT_EQ(number_markup(0.0150412), "0.015");
  EXPECT_EQ(number_markup(-2.9412), "−2.94");
  EXPECT_EQ(number_markup(9.9999e-6), "1×10<sup>−5</sup>");
  EXPECT_EQ(number_markup(123456789), "1.23×10<sup>8</sup>");
}

TEST(Ticks, OfPowersOfTenSkipSomeWhereTheyAreMany) {
  EXPECT_EQ(labels(decade_ticks(2e-5, 30, 5)),
            (std::vector<std::string>{"10<sup>−4</sup>", "10<sup>−2</sup>", "10<sup>0</sup>"}));
  EXPECT_EQ(labels(decade_ticks(0.9, 12, 5)), (std::vector<std::string>{"10<sup>0</sup>", "10<sup>1</sup>"}));
}

TEST(Slice, ShowsEachBlockWhereItLies) {
  FourBlocks four;
  const Canvas canvas = four.draw().value();
  const Box plot = plot_box(four.input, 0, four.style);
  EXPECT_EQ(plot.width(), 100);
  for (int b = 0; b < 4; ++b) {
    EXPECT_TRUE(same(at(canvas, plot, 0.25 + 0.5 * (b & 1), 0.25 + 0.5 * (b >> 1)), viridis(b / 3.0))) << b;
  }
}

TEST(Slice, DrawsVariablesSideBySideInColoursOfTheirOwn) {
  FourBlocks four;
  const SlicePanel panels[] = {{"dens", four.values}, {"pres", four.values}};
  const Canvas canvas = draw_slice(four.input, panels, four.style).value();
  EXPECT_TRUE(same(at(canvas, plot_box(four.input, 0, four.style), 0.75, 0.75), viridis(1)));
  EXPECT_TRUE(same(at(canvas, plot_box(four.input, 1, four.style), 0.75, 0.75), inferno(1)));
}

TEST(Slice, GoesByPowersOfTenWhereValuesSpanMany) {
  FourBlocks four;
  for (std::size_t c = 0; c < four.values.size(); ++c) {
    four.values[c] = std::pow(10.0, static_cast<double>(c / 64));
  }
  const Canvas canvas = four.draw().value();
  EXPECT_TRUE(same(at(canvas, plot_box(four.input, 0, four.style), 0.75, 0.25), viridis(1 / 3.0)));
}

TEST(Slice, OutlinesBlocksThinly) {
  FourBlocks four;
  const Canvas without = four.draw().value();
  four.style.draw_blocks = true;
  const Canvas with = four.draw().value();
  int different = 0;
  for (int y = 0; y < with.height(); ++y) {
    for (int x = 0; x < with.width(); ++x) {
      different += same(with.at(x, y), without.at(x, y)) ? 0 : 1;
    }
  }
  EXPECT_NEAR(different, 2 * 100, 20);  // two lines across; the outer ones lie under the frame
}

TEST(Slice, CutsA3DMeshAtItsPlane) {
  std::vector<double> boxes{0, 1, 0, 1, 0, 0.5, 0, 1, 0, 1, 0.5, 1};
  std::vector<double> values(2 * 512, 7.0);
  for (std::size_t c = 512; c < 576; ++c) {  // the lowest layer of the upper block
    values[c] = c % 2 == 0 ? 1.0 : 2.0;
  }
  SliceInput input{.dim = 3, .cells = {8, 8, 8}, .bounding_box = boxes};
  const SlicePanel panel{"dens", values};
  const SliceStyle style{.title = "", .plot_pixels = 80, .draw_blocks = false};
  const Canvas middle = draw_slice(input, std::span(&panel, 1), style).value();
  const Box plot = plot_box(input, 0, style);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(same(at(middle, plot, (i + 0.5) / 8, 0.5), viridis(i % 2))) << i;
  }
  // The layers of z stand above each other across x = 0.7: 7 below, then 2 in one layer, then 7.
  input.normal = 0;
  input.plane = 0.7;
  const Canvas side = draw_slice(input, std::span(&panel, 1), style).value();
  EXPECT_TRUE(same(at(side, plot, 0.5, 0.25), viridis(1)));
  EXPECT_TRUE(same(at(side, plot, 0.5, 0.5 + 0.5 / 16), viridis(0)));
  EXPECT_TRUE(same(at(side, plot, 0.5, 0.75), viridis(1)));
}

TEST(Slice, RefusesWhatDoesNotFit) {
  FourBlocks four;
  four.values.pop_back();
  EXPECT_EQ(four.draw().status().code(), ErrorCode::kInvalidArgument);
  four = FourBlocks();
  four.input.bounding_box = four.input.bounding_box.subspan(6);
  EXPECT_EQ(four.draw().status().code(), ErrorCode::kInvalidArgument);
  four = FourBlocks();
  four.input.cells = {0, 8, 1};
  EXPECT_EQ(four.draw().status().code(), ErrorCode::kInvalidArgument);
  FourBlocks flat;
  flat.input.dim = 3;
  flat.input.plane = 1.5;
  EXPECT_NE(flat.draw().status().message().find("outside the mesh, which reaches from 0 to 1"), std::string::npos);
}

TEST(Slice, PngReadsBackPixelByPixel) {
  FourBlocks four;
  four.values[5] = std::nan("");
  const Canvas canvas = four.draw().value();
  const std::string path = testing::TempDir() + "stria_slice_test.png";
  ASSERT_TRUE(canvas.write_png(path).ok());
  cairo_surface_t* image = cairo_image_surface_create_from_png(path.c_str());
  ASSERT_EQ(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
  ASSERT_EQ(cairo_image_surface_get_width(image), canvas.width());
  ASSERT_EQ(cairo_image_surface_get_height(image), canvas.height());
  for (int y = 0; y < canvas.height(); ++y) {
    const auto* row =
        reinterpret_cast<const uint32_t*>(cairo_image_surface_get_data(image) + y * cairo_image_surface_get_stride(image));
    for (int x = 0; x < canvas.width(); ++x) {
      const Color color = canvas.at(x, y);
      ASSERT_EQ(row[x] & 0xffffff, static_cast<uint32_t>(color.red << 16 | color.green << 8 | color.blue));
    }
  }
  cairo_surface_destroy(image);
  std::filesystem::remove(path);
  EXPECT_EQ(canvas.write_png("/nonexistent/picture.png").code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stria::flash
