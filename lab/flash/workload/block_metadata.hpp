// The lists that FLASH stores beside the variables: one entry per block, which says where it lies
// in the tree and in space. The benchmark's mesh is a lattice of leaf blocks on one level that
// fills a box exactly. So all lists agree with each other, and readers of FLASH files can open
// what is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block_table.hpp"
#include "workload/parameters.hpp"

namespace stria::flash {

inline constexpr int64_t kGidWidth = 15;       ///< 6 face neighbours, the parent, 8 children
inline constexpr int32_t kOutsideBlock = -20;  ///< in `gid`: the domain ends here
inline constexpr int32_t kLeafBlock = 1;       ///< in `node_type`

/// Blocks of the mesh along x, y and z; x runs fastest in the order of the blocks.
struct BlockLattice {
  int64_t nx = 1, ny = 1, nz = 1;
};

/// Splits `total` blocks into a box that is as near to a cube as its divisors allow.
/// \pre total >= 1
BlockLattice near_cubic_lattice(int64_t total);

/// Makes the lists of the blocks [partition.first, partition.first + partition.local).
BlockTable make_block_table(const BlockPartition& partition, int rank);

/// One list as a writer or reader wants it: names in both file formats, shape of an entry, and the
/// local entries.
struct MetadataList {
  std::string hdf5_name;
  std::string netcdf_name;
  std::vector<int64_t> entry_shape;  ///< {} for one value per block, {15}, {3} or {3, 2}
  bool is_integer = false;           ///< int32_t, else double
  const void* data = nullptr;        ///< belongs to the BlockTable
  int64_t values = 0;                ///< values in `data`
};

/// Views the lists in the order in which FLASH writes them. The views live as long as `table`.
std::vector<MetadataList> metadata_lists(const BlockTable& table);

/// Returns the label of a variable in four characters: dens, temp, pres and so on, then species and
/// made-up ones.
std::string variable_label(int64_t variable);

/// Returns the variables that go into a plot file: density, temperature, pressure and the first
/// species, or `count` of them.
std::vector<int64_t> plot_variables(const WorkloadParameters& parameters, int64_t count);

}  // namespace stria::flash
