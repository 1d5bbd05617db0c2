// Decodes random nested MPI datatypes. The oracle is what MPI_Pack moves, and MPI's own
// sizes and bounds.
#include "mpiio/types/decode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "mpiio/types/pack_items.hpp"

namespace stria::mpiio {
namespace {

// Makes MPI datatypes whose displacements stay positive and small.
class TypeMaker {
 public:
  explicit TypeMaker(uint64_t seed) : random_(seed) {}

  // Makes a committed type of `depth` constructors above a basic one; the caller frees it.
  MPI_Datatype make(int depth) {
    if (depth == 0) {
      return basic();
    }
    MPI_Datatype old = make(depth - 1);
    MPI_Datatype made = constructed(old);
    MPI_Type_commit(&made);
    return made;
  }

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  MPI_Datatype basic() {
    static const std::array kTypes{MPI_BYTE,    MPI_CHAR,       MPI_SHORT,     MPI_INT,       MPI_DOUBLE, MPI_FLOAT,
                                   MPI_LONG,    MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_FLOAT_INT, MPI_2INT,   MPI_LONG_DOUBLE_INT,
                                   MPI_LONG_INT};
    return kTypes[static_cast<size_t>(pick(0, static_cast<int>(kTypes.size()) - 1))];
  }

  std::vector<int> lengths(int count) {
    std::vector<int> list(static_cast<size_t>(count));
    for (int& length : list) {
      length = pick(0, 3);
    }
    return list;
  }

  MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower_bound, &extent);
    return extent;
  }

  MPI_Datatype constructed(MPI_Datatype old) {
    const int count = pick(1, 4);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    switch (pick(0, 11)) {
      case 0:
        MPI_Type_contiguous(pick(0, 4), old, &made);
        break;
      case 1:
        MPI_Type_vector(count, pick(1, 3), pick(3, 6), old, &made);
        break;
      case 2:
        MPI_Type_create_hvector(count, pick(1, 2), 3 * extent_of(old) + pick(0, 5), old, &made);
        break;
      case 3: {
        const auto blocks = lengths(count);
        MPI_Type_indexed(count, blocks.data(), spread(count, 4).data(), old, &made);
        break;
      }
      case 4: {
        const auto blocks = lengths(count);
        MPI_Type_create_hindexed(count, blocks.data(), byte_spread(count, 4 * extent_of(old)).data(), old, &made);
        break;
      }
      case 5:
        MPI_Type_create_indexed_block(count, 2, spread(count, 4).data(), old, &made);
        break;
      case 6:
        MPI_Type_create_hindexed_block(count, 2, byte_spread(count, 3 * extent_of(old)).data(), old, &made);
        break;
      case 7: {
        const auto blocks = lengths(2);
        const std::array<MPI_Aint, 2> places{0, 4 * extent_of(old) + pick(0, 9)};
        const std::array<MPI_Datatype, 2> types{old, basic()};
        MPI_Type_create_struct(2, blocks.data(), places.data(), types.data(), &made);
        break;
      }
      case 8:
        MPI_Type_create_resized(old, 0, extent_of(old) + pick(0, 7), &made);
        break;
      case 9:
        subarray(old, &made);
        break;
      case 10:
        darray(old, &made);
        break;
      default:
        MPI_Type_dup(old, &made);
    }
    if (made == MPI_DATATYPE_NULL) {  // an MPI that refuses a valid constructor
      MPI_Type_dup(old, &made);
    }
    return made;
  }

  std::vector<int> spread(int count, int distance) {
    std::vector<int> places;
    for (int i = 0; i < count; ++i) {
      places.push_back(i * distance + pick(0, 1));
    }
    return places;
  }
  std::vector<MPI_Aint> byte_spread(int count, MPI_Aint distance) {
    std::vector<MPI_Aint> places;
    for (int i = 0; i < count; ++i) {
      places.push_back(i * distance + pick(0, 3));
    }
    return places;
  }

  void subarray(MPI_Datatype old, MPI_Datatype* made) {
    const int dims = pick(1, 3);
    std::array<int, 3> sizes{};
    std::array<int, 3> subsizes{};
    std::array<int, 3> starts{};
    for (size_t i = 0; i < static_cast<size_t>(dims); ++i) {
      sizes[i] = pick(1, 4);
      subsizes[i] = pick(1, sizes[i]);
      starts[i] = pick(0, sizes[i] - subsizes[i]);
    }
    MPI_Type_create_subarray(dims, sizes.data(), subsizes.data(), starts.data(), pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             old, made);
  }

  void darray(MPI_Datatype old, MPI_Datatype* made) {
    const int dims = pick(1, 3);
    std::array<int, 3> sizes{};
    std::array<int, 3> distributions{};
    std::array<int, 3> arguments{};
    std::array<int, 3> processes{};
    int size = 1;
    for (size_t i = 0; i < static_cast<size_t>(dims); ++i) {
      sizes[i] = pick(2, 6);
      processes[i] = pick(1, 3);
      const int kind = pick(0, 3);
      distributions[i] = kind == 0 ? MPI_DISTRIBUTE_BLOCK : kind == 3 ? MPI_DISTRIBUTE_NONE : MPI_DISTRIBUTE_CYCLIC;
      processes[i] = kind == 3 ? 1 : processes[i];
      arguments[i] = kind == 2 ? pick(1, 2) : MPI_DISTRIBUTE_DFLT_DARG;
      size *= processes[i];
    }
    MPI_Type_create_darray(size, pick(0, size - 1), dims, sizes.data(), distributions.data(), arguments.data(),
                           processes.data(), pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, made);
  }

