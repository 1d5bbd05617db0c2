#include "datatype/convert/convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace stria {
namespace {

constexpr ElementType kNumeric[] = {ElementType::kInt8,    ElementType::kUint8,  ElementType::kInt16, ElementType::kUint16,
                                    ElementType::kInt32,   ElementType::kUint32, ElementType::kInt64, ElementType::kUint64,
                                    ElementType::kFloat32, ElementType::kFloat64};

template <typename To, typename From>
To convert(From value) {
  // The memory is unaligned on purpose.
  std::byte source[sizeof(From) + 1];
  std::byte target[sizeof(To) + 1];
  std::memcpy(source + 1, &value, sizeof value);
  convert_elements(element_type_of<From>(), source + 1, element_type_of<To>(), target + 1, 1);
  To result;
  std::memcpy(&result, target + 1, sizeof result);
  return result;
}

TEST(Convert, FollowsCxxWhereThatIsDefined) {
  EXPECT_EQ((convert<int64_t, int8_t>(-7)), -7);
  EXPECT_EQ((convert<int32_t, double>(-2.9)), -2);
  EXPECT_EQ((convert<float, double>(0.1)), 0.1f);
  EXPECT_EQ((convert<double, float>(0.1f)), static_cast<double>(0.1f));
  EXPECT_EQ((convert<float, int64_t>((1ll << 53) + 1)), std::ldexp(1.f, 53));
  EXPECT_TRUE(std::isinf(convert<float, double>(1e300)));
  EXPECT_TRUE(std::isnan(convert<float, double>(std::nan(""))));
}

template <typename To, typename From>
void expect_held_within() {
  using Ends = std::numeric_limits<To>;
  for (const From value : {std::numeric_limits<From>::min(), static_cast<From>(-1), From{0}, From{1}, From{100},
                           std::numeric_limits<From>::max()}) {
    // The conversion is exact: a long double has 64 bits of mantissa.
    const auto nearest = std::clamp<long double>(value, Ends::min(), Ends::max());
    EXPECT_EQ((convert<To, From>(value)), static_cast<To>(nearest)) << +value;
  }
}

template <typename From>
void expect_held_within_all() {
  expect_held_within<int8_t, From>();
  expect_held_within<uint8_t, From>();
  expect_held_within<int16_t, From>();
  expect_held_within<uint16_t, From>();
  expect_held_within<int32_t, From>();
  expect_held_within<uint32_t, From>();
  expect_held_within<int64_t, From>();
  expect_held_within<uint64_t, From>();
}

TEST(Convert, IntegersBecomeTheNearestThatFits) {
  EXPECT_EQ((convert<uint8_t, int32_t>(-1)), 0);
  EXPECT_EQ((convert<int8_t, int32_t>(200)), 127);
  EXPECT_EQ((convert<int64_t, uint64_t>(UINT64_MAX)), INT64_MAX);
  expect_held_within_all<int8_t>();
  expect_held_within_all<uint8_t>();
  expect_held_within_all<int16_t>();
  expect_held_within_all<uint16_t>();
  expect_held_within_all<int32_t>();
  expect_held_within_all<uint32_t>();
  expect_held_within_all<int64_t>();
  expect_held_within_all<uint64_t>();
}

template <typename To, typename From>
void expect_clamped() {
  EXPECT_EQ((convert<To, From>(std::numeric_limits<From>::infinity())), std::numeric_limits<To>::max());
  EXPECT_EQ((convert<To, From>(-std::numeric_limits<From>::infinity())), std::numeric_limits<To>::min());
  EXPECT_EQ((convert<To, From>(std::ldexp(From{1}, std::numeric_limits<To>::digits))), std::numeric_limits<To>::max());
  EXPECT_EQ((convert<To, From>(static_cast<From>(std::numeric_limits<To>::min()))), std::numeric_limits<To>::min());
  EXPECT_EQ((convert<To, From>(std::numeric_limits<From>::quiet_NaN())), 0);
  EXPECT_EQ((convert<To, From>(From{42.75})), 42);
}

TEST(Convert, ClampsFloatingPointToIntegers) {
  expect_clamped<int8_t, float>();
  expect_clamped<uint8_t, double>();
  expect_clamped<int16_t, double>();
  expect_clamped<uint16_t, float>();
  expect_clamped<int32_t, float>();
  expect_clamped<int32_t, double>();
  expect_clamped<uint32_t, double>();
  expect_clamped<int64_t, float>();
  expect_clamped<int64_t, double>();
  expect_clamped<uint64_t, float>();
  expect_clamped<uint64_t, double>();
}

TEST(Convert, KeepsSmallNumbersThroughEveryPair) {
  for (ElementType from : kNumeric) {
    for (ElementType to : kNumeric) {
      ASSERT_TRUE(can_convert(from, to));
      for (double number : {0., 1., 2., 77., 127.}) {
        std::byte a[8];
        std::byte b[8];
        std::byte c[8];
        convert_elements(ElementType::kFloat64, reinterpret_cast<const std::byte*>(&number), from, a, 1);
        convert_elements(from, a, to, b, 1);
        convert_elements(to, b, ElementType::kFloat64, c, 1);
        double back;
        std::memcpy(&back, c, sizeof back);
        EXPECT_EQ(back, number) << element_type_name(from) << " to " << element_type_name(to);
      }
    }
    EXPECT_FALSE(can_convert(from, ElementType::kByte));
    EXPECT_FALSE(can_convert(ElementType::kByte, from));
  }
  EXPECT_TRUE(can_convert(ElementType::kByte, ElementType::kByte));
}

TEST(Convert, SwapsElementsOfEveryWidth) {
  std::mt19937 random(1);
  for (int64_t width : {1, 2, 4, 8}) {
    std::vector<std::byte> source(static_cast<size_t>(width * 37));
    for (std::byte& b : source) {
      b = static_cast<std::byte>(random());
    }
    std::vector<std::byte> target(source.size());
    swap_elements(width, source.data(), target.data(), 37);
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        ASSERT_EQ(target[static_cast<size_t>(i * width + j)], source[static_cast<size_t>(i * width + width - 1 - j)]);
      }
    }
    swap_elements(width, target.data(), target.data(), 37);
    ASSERT_EQ(target, source);
  }
}

