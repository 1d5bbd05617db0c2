// Filters that know numbers: nothing is lost by scale-offset, and ZFP keeps its bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "container/chunks/filter_pipeline.hpp"
#include "container/chunks/filters/scale_offset.hpp"
#include "container/chunks/filters/zfp_header.hpp"

namespace stria::container {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

DatasetSpec spec_of(ElementType type, std::vector<int64_t> chunk, const Filters& filters) {
  DatasetSpec spec;
  spec.element = ElementSpec::of_number(type);
  spec.dims = chunk;
  spec.chunking = Chunking{std::move(chunk), filters};
  return spec;
}

Bytes to_bytes(const DatasetSpec& spec, const std::vector<uint64_t>& values) {
  const auto width = static_cast<size_t>(spec.element.bytes);
  Bytes bytes(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t byte = 0; byte < width; ++byte) {
      const size_t at = spec.element.big_endian ? width - 1 - byte : byte;
      bytes[i * width + at] = static_cast<std::byte>(values[i] >> (8 * byte));
    }
  }
  return bytes;
}

// Returns numbers of few bits above some base, and others now and then.
std::vector<uint64_t> random_integers(Random& random, size_t count, uint64_t fill) {
  const uint64_t base = random() % 3 == 0 ? random() : random() % 3 - 1;
  const auto bits = static_cast<int>(random() % 65);
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values) {
    const uint64_t pick = random() % 8;
    value = pick == 0 ? fill : base + (bits == 0 ? 0 : random() >> (64 - bits));
  }
  return values;
}

TEST(ScaleOffset, NothingIsLost) {
  Random random(11);
  const ElementType types[] = {ElementType::kInt8,  ElementType::kUint8,  ElementType::kInt16, ElementType::kUint16,
                               ElementType::kInt32, ElementType::kUint32, ElementType::kInt64, ElementType::kUint64};
  FilterPipeline pipeline;
  int coded = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto count = static_cast<int64_t>(1 + random() % 300);
    Filters filters{.scale_offset = true};
    filters.deflate = random() % 3 == 0;
    filters.fletcher32 = random() % 3 == 0;
    DatasetSpec spec = spec_of(types[random() % 8], {count}, filters);
    spec.element.big_endian = random() % 2 == 0;
    const uint64_t fill = random() % 2 == 0 ? 0 : random();
    if (fill != 0) {
      spec.fill_value = to_bytes(spec, {fill});
    }
    const Bytes chunk = to_bytes(spec, random_integers(random, static_cast<size_t>(count), fill));
    Bytes stored;
    const FilterMask skipped = pipeline.encode(spec, chunk, stored);
    coded += (skipped & 1) == 0 ? 1 : 0;
    ASSERT_LE(stored.size(), chunk.size() + (filters.fletcher32 ? 4 : 0));
    Bytes back(chunk.size());
    const Status status = pipeline.decode(spec, stored, skipped, back);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(back, chunk) << i;
  }
  EXPECT_GT(coded, 500);
  EXPECT_LT(coded, 3900);
}

// The bytes that libhdf5 1.10 makes of this chunk.
TEST(ScaleOffset, TheFormIsHdf5s) {
  DatasetSpec spec = spec_of(ElementType::kInt32, {20}, {.scale_offset = true});
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 20; ++i) {
    values.push_back(100 + i);
  }
  Bytes stored;
  ASSERT_TRUE(scale_offset(spec, to_bytes(spec, values), stored));
  const unsigned char expected[] = {5, 0, 0, 0, 8,    100,  0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                                    0, 0, 0, 0, 0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf, 0x84, 0x65, 0x30};
  const Bytes as_hdf5(reinterpret_cast<const std::byte*>(expected),
                      reinterpret_cast<const std::byte*>(expected) + sizeof expected);
  EXPECT_EQ(stored, as_hdf5);
  const std::vector<uint32_t> header = {2, 0, 20, 0, 4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(scale_offset_values(spec), header);
}

TEST(ScaleOffset, DamagedChunksAreErrorsOrOtherNumbers) {
  DatasetSpec spec = spec_of(ElementType::kInt16, {50}, {.scale_offset = true});
  const Bytes chunk(100, std::byte{1});
  Bytes stored;
  ASSERT_TRUE(scale_offset(spec, chunk, stored));
  Bytes back(chunk.size());
  for (size_t size = 0; size + 1 < stored.size(); ++size) {
    EXPECT_EQ(undo_scale_offset(spec, std::span(stored).first(size), back).code(), ErrorCode::kCorrupted) << size;
  }
  stored[0] = std::byte{17};
  EXPECT_EQ(undo_scale_offset(spec, stored, back).code(), ErrorCode::kCorrupted);
}

