#include "datatype/pack/pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "support/naive_datatype.hpp"
#include "support/rounds.hpp"

namespace stria {
namespace {

using pack::Isa;
using test::seed_of;
using test::TypeGenerator;
using test::TypePair;

/// An operand with a list of its bytes, and its whole stream, packed byte by byte.
struct NaiveOperand {
  PackOperand operand;
  std::vector<int64_t> offsets;
  std::vector<std::byte> stream;
};

/// Converts element by element with convert_elements, which has its own test.
std::vector<std::byte> naive_stream(const PackOperand& operand, const std::vector<int64_t>& offsets) {
  const int64_t width = element_bytes(operand.memory_element);
  const int64_t stored_width = element_bytes(operand.stored_element);
  std::vector<std::byte> stream;
  for (size_t i = 0; i < offsets.size(); i += static_cast<size_t>(width)) {
    std::byte value[8];
    std::byte stored[8];
    for (size_t j = 0; j < static_cast<size_t>(width); ++j) {
      value[j] = operand.memory[offsets[i + j]];
    }
    convert_elements(operand.memory_element, value, operand.stored_element, stored, 1);
    if (operand.swap_bytes && operand.stored_element != ElementType::kByte) {
      std::reverse(stored, stored + stored_width);
    }
    stream.insert(stream.end(), stored, stored + stored_width);
  }
  return stream;
}

ValueRange naive_range(const PackOperand& operand, const std::vector<int64_t>& offsets, int64_t begin, int64_t end) {
  ValueRange range;
  const int64_t width = element_bytes(operand.memory_element);
  const int64_t stored_width = element_bytes(operand.stored_element);
  for (int64_t element = begin / stored_width; begin < end && element * stored_width < end; ++element) {
    std::byte value[8];
    for (int64_t j = 0; j < width; ++j) {
      value[j] = operand.memory[offsets[static_cast<size_t>(element * width + j)]];
    }
    widen_range(operand.memory_element, value, 1, range);
  }
  return range;
}

struct Kind {
  ElementType memory;
  ElementType stored;
  bool swap_bytes;
};

constexpr Kind kKinds[] = {
    {ElementType::kByte, ElementType::kByte, false},      {ElementType::kFloat64, ElementType::kFloat64, false},
    {ElementType::kFloat64, ElementType::kFloat64, true}, {ElementType::kFloat64, ElementType::kFloat32, false},
    {ElementType::kFloat64, ElementType::kFloat32, true}, {ElementType::kFloat32, ElementType::kFloat32, false},
    {ElementType::kFloat32, ElementType::kFloat32, true}, {ElementType::kFloat32, ElementType::kFloat64, true},
    {ElementType::kInt64, ElementType::kInt32, false},    {ElementType::kInt32, ElementType::kInt32, true},
    {ElementType::kInt16, ElementType::kFloat32, true},   {ElementType::kUint8, ElementType::kFloat64, false},
    {ElementType::kInt16, ElementType::kInt16, true},     {ElementType::kFloat64, ElementType::kInt16, false},
    {ElementType::kUint64, ElementType::kUint64, false},  {ElementType::kByte, ElementType::kByte, true},
};

/// Fills memory with numbers of the type, some of them NaN.
void fill(std::vector<std::byte>& memory, ElementType type, std::mt19937_64& random) {
  const int64_t width = element_bytes(type);
  for (size_t at = 0; at + static_cast<size_t>(width) <= memory.size(); at += static_cast<size_t>(width)) {
    const double number = random() % 17 == 0 && (type == ElementType::kFloat64 || type == ElementType::kFloat32)
                              ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000) / 8;
    if (type == ElementType::kByte) {
      memory[at] = static_cast<std::byte>(random());
    } else {
      convert_elements(ElementType::kFloat64, reinterpret_cast<const std::byte*>(&number), type, &memory[at], 1);
    }
  }
}

/// Operands of one interleaved array, or each of its own array, with the streams that
/// they must give.
class Scene {
 public:
  Scene(const TypePair& pair, const Kind& kind, const std::vector<int64_t>& bases, uint64_t seed) : random_(seed) {
    const int64_t low = pair.type.true_lower_bound();
    int64_t high = pair.type.true_upper_bound();
    for (int64_t base : bases) {
      high = std::max(high, base + pair.type.true_upper_bound());
    }
    // The pad keeps the values of all operands at multiples of their width, where fill()
    // puts its numbers.
    const int64_t pad = (8 - low % 8) % 8 + 16;
    memory_.resize(static_cast<size_t>(high - low + 2 * pad + 8));
    fill(memory_, kind.memory, random_);
    for (int64_t base : bases) {
      PackOperand operand{memory_.data() + pad - low + base, pair.type, kind.memory, kind.stored, kind.swap_bytes};
      naive_.push_back({operand, pair.naive.offsets, naive_stream(operand, pair.naive.offsets)});
    }
  }

