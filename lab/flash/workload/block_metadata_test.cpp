#include "workload/block_metadata.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace stria::flash {
namespace {

TEST(BlockLattice, HoldsExactlyAllBlocks) {
  for (int64_t total = 1; total < 700; ++total) {
    const BlockLattice lattice = near_cubic_lattice(total);
    EXPECT_EQ(lattice.nx * lattice.ny * lattice.nz, total);
    EXPECT_GE(lattice.nx, lattice.ny);
  }
  const BlockLattice cube = near_cubic_lattice(64);
  EXPECT_EQ(cube.nx, 4);
  EXPECT_EQ(cube.ny, 4);
  EXPECT_EQ(cube.nz, 4);
}

TEST(BlockMetadata, NeighboursAgreeWithPlaces) {
  const int64_t total = 3 * 4 * 5;
  const BlockTable lists = make_block_table({.local = total, .first = 0, .total = total}, 2);
  ASSERT_EQ(static_cast<int64_t>(lists.gid.size()), total * kGidWidth);
  int64_t outside_faces = 0;
  for (int64_t block = 0; block < total; ++block) {
    const int32_t* gid = &lists.gid[static_cast<size_t>(block * kGidWidth)];
    for (int face = 0; face < 6; ++face) {
      if (gid[face] == kOutsideBlock) {
        ++outside_faces;
        continue;
      }
      const int64_t other = gid[face] - 1;
      EXPECT_EQ(lists.gid[static_cast<size_t>(other * kGidWidth + (face ^ 1))], block + 1);
      const auto face_end = [&](int64_t which, int side) {
        return lists.bounding_box[static_cast<size_t>(6 * which + 2 * (face / 2) + side)];
      };
      EXPECT_DOUBLE_EQ(face_end(block, face % 2), face_end(other, 1 - face % 2));
    }
    for (int entry = 6; entry < kGidWidth; ++entry) {
      EXPECT_EQ(gid[entry], kNoBlock);
    }
  }
  EXPECT_EQ(outside_faces, 2 * (3 * 4 + 4 * 5 + 3 * 5));
}

TEST(BlockMetadata, CentresLieInTheMiddleOfTheBoxes) {
  const BlockTable lists = make_block_table({.local = 5, .first = 9, .total = 24}, 3);
  for (size_t index = 0; index < 15; ++index) {
    const double low = lists.bounding_box[2 * index];
    const double high = lists.bounding_box[2 * index + 1];
    EXPECT_DOUBLE_EQ(high - low, lists.block_size[index]);
    EXPECT_DOUBLE_EQ((low + high) / 2, lists.coordinates[index]);
  }
  EXPECT_EQ(lists.processor_number, std::vector<int32_t>(5, 3));
}

TEST(BlockMetadata, DoesNotDependOnTheNumberOfRanks) {
  const BlockTable whole = make_block_table({.local = 30, .first = 0, .total = 30}, 0);
  const BlockTable part = make_block_table({.local = 7, .first = 11, .total = 30}, 1);
  EXPECT_TRUE(std::equal(part.gid.begin(), part.gid.end(), whole.gid.begin() + 11 * kGidWidth));
  EXPECT_TRUE(std::equal(part.bounding_box.begin(), part.bounding_box.end(), whole.bounding_box.begin() + 11 * 6));
}

TEST(MetadataLists, HaveAValueForEveryEntry) {
  const BlockTable lists = make_block_table({.local = 4, .first = 2, .total = 8}, 0);
  std::set<std::string> names;
  for (const MetadataList& list : metadata_lists(lists)) {
    int64_t width = 1;
    for (const int64_t extent : list.entry_shape) {
      width *= extent;
    }
    EXPECT_EQ(list.values, 4 * width) << list.hdf5_name;
    EXPECT_NE(list.data, nullptr);
    EXPECT_TRUE(names.insert(list.hdf5_name).second);
  }
  EXPECT_EQ(names.size(), 8u);
}

TEST(VariableLabels, AreDistinctAndFourCharactersLong) {
  std::set<std::string> labels;
  for (int64_t variable = 0; variable < 1000; ++variable) {
    const std::string label = variable_label(variable);
    EXPECT_EQ(label.size(), 4u);
    EXPECT_TRUE(labels.insert(label).second) << label;
  }
}

TEST(PlotVariables, AreDensityTemperaturePressureAndASpecies) {
  const auto labels = [](int64_t nvar, int64_t count) {
    std::string all;
    for (const int64_t variable : plot_variables({.nvar = nvar}, count)) {
      all += variable_label(variable) + " ";
    }
    return all;
  };
  EXPECT_EQ(labels(24, 4), "dens temp pres sp00 ");
  EXPECT_EQ(labels(24, 3), "dens temp pres ");
  EXPECT_EQ(labels(10, 4), "dens temp pres ");
  EXPECT_EQ(labels(1, 4), "dens ");
}

}  // namespace
}  // namespace stria::flash