TEST(Filters, WordsAreThoseOfTheHelp) {
  EXPECT_EQ(Filters::from_text("deflate"), Filters::compress());
  EXPECT_EQ(Filters::from_text("zstd"), (Filters{.shuffle = true, .zstd = true}));
  EXPECT_EQ(Filters::from_text("scale_offset"), (Filters{.scale_offset = true}));
  EXPECT_EQ(Filters::from_text("zfp_absolute:1e-3"), (Filters{.zfp_absolute = 1e-3}));
  EXPECT_EQ(Filters::from_text("zfp_relative:0.25"), (Filters{.zfp_relative = 0.25}));
  EXPECT_EQ(Filters::from_text("zfp_reversible"), (Filters{.zfp_reversible = true}));
  EXPECT_EQ(Filters::from_text("zfp_rate:3.5"), (Filters{.zfp_rate = 3.5}));
  for (const char* const wrong :
       {"", "gzip", "zfp_rate", "zfp_rate:0", "zfp_reversible:1", "zfp", "zfp_absolute", "zfp_absolute:", "zfp_absolute:-1",
        "zfp_absolute:0", "zfp_absolute:1x", "zfp_relative:nan", "deflate "}) {
    EXPECT_THROW(Filters::from_text(wrong), Error) << wrong;
  }
}

// The values that H5Z-ZFP 1.1.1 stores.
TEST(ZfpHeader, TheFormIsThatOfTheRegisteredFilter) {
  const auto values_of = [](ElementType type, std::vector<int64_t> chunk, const Filters& filters) {
    std::vector<uint32_t> values = zfp_values(spec_of(type, std::move(chunk), filters));
    values.erase(values.begin());  // versions
    return values;
  };
  using Values = std::vector<uint32_t>;
  EXPECT_EQ(values_of(ElementType::kFloat64, {8, 8, 8}, {.zfp_absolute = 1e-3}), (Values{0x570667a, 0x70007b, 0xca900070}));
  EXPECT_EQ(values_of(ElementType::kFloat32, {4, 1, 8}, {.zfp_absolute = 0.5}), (Values{0x570667a, 0x30000076, 0xcb200000}));
  EXPECT_EQ(values_of(ElementType::kFloat64, {2, 1, 2, 4, 5}, {.zfp_absolute = 1e-2}),
            (Values{0x570667a, 0x1003004f, 0xcac00100}));
  // 12 planes of one dimension: 2^-7.
  EXPECT_EQ(values_of(ElementType::kFloat32, {32}, {.zfp_relative = 0x1p-7}), (Values{0x570667a, 0x1f2, 0x80b00000}));
  EXPECT_EQ(values_of(ElementType::kFloat32, {4, 1, 8}, {.zfp_reversible = true}), (Values{0x570667a, 0x30000076, 0x88000000}));
  EXPECT_EQ(values_of(ElementType::kFloat64, {4, 4, 4, 8}, {.zfp_rate = 8}), (Values{0x570667a, 0x3003007f, 0x7ff00300}));
  EXPECT_EQ(values_of(ElementType::kFloat32, {32}, {.zfp_rate = 3.5}), (Values{0x570667a, 0x1f2, 0xd00000}));
  // A block of 4 has 12 bits at least.
  EXPECT_EQ(values_of(ElementType::kFloat64, {32}, {.zfp_rate = 1}), (Values{0x570667a, 0x1f3, 0xb00000}));
}

TEST(ZfpHeader, ABoundIsReadBack) {
  for (int exponent = -1074; exponent < 844; ++exponent) {
    const DatasetSpec spec = spec_of(ElementType::kFloat64, {5, 6}, {.zfp_absolute = std::ldexp(1.0, exponent)});
    DatasetSpec bare = spec;
    bare.chunking->filters = {};
    EXPECT_EQ(zfp_filters(zfp_values(spec), bare), spec.chunking->filters);
    bare.chunking->dims[0] = 4;
    EXPECT_EQ(zfp_filters(zfp_values(spec), bare), std::nullopt);
  }
}

