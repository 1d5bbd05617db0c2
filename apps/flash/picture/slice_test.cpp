#include "picture/slice.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace stria::flash {
namespace {

bool same(Color a, Color b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

// Four 2-D blocks over the unit square with one value each.
struct FourBlocks {
  std::vector<double> boxes;
  std::vector<double> values;
  SliceInput input;

  FourBlocks() {
    for (int b = 0; b < 4; ++b) {
      double x = 0.5 * (b & 1);
      double y = 0.5 * (b >> 1);
      boxes.insert(boxes.end(), {x, x + 0.5, y, y + 0.5, 0, 1});
      values.insert(values.end(), 64, b);
    }
    input.bounding_box = boxes;
    input.values = values;
  }
};

TEST(Viridis, GrowsLighterFromEndToEnd) {
  auto lightness = [](Color c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; };
  for (int n = 0; n < 100; ++n) {
    EXPECT_LT(lightness(viridis(n / 100.0)), lightness(viridis((n + 1) / 100.0)) + 0.5);
  }
  EXPECT_TRUE(same(viridis(-1), viridis(0)));
  EXPECT_TRUE(same(viridis(2), viridis(1)));
}

TEST(Slice, ShowsEachBlockWhereItLies) {
  FourBlocks four;
  SliceStyle style;
  style.plot_pixels = 100;
  style.draw_blocks = false;
  Image image = draw_slice(four.input, style).value();
  // The plot is the only place with block 3's colour next to block 1's below it: find it by its size and the bar's place.
  int found[4] = {};
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width() - 200; ++x) {
      for (int b = 0; b < 4; ++b) {
        found[b] += same(image.at(x, y), viridis(b / 3.0)) ? 1 : 0;
      }
    }
  }
  for (int count : found) {
    EXPECT_NEAR(count, 2500, 110);
  }
}

TEST(Slice, OutlinesBlocks) {
  FourBlocks four;
  SliceStyle style;
  style.plot_pixels = 100;
  Image with = draw_slice(four.input, style).value();
  style.draw_blocks = false;
  Image without = draw_slice(four.input, style).value();
  int different = 0;
  for (int y = 0; y < with.height(); ++y) {
    for (int x = 0; x < with.width(); ++x) {
      different += same(with.at(x, y), without.at(x, y)) ? 0 : 1;
    }
  }
  EXPECT_NEAR(different, 6 * 100, 60);  // four sides and two lines across
}

TEST(Slice, CutsA3DMeshAtItsPlane) {
  std::vector<double> boxes{0, 1, 0, 1, 0, 0.5, 0, 1, 0, 1, 0.5, 1};
  std::vector<double> values(2 * 512, 7.0);
  for (std::size_t c = 512; c < 576; ++c) {  // the lowest layer of the upper block
    values[c] = c % 2 == 0 ? 1.0 : 2.0;
  }
  SliceInput input;
  input.dim = 3;
  input.cells = {8, 8, 8};
  input.bounding_box = boxes;
  input.values = values;
  SliceStyle style;
  style.plot_pixels = 80;
  style.draw_blocks = false;
  Image image = draw_slice(input, style).value();
  int lows = 0;
  int highs = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width() - 200; ++x) {
      lows += same(image.at(x, y), viridis(0)) ? 1 : 0;
      highs += same(image.at(x, y), viridis(1)) ? 1 : 0;
    }
  }
  EXPECT_EQ(lows, 3200);
  EXPECT_EQ(highs, 3200);
}

TEST(Slice, RefusesArraysThatDoNotFit) {
  FourBlocks four;
  SliceInput input = four.input;
  input.values = input.values.subspan(1);
  EXPECT_EQ(draw_slice(input, {}).status().code(), ErrorCode::kInvalidArgument);
  input = four.input;
  input.bounding_box = input.bounding_box.subspan(6);
  EXPECT_EQ(draw_slice(input, {}).status().code(), ErrorCode::kInvalidArgument);
  input = four.input;
  input.cells = {0, 8, 1};
  EXPECT_EQ(draw_slice(input, {}).status().code(), ErrorCode::kInvalidArgument);
}

TEST(Slice, PngReadsBackPixelByPixel) {
  FourBlocks four;
  four.values[5] = std::nan("");
  SliceStyle style;
  style.plot_pixels = 64;
  style.title = "t = 1.5, 4 blocks";
  Image image = draw_slice(four.input, style).value();
  std::string path = testing::TempDir() + "stria_slice_test.png";
  ASSERT_TRUE(image.write_png(path).ok());
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&png, path.c_str()), 0);
  png.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png));
  ASSERT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0);
  ASSERT_EQ(static_cast<int>(png.width), image.width());
  ASSERT_EQ(static_cast<int>(png.height), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const uint8_t* p = pixels.data() + 3 * (static_cast<std::size_t>(y) * png.width + static_cast<std::size_t>(x));
      ASSERT_TRUE(same(image.at(x, y), {p[0], p[1], p[2]}));
    }
  }
  std::filesystem::remove(path);
  EXPECT_EQ(image.write_png("/nonexistent/picture.png").code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace stria::flash