TEST(Convert, MeasuresWithoutNan) {
  const double values[] = {std::nan(""), 3., -7.5, std::nan(""), 2.};
  ValueRange range;
  widen_range(ElementType::kFloat64, reinterpret_cast<const std::byte*>(values), 1, range);
  EXPECT_GT(range.minimum, range.maximum);
  widen_range(ElementType::kFloat64, reinterpret_cast<const std::byte*>(values), 5, range);
  EXPECT_EQ(range.minimum, -7.5);
  EXPECT_EQ(range.maximum, 3.);
}

template <typename T>
void expect_range_of_plain_loop(std::mt19937_64& random) {
  for (const int64_t count : {0, 1, 7, 64, 65, 1000}) {
    std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(T) + 1);
    ValueRange expected{-1, 2};
    ValueRange range = expected;
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<T>(random());
      if constexpr (std::is_floating_point_v<T>) {
        value = random() % 4 == 0 ? std::numeric_limits<T>::quiet_NaN() : value - static_cast<T>(std::ldexp(1., 63));
        value = random() % 500 == 0 ? std::numeric_limits<T>::infinity() : value;
      }
      std::memcpy(bytes.data() + 1 + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
      if (value == value) {
        expected.minimum = std::min(expected.minimum, static_cast<double>(value));
        expected.maximum = std::max(expected.maximum, static_cast<double>(value));
      }
    }
    widen_range(element_type_of<T>(), bytes.data() + 1, count, range);
    EXPECT_EQ(range.minimum, expected.minimum) << static_cast<int>(element_type_of<T>()) << ", " << count;
    EXPECT_EQ(range.maximum, expected.maximum) << static_cast<int>(element_type_of<T>()) << ", " << count;
  }
}

TEST(Convert, MeasuresEveryTypeAsAPlainLoopDoes) {
  std::mt19937_64 random(19);
  expect_range_of_plain_loop<int8_t>(random);
  expect_range_of_plain_loop<uint8_t>(random);
  expect_range_of_plain_loop<int16_t>(random);
  expect_range_of_plain_loop<uint16_t>(random);
  expect_range_of_plain_loop<int32_t>(random);
  expect_range_of_plain_loop<uint32_t>(random);
  expect_range_of_plain_loop<int64_t>(random);
  expect_range_of_plain_loop<uint64_t>(random);
  expect_range_of_plain_loop<float>(random);
  expect_range_of_plain_loop<double>(random);
}

TEST(ElementType, HasSizesAndNames) {
  EXPECT_EQ(element_bytes(ElementType::kByte), 1);
  EXPECT_EQ(element_bytes(ElementType::kUint16), 2);
  EXPECT_EQ(element_bytes(ElementType::kFloat32), 4);
  EXPECT_EQ(element_bytes(ElementType::kInt64), 8);
  EXPECT_STREQ(element_type_name(ElementType::kFloat64), "float64");
  EXPECT_STREQ(element_type_name(ElementType::kByte), "byte");
}

}  // namespace
}  // namespace stria