TEST(ZfpHeader, SoAreOtherModes) {
  std::vector<Filters> modes = {{.zfp_reversible = true}};
  for (int bits = 12; bits <= 2048; ++bits) {
    modes.push_back({.zfp_rate = bits / 16.0});
  }
  for (const Filters& mode : modes) {
    const DatasetSpec spec = spec_of(ElementType::kFloat64, {5, 6}, mode);
    EXPECT_TRUE(check_zfp(spec).ok());
    DatasetSpec bare = spec;
    bare.chunking->filters = {};
    EXPECT_EQ(zfp_filters(zfp_values(spec), bare), mode);
  }
  // A long name, as the plug-in gives to a rate of 9 in 4 dimensions.
  const DatasetSpec four = spec_of(ElementType::kFloat64, {4, 4, 4, 8}, {});
  const std::vector<uint32_t> values = {0x10105111, 0x570667a, 0x3003007f, 0xfff00300, 0xc47f88ff, 0x787af};
  EXPECT_EQ(zfp_filters(values, four), std::nullopt);
}

TEST(ZfpHeader, WhatZfpDoesNotTakeIsRefused) {
  const auto why = [](DatasetSpec spec) { return check_zfp(spec).message(); };
  const Filters bound{.zfp_absolute = 1};
  EXPECT_TRUE(check_zfp(spec_of(ElementType::kFloat32, {1, 2, 1, 3, 4, 5}, bound)).ok());
  EXPECT_EQ(why(spec_of(ElementType::kInt32, {8}, bound)), "ZFP takes float32 and float64");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {1, 1}, bound)),
            "ZFP takes chunks of 1 to 4 dimensions longer than 1; these have 0");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {2, 2, 2, 2, 2}, bound)),
            "ZFP takes chunks of 1 to 4 dimensions longer than 1; these have 5");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {2, 2, 2, 4097}, bound)), "ZFP takes chunks of 4 dimensions of at most 4096");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {8}, {.zfp_relative = 1})), "ZFP takes a relative bound above 0 and below 1");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {8}, {.zfp_absolute = -1})), "ZFP takes an absolute bound above 0");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {8}, {.zfp_absolute = 1, .zfp_relative = 0.5})),
            "ZFP takes an absolute or a relative bound, or a rate, or is reversible");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {8}, {.zfp_reversible = true, .zfp_rate = 8})),
            "ZFP takes an absolute or a relative bound, or a rate, or is reversible");
  EXPECT_EQ(why(spec_of(ElementType::kFloat32, {2, 2, 2, 2}, {.zfp_rate = 8.5})),
            "ZFP takes a rate above 0 and up to 8 bits in 4 dimensions");
  DatasetSpec swapped = spec_of(ElementType::kFloat32, {8}, bound);
  swapped.element.big_endian = true;
  EXPECT_EQ(why(swapped), "ZFP takes numbers in the machine's byte order");
}

double random_number(Random& random, int kind, size_t i) {
  const double noise = std::uniform_real_distribution<double>(-1, 1)(random);
  switch (kind) {
    case 0:
      return std::sin(static_cast<double>(i) / 40) * 100 + noise * 1e-3;
    case 1:
      return noise;
    case 2:
      return std::ldexp(noise, static_cast<int>(random() % 120) - 60);
    case 3:
      return random() % 400 == 0 ? std::numeric_limits<double>::quiet_NaN() : noise;
    case 4:
      return random() % 400 == 0 ? HUGE_VAL : noise;
    default:
      return 0;
  }
}