  std::mt19937_64 random_;
};

std::vector<std::byte> random_bytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

constexpr int64_t kMostBytes = 1 << 20;

int compared = 0;

void compare_with_mpi(MPI_Datatype type, int count, uint64_t seed) {
  auto decoded = decode(type);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  MPI_Count size = 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent_x(type, &lower_bound, &extent);
  ASSERT_EQ(decoded->size(), size);
  ASSERT_EQ(decoded->lower_bound(), lower_bound);
  ASSERT_EQ(decoded->extent(), extent);
  auto all = Datatype::contiguous(count, *decoded);
  ASSERT_TRUE(all.ok());
  if (size == 0 || all->true_upper_bound() > kMostBytes || all->true_lower_bound() < 0) {
    return;
  }
  const auto memory = random_bytes(static_cast<size_t>(all->true_upper_bound()), seed);
  std::vector<std::byte> expected(static_cast<size_t>(all->size()));
  int position = 0;
  const int code =
      MPI_Pack(memory.data(), count, type, expected.data(), static_cast<int>(expected.size()), &position, MPI_COMM_WORLD);
  // MPICH 4.0.2 leaves out bytes of some types, and doesn't say so.
  if (code != MPI_SUCCESS || position < all->size()) {
    return;
  }
  ++compared;
  ASSERT_EQ(position, all->size());
  std::vector<std::byte> packed(expected.size());
  ASSERT_TRUE(pack_items(*all, memory.data(), packed).ok());
  ASSERT_EQ(std::memcmp(packed.data(), expected.data(), packed.size()), 0);
  std::vector<std::byte> back(memory.size());
  std::vector<std::byte> expected_back(memory.size());
  position = 0;
  MPI_Unpack(expected.data(), static_cast<int>(expected.size()), &position, expected_back.data(), count, type, MPI_COMM_WORLD);
  ASSERT_TRUE(unpack_items(*all, back.data(), packed).ok());
  ASSERT_EQ(std::memcmp(back.data(), expected_back.data(), back.size()), 0);
}

TEST(Decode, PacksWhatMpiPacks) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TypeMaker maker(seed);
    MPI_Datatype type = maker.make(maker.pick(0, 4));
    compare_with_mpi(type, maker.pick(1, 3), seed);
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(compared, 2000);
}

TEST(Decode, CountsTheSignature) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TypeMaker maker(seed);
    MPI_Datatype type = maker.make(maker.pick(0, 4));
    auto signature = signature_of(type);
    ASSERT_TRUE(signature.ok()) << signature.status().message();
    MPI_Count expected = 0;
    MPI_Type_size_x(type, &expected);
    MPI_Count bytes = 0;
    for (const SignatureRun& run : *signature) {
      MPI_Count one = 0;
      MPI_Type_size_x(run.basic, &one);
      bytes += one * run.count;
    }
    ASSERT_EQ(bytes, expected);
  }
}

TEST(Decode, KnowsTypesOfFortran) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
  auto decoded = decode(real);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->size(), 8);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, real, &pair);
  decoded = decode(pair);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->size(), 24);
  MPI_Type_free(&pair);
}

TEST(Decode, RefusesTheNullType) {
  EXPECT_FALSE(decode(MPI_DATATYPE_NULL).ok());
}

#if MPI_VERSION >= 4
TEST(Decode, ReadsConstructorsWithLargeCounts) {
  constexpr MPI_Count kMany = (MPI_Count{1} << 31) + 7;
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(kMany, MPI_BYTE, &row);
  auto decoded = decode(row);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->size(), kMany);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector_c(3, 1, 2, row, &vector);
  decoded = decode(vector);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->size(), 3 * kMany);
  EXPECT_EQ(decoded->extent(), 5 * kMany);
  const std::array<MPI_Count, 2> sizes{kMany, 4};
  const std::array<MPI_Count, 2> subsizes{1, 2};
  const std::array<MPI_Count, 2> starts{kMany - 1, 1};
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray_c(2, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, MPI_BYTE, &part);
  decoded = decode(part);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->size(), 2);
  EXPECT_EQ(decoded->true_lower_bound(), (kMany - 1) * 4 + 1);
  const std::array<MPI_Count, 2> lengths{2, 3};
  const std::array<MPI_Count, 2> places{0, kMany};
  const std::array<MPI_Datatype, 2> types{MPI_INT, MPI_BYTE};
  MPI_Datatype structure = MPI_DATATYPE_NULL;
  MPI_Type_create_struct_c(2, lengths.data(), places.data(), types.data(), &structure);
  decoded = decode(structure);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->size(), 11);
  EXPECT_EQ(decoded->true_upper_bound(), kMany + 3);
  for (MPI_Datatype* type : {&row, &vector, &part, &structure}) {
    MPI_Type_free(type);
  }
}
#endif

}  // namespace
}  // namespace stria::mpiio
