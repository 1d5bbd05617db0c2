#include "workload/block_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace stria::flash {
namespace {

constexpr std::array<const char*, 10> kLabels = {"dens", "velx", "vely", "velz", "pres",
                                                 "ener", "temp", "gamc", "game", "eint"};
// Dens, temp, pres, the first species.
constexpr std::array<int64_t, 4> kPlotVariables = {0, 6, 4, 10};

int64_t largest_divisor_up_to(int64_t value, int64_t limit) {
  int64_t divisor = std::max<int64_t>(limit, 1);
  while (value % divisor != 0) {
    --divisor;
  }
  return divisor;
}

int64_t integer_root(int64_t value, int power) {
  int64_t root = 0;
  auto raised = [power](int64_t base) { return power == 3 ? base * base * base : base * base; };
  while (raised(root + 1) <= value) {
    ++root;
  }
  return root;
}

void append_gid(const BlockLattice& lattice, const std::array<int64_t, 3>& place, std::vector<int32_t>* gid) {
  const std::array<int64_t, 3> sides = {lattice.nx, lattice.ny, lattice.nz};
  const std::array<int64_t, 3> steps = {1, lattice.nx, lattice.nx * lattice.ny};
  const int64_t own = place[0] * steps[0] + place[1] * steps[1] + place[2] * steps[2] + 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    gid->push_back(place[axis] > 0 ? static_cast<int32_t>(own - steps[axis]) : kOutsideBlock);
    gid->push_back(place[axis] + 1 < sides[axis] ? static_cast<int32_t>(own + steps[axis]) : kOutsideBlock);
  }
  gid->insert(gid->end(), 9, kNoBlock);
}

template <typename T>
MetadataList list_of(const char* hdf5_name, const char* netcdf_name, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {
      hdf5_name, netcdf_name, std::move(shape), std::is_same_v<T, int32_t>, values.data(), static_cast<int64_t>(values.size())};
}

}  // namespace

BlockLattice near_cubic_lattice(int64_t total) {
  assert(total >= 1);
  BlockLattice lattice;
  lattice.nz = largest_divisor_up_to(total, integer_root(total, 3));
  lattice.ny = largest_divisor_up_to(total / lattice.nz, integer_root(total / lattice.nz, 2));
  lattice.nx = total / lattice.nz / lattice.ny;
  return lattice;
}

BlockTable make_block_table(const BlockPartition& partition, int rank) {
  const BlockLattice lattice = near_cubic_lattice(std::max<int64_t>(partition.total, 1));
  const double size = 1.0 / static_cast<double>(std::max({lattice.nx, lattice.ny, lattice.nz}));
  const auto count = static_cast<size_t>(partition.local);
  BlockTable lists;
  lists.dim = 3;
  lists.local_count = partition.local;
  lists.first_block = partition.first;
  lists.global_count = partition.total;
  lists.refine_level.assign(count, 1);
  lists.node_type.assign(count, kLeafBlock);
  lists.which_child.assign(count, kNoBlock);
  lists.processor_number.assign(count, rank);
  lists.block_size.assign(3 * count, size);
  for (int64_t block = partition.first; block < partition.first + partition.local; ++block) {
    const std::array<int64_t, 3> place = {block % lattice.nx, block / lattice.nx % lattice.ny,
                                          block / (lattice.nx * lattice.ny)};
    append_gid(lattice, place, &lists.gid);
    for (const int64_t index : place) {
      lists.coordinates.push_back((static_cast<double>(index) + 0.5) * size);
      lists.bounding_box.push_back(static_cast<double>(index) * size);
      lists.bounding_box.push_back(static_cast<double>(index + 1) * size);
    }
  }
  return lists;
}

std::vector<MetadataList> metadata_lists(const BlockTable& lists) {
  return {list_of("refine level", "lrefine", {}, lists.refine_level),
          list_of("node type", "nodetype", {}, lists.node_type),
          list_of("gid", "gid", {kGidWidth}, lists.gid),
          list_of("coordinates", "coordinates", {3}, lists.coordinates),
          list_of("block size", "blocksize", {3}, lists.block_size),
          list_of("bounding box", "bndbox", {3, 2}, lists.bounding_box),
          list_of("which child", "which_child", {}, lists.which_child),
          list_of("processor number", "processor_number", {}, lists.processor_number)};
}

std::string variable_label(int64_t variable) {
  const auto known = static_cast<int64_t>(kLabels.size());
  if (variable < known) {
    return kLabels[static_cast<size_t>(variable)];
  }
  // The names go on with species and more: sp00 … sp99, then v100 and on.
  return variable - known < 100 ? fmt::format("sp{:02}", variable - known) : fmt::format("v{:03}", variable - known);
}

std::vector<int64_t> plot_variables(const WorkloadParameters& parameters, int64_t count) {
  std::vector<int64_t> variables(kPlotVariables.begin(), kPlotVariables.end());
  variables.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, 4)));
  std::erase_if(variables, [&](int64_t variable) { return variable >= parameters.nvar; });
  if (variables.empty() && count > 0) {
    variables.push_back(0);
  }
  return variables;
}

}  // namespace stria::flash