template <typename T>
void check_bound(Random& random, FilterPipeline& pipeline, int& kept) {
  std::vector<int64_t> dims;
  size_t count = 1;
  for (uint64_t dim = 0, all = 1 + random() % 4; dim < all; ++dim) {
    dims.push_back(static_cast<int64_t>(2 + random() % 11));
    count *= static_cast<size_t>(dims.back());
  }
  Filters filters;
  const double bound = std::ldexp(1 + static_cast<double>(random() % 100) / 100, -static_cast<int>(random() % 30));
  const bool is_absolute = random() % 2 == 0;
  (is_absolute ? filters.zfp_absolute : filters.zfp_relative) = is_absolute ? bound * 100 : bound / 2;
  const DatasetSpec spec = spec_of(element_type_of<T>(), dims, filters);
  ASSERT_TRUE(check_zfp(spec).ok());
  const auto kind = static_cast<int>(random() % 6);
  std::vector<T> values(count);
  double greatest = 0;
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(random_number(random, kind, i));
    greatest = std::max(greatest, std::abs(static_cast<double>(values[i])));
  }
  const auto chunk = std::as_bytes(std::span(values));
  Bytes stored;
  const FilterMask skipped = pipeline.encode(spec, chunk, stored);
  ASSERT_LE(stored.size(), chunk.size());
  kept += skipped == 0 ? 1 : 0;
  std::vector<T> back(count);
  const Status status = pipeline.decode(spec, stored, skipped, std::as_writable_bytes(std::span(back)));
  ASSERT_TRUE(status.ok()) << status.message();
  const double most = is_absolute ? filters.zfp_absolute : filters.zfp_relative * greatest;
  for (size_t i = 0; i < count; ++i) {
    if (skipped != 0) {
      ASSERT_EQ(std::memcmp(&values[i], &back[i], sizeof(T)), 0);
    } else {
      ASSERT_LE(std::abs(static_cast<double>(values[i]) - static_cast<double>(back[i])), most) << kind << " " << bound;
    }
  }
  Bytes exact;
  EXPECT_NE(pipeline.encode(spec, chunk, exact, {.exact = true, .raw = false}), 0u);
  EXPECT_TRUE(std::equal(exact.begin(), exact.end(), chunk.begin(), chunk.end()));
}

TEST(Zfp, BoundsAreKept) {
  if (!ZfpCodec::available().ok()) {
    GTEST_SKIP() << ZfpCodec::available().message();
  }
  Random random(12);
  FilterPipeline pipeline;
  int kept = 0;
  for (int i = 0; i < 600 && !testing::Test::HasFatalFailure(); ++i) {
    check_bound<double>(random, pipeline, kept);
    check_bound<float>(random, pipeline, kept);
  }
  EXPECT_GT(kept, 500);
  EXPECT_LT(kept, 1150);
}

TEST(Zfp, ReversibleLosesNothingAndARateHasItsSize) {
  if (!ZfpCodec::available().ok()) {
    GTEST_SKIP() << ZfpCodec::available().message();
  }
  Random random(14);
  FilterPipeline pipeline;
  int kept = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<double> values(8 * 12 * 4);
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = random_number(random, i % 6, k);
    }
    const auto chunk = std::as_bytes(std::span(values));
    std::vector<double> back(values.size());
    Bytes stored;
    const DatasetSpec exact = spec_of(ElementType::kFloat64, {8, 12, 4}, {.zfp_reversible = true});
    const FilterMask skipped = pipeline.encode(exact, chunk, stored, {.exact = i % 2 == 0, .raw = false});
    kept += skipped == 0 ? 1 : 0;
    ASSERT_TRUE(pipeline.decode(exact, stored, skipped, std::as_writable_bytes(std::span(back))).ok());
    ASSERT_EQ(std::memcmp(values.data(), back.data(), chunk.size()), 0) << i;
    stored.clear();
    const DatasetSpec fixed = spec_of(ElementType::kFloat64, {8, 12, 4}, {.zfp_rate = 16});
    const bool is_finite = pipeline.encode(fixed, chunk, stored) == 0;
    ASSERT_EQ(is_finite, std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
    ASSERT_EQ(stored.size(), is_finite ? chunk.size() / 4 : chunk.size());
  }
  EXPECT_GT(kept, 20);
}

TEST(Zfp, DamagedChunksStayWithinTheirMemory) {
  if (!ZfpCodec::available().ok()) {
    GTEST_SKIP() << ZfpCodec::available().message();
  }
  Random random(13);
  FilterPipeline pipeline;
  const DatasetSpec spec = spec_of(ElementType::kFloat64, {7, 9, 5}, {.zfp_absolute = 1e-3});
  std::vector<double> values(7 * 9 * 5);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i));
  }
  Bytes stored;
  ASSERT_EQ(pipeline.encode(spec, std::as_bytes(std::span(values)), stored), 0u);
  std::vector<double> back(values.size());
  EXPECT_EQ(
      pipeline.decode(spec, std::span(stored).first(stored.size() / 2), 0, std::as_writable_bytes(std::span(back))).code(),
      ErrorCode::kCorrupted);
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = stored;
    for (uint64_t changes = random() % 5; changes > 0; --changes) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    }
    damaged.resize(1 + random() % damaged.size());
    static_cast<void>(pipeline.decode(spec, damaged, 0, std::as_writable_bytes(std::span(back))));
  }
}

}  // namespace
}  // namespace stria::container