  std::vector<PackOperand> operands() const {
    std::vector<PackOperand> list;
    for (const NaiveOperand& naive : naive_) {
      list.push_back(naive.operand);
    }
    return list;
  }
  int64_t stream_bytes() const { return static_cast<int64_t>(naive_[0].stream.size()); }

  void check_pack(const Packer& packer, int64_t begin, int64_t end, bool measures) {
    std::vector<std::vector<std::byte>> out(naive_.size());
    std::vector<PackPart> parts;
    for (size_t k = 0; k < naive_.size(); ++k) {
      out[k].assign(static_cast<size_t>(end - begin + 2), std::byte{0xaa});
      parts.push_back({static_cast<int>(k), begin, end, out[k].data() + 1});
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    std::vector<ValueRange> ranges(measures ? naive_.size() : 0);
    packer.pack(parts, ranges);
    for (size_t k = 0; k < naive_.size(); ++k) {
      ASSERT_EQ(out[k].front(), std::byte{0xaa});
      ASSERT_EQ(out[k].back(), std::byte{0xaa});
      ASSERT_TRUE(std::equal(out[k].begin() + 1, out[k].end() - 1, naive_[k].stream.begin() + begin)) << "operand " << k;
      if (measures) {
        const ValueRange range = naive_range(naive_[k].operand, naive_[k].offsets, begin, end);
        ASSERT_EQ(ranges[k].minimum, range.minimum) << "operand " << k;
        ASSERT_EQ(ranges[k].maximum, range.maximum) << "operand " << k;
      }
    }
  }

  /// Unpacks the streams into cleared memory, all at once or in pieces cut at `cuts`, and compares
  /// every byte.
  /// No byte belongs to two operands.
  void check_unpack(const Packer& packer, std::vector<int64_t> cuts) {
    const std::vector<std::byte> before = memory_;
    std::vector<std::byte> expected(memory_.size(), std::byte{0x5a});
    for (const NaiveOperand& naive : naive_) {
      store_expected(naive, expected);
    }
    std::fill(memory_.begin(), memory_.end(), std::byte{0x5a});
    cuts.push_back(0);
    cuts.push_back(stream_bytes());
    std::sort(cuts.begin(), cuts.end());
    std::vector<PackPart> parts;
    for (size_t k = 0; k < naive_.size(); ++k) {
      for (size_t c = 0; c + 1 < cuts.size(); ++c) {
        parts.push_back({static_cast<int>(k), cuts[c], cuts[c + 1], naive_[k].stream.data() + cuts[c]});
      }
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    const size_t half = cuts.size() == 2 ? parts.size() : parts.size() / 2;  // uncut, all together
    packer.unpack(std::span(parts).first(half));
    packer.unpack(std::span(parts).subspan(half));
    const bool is_equal = memory_ == expected;
    memory_ = before;
    ASSERT_TRUE(is_equal);
  }

 private:
  void store_expected(const NaiveOperand& naive, std::vector<std::byte>& memory) const {
    const PackOperand& operand = naive.operand;
    const auto width = static_cast<size_t>(element_bytes(operand.memory_element));
    const auto stored_width = static_cast<size_t>(element_bytes(operand.stored_element));
    for (size_t i = 0; i < naive.offsets.size() / width; ++i) {
      std::byte stored[8];
      std::byte value[8];
      std::copy_n(naive.stream.begin() + static_cast<int64_t>(i * stored_width), stored_width, stored);
      if (operand.swap_bytes && operand.stored_element != ElementType::kByte) {
        std::reverse(stored, stored + stored_width);
      }
      convert_elements(operand.stored_element, stored, operand.memory_element, value, 1);
      for (size_t j = 0; j < width; ++j) {
        memory[static_cast<size_t>(operand.memory + naive.offsets[i * width + j] - memory_.data())] = value[j];
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::byte> memory_;
  std::vector<NaiveOperand> naive_;
};

/// Three random cuts of a stream.
std::vector<int64_t> some_cuts(TypeGenerator& generator, int64_t bytes) {
  return {generator.pick(0, bytes), generator.pick(0, bytes), generator.pick(0, bytes)};
}

/// Packs and unpacks random parts of the scene.
void check(Scene& scene, TypeGenerator& generator, Isa isa, bool unpacks) {
  // Small operands go past the caches, too.
  const int64_t past_caches_bytes = generator.pick(0, 1) == 0 ? 0 : Packer::kPastCachesBytes;
  Result<Packer> packer = Packer::create(scene.operands(), isa, past_caches_bytes);
  ASSERT_TRUE(packer.ok()) << packer.status().message();
  const int64_t bytes = scene.stream_bytes();
  scene.check_pack(*packer, 0, bytes, false);
  scene.check_pack(*packer, 0, bytes, true);
  for (int i = 0; i < 4; ++i) {
    const int64_t begin = generator.pick(0, bytes);
    scene.check_pack(*packer, begin, generator.pick(begin, bytes), i % 2 == 0);
  }
  if (unpacks) {
    scene.check_unpack(*packer, {});
    scene.check_unpack(*packer, some_cuts(generator, bytes));
  }
}

class PackIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!pack::is_supported(GetParam())) {
      GTEST_SKIP() << "this CPU lacks the instruction set";
    }
  }
};

// Blocks with guard cells, as simulations hold them: every number of variables, all or some of them
// moved, in every form.
TEST_P(PackIsa, MovesInterleavedBlocks) {
  for (int i = 0; i < rounds(1200); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    const Kind kind = kKinds[generator.pick(0, std::size(kKinds) - 1)];
    const int64_t width = kind.memory == ElementType::kByte ? generator.pick(1, 2) * 4 : element_bytes(kind.memory);
    const int64_t variables = generator.pick(1, 33);
    const int64_t guard = generator.pick(0, 2);
    std::array<int64_t, 3> sizes{};
    std::array<int64_t, 3> subsizes{};
    const std::array<int64_t, 3> starts{guard, guard, guard};
    for (size_t d = 0; d < 3; ++d) {
      subsizes[d] = generator.pick(1, d == 2 ? 37 : 3);
      sizes[d] = subsizes[d] + 2 * guard;
    }
    const Datatype cell = Datatype::resized(Datatype::bytes(width), 0, width * variables).value();
    const Datatype type = Datatype::subarray(sizes, subsizes, starts, Order::kC, cell).value();
    TypePair pair{type, {}};
    for (int64_t c = 0; c < sizes[0] * sizes[1] * sizes[2]; ++c) {
      const int64_t x = c % sizes[2];
      const int64_t y = c / sizes[2] % sizes[1];
      const int64_t z = c / sizes[2] / sizes[1];
      const auto inside = [&](int64_t at, size_t d) { return at >= guard && at < guard + subsizes[d]; };
      for (int64_t b = 0; inside(x, 2) && inside(y, 1) && inside(z, 0) && b < width; ++b) {
        pair.naive.offsets.push_back(c * width * variables + b);
      }
    }
    std::vector<int64_t> bases;
    const int64_t every = generator.pick(0, 2);
    for (int64_t v = 0; v < variables; ++v) {
      if (every < 2 || generator.pick(0, 3) == 0 || (v + 1 == variables && bases.empty())) {
        bases.push_back(v * width);
      }
    }
    std::shuffle(bases.begin(), bases.end(), generator.random());
    Scene scene(pair, kind, bases, seed_of(i));
    check(scene, generator, GetParam(), true);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST_P(PackIsa, MovesRandomTypes) {
  for (int i = 0; i < rounds(2500); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    const Kind kind = kKinds[static_cast<size_t>(i) % std::size(kKinds)];
    TypeGenerator generator(seed_of(i), element_bytes(kind.memory));
    const bool unpacks = generator.pick(0, 1) == 0;
    const int depth = static_cast<int>(generator.pick(0, 4));
    const TypePair pair = unpacks ? generator.sorted(depth) : generator.any(depth);
    const int64_t operands = generator.pick(1, 4);
    const int64_t apart = (pair.type.true_upper_bound() - pair.type.true_lower_bound() + 7) / 8 * 8;
    std::vector<int64_t> bases;
    for (int64_t k = 0; k < operands; ++k) {
      bases.push_back(k * apart);
    }
    Scene scene(pair, kind, bases, seed_of(i));
    check(scene, generator, GetParam(), unpacks);
    if (HasFatalFailure()) {
      return;
    }
  }
}

std::string isa_name(const testing::TestParamInfo<Isa>& instance) {
  constexpr const char* kNames[] = {"Portable", "Avx2", "Avx512"};
  return kNames[static_cast<size_t>(instance.param)];
}

INSTANTIATE_TEST_SUITE_P(All, PackIsa, testing::Values(Isa::kPortable, Isa::kAvx2, Isa::kAvx512), isa_name);

TEST(Packer, LongPiecesReachMemoryPastTheCaches) {
  constexpr int64_t kPieceBytes = 2001;
  constexpr int64_t kStrideBytes = 2100;
  const Datatype type = Datatype::hvector(7, 1, kStrideBytes, Datatype::bytes(kPieceBytes)).value();
  std::vector<std::byte> memory(7 * kStrideBytes + 3);
  std::vector<std::byte> stream(7 * kPieceBytes);
  for (size_t i = 0; i < stream.size(); ++i) {
    stream[i] = static_cast<std::byte>(i % 251);
  }
  const Packer packer = Packer::create({{.memory = memory.data() + 3, .type = type}}, pack::best_isa(), 0).value();
  const PackPart part{0, 0, std::ssize(stream), stream.data()};
  packer.unpack(std::span(&part, 1));
  for (size_t i = 0; i < memory.size(); ++i) {
    const size_t at = i < 3 ? kPieceBytes : (i - 3) % kStrideBytes;
    const size_t piece = i < 3 ? 0 : (i - 3) / kStrideBytes;
    ASSERT_EQ(memory[i], at < kPieceBytes ? stream[piece * kPieceBytes + at] : std::byte{0}) << i;
  }
}

TEST(Packer, GroupsNeighboursOfEqualTypes) {
  std::vector<std::byte> memory(4096);
  const Datatype reals = Datatype::hvector(8, 1, 80, Datatype::bytes(8)).value();
  const Datatype others = Datatype::hvector(7, 1, 80, Datatype::bytes(8)).value();
  std::vector<PackOperand> operands;
  const auto add = [&](std::byte* from, const Datatype& type, ElementType stored) {
    operands.push_back({.memory = from, .type = type, .memory_element = ElementType::kFloat64, .stored_element = stored});
  };
  for (int v = 9; v >= 0; --v) {
    add(memory.data() + 8 * v, reals, ElementType::kFloat64);
  }
  add(memory.data(), others, ElementType::kFloat64);
  add(memory.data() + 8, reals, ElementType::kFloat32);
  add(memory.data() + 1000, reals, ElementType::kFloat64);
  const Packer packer = Packer::create(operands).value();
  ASSERT_EQ(packer.operand_count(), 13);
  for (int v = 1; v < 10; ++v) {
    EXPECT_EQ(packer.group(v), packer.group(0));
  }
  EXPECT_NE(packer.group(10), packer.group(0));
  EXPECT_NE(packer.group(11), packer.group(0));
  EXPECT_NE(packer.group(12), packer.group(0));
  EXPECT_EQ(packer.stream_bytes(0), 64);
  EXPECT_EQ(packer.stream_bytes(11), 32);
}

TEST(Packer, RejectsWhatItCannotMove) {
  std::byte memory[64];
  const auto code = [&](const Datatype& type, ElementType from, ElementType to) {
    return Packer::create({{.memory = memory, .type = type, .memory_element = from, .stored_element = to}}).status().code();
  };
  const Datatype cut = Datatype::hvector(2, 1, 12, Datatype::bytes(4)).value();
  EXPECT_EQ(code(Datatype::bytes(12), ElementType::kFloat64, ElementType::kFloat64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(cut, ElementType::kFloat64, ElementType::kFloat64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(Datatype::bytes(8), ElementType::kByte, ElementType::kFloat64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(cut, ElementType::kFloat32, ElementType::kFloat64), ErrorCode::kOk);
  EXPECT_EQ(code(Datatype(), ElementType::kFloat32, ElementType::kFloat64), ErrorCode::kOk);
}

}  // namespace
}  // namespace stria
