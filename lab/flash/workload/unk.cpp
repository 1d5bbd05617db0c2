#include "workload/unk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::flash {
namespace {

constexpr int64_t kPageBytes = 4096;

/// Calls `visit(i, j, k)` for every cell of a padded block, counted from the first interior cell.
template <typename Visit>
void for_each_padded_cell(const WorkloadParameters& p, Visit visit) {
  const int64_t low = -p.guard_cells;
  const int64_t high = p.nxb + p.guard_cells;
  for (int64_t k = low; k < high; ++k) {
    for (int64_t j = low; j < high; ++j) {
      for (int64_t i = low; i < high; ++i) {
        visit(i, j, k);
      }
    }
  }
}

bool is_guard(const WorkloadParameters& p, int64_t i, int64_t j, int64_t k) {
  return std::min({i, j, k}) < 0 || std::max({i, j, k}) >= p.nxb;
}

}  // namespace

Result<Unk> Unk::create(const WorkloadParameters& parameters, const BlockPartition& partition) {
  STRIA_RETURN_IF_ERROR(validate(parameters));
  Unk unk;
  unk.parameters_ = parameters;
  unk.partition_ = partition;
  unk.allocated_blocks_ = std::max(parameters.max_blocks, partition.local);
  const int64_t bytes = align_up(std::max<int64_t>(unk.size_bytes(), 1), kPageBytes);
  unk.data_.reset(static_cast<double*>(std::aligned_alloc(kPageBytes, static_cast<size_t>(bytes))));
  if (!unk.data_) {
    return Status(ErrorCode::kResourceExhausted,
                  fmt::format("no memory for {} blocks ({} bytes) on a rank", unk.allocated_blocks_, bytes));
  }
  unk.fill();
  return unk;
}

void Unk::fill() {
  for (int64_t block = 0; block < blocks(); ++block) {
    fill_block(block);
  }
  std::fill(data() + blocks() * stride_block(), data() + allocated_blocks_ * stride_block(),
            std::numeric_limits<double>::quiet_NaN());
}

void Unk::fill_block(int64_t block) {
  const int64_t first_id = (partition_.first + block) * parameters_.nvar * parameters_.padded_cells_per_block();
  double* cell = data() + block * stride_block();
  int64_t cell_index = 0;
  for_each_padded_cell(parameters_, [&](int64_t i, int64_t j, int64_t k) {
    const bool guard = is_guard(parameters_, i, j, k);
    for (int64_t variable = 0; variable < parameters_.nvar; ++variable) {
      *cell++ = value_of_id(first_id + variable * parameters_.padded_cells_per_block() + cell_index, guard);
    }
    ++cell_index;
  });
}

Status Unk::take_values(const std::string& path) {
  const int64_t nxb = parameters_.nxb;
  const int64_t slice_bytes = parameters_.cells_per_block() * static_cast<int64_t>(sizeof(double));
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const int64_t slices = file ? static_cast<int64_t>(file.tellg()) / slice_bytes : 0;
  if (slices < 1) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' has no block of {}^3 doubles", path, nxb));
  }
  std::vector<double> values(static_cast<size_t>(parameters_.cells_per_block()));
  for (int64_t variable = 0; variable < parameters_.nvar; ++variable) {
    for (int64_t block = 0; block < blocks(); ++block) {
      file.seekg((variable * partition_.total + partition_.first + block) % slices * slice_bytes);
      if (!file.read(reinterpret_cast<char*>(values.data()), slice_bytes)) {
        return Status(ErrorCode::kIo, fmt::format("'{}' can't be read", path));
      }
      for (int64_t cell = 0; cell < parameters_.cells_per_block(); ++cell) {
        const int64_t i = cell % nxb, j = cell / nxb % nxb, k = cell / nxb / nxb;
        interior(block)[k * stride_k() + j * stride_j() + i * stride_i() + variable] = values[static_cast<size_t>(cell)];
      }
    }
  }
  return Status();
}

void Unk::poison() {
  std::fill(data(), data() + allocated_blocks_ * stride_block(), std::numeric_limits<double>::quiet_NaN());
}

std::string Unk::check_interior() const {
  std::string wrong;
  for (int64_t block = 0; block < blocks() && wrong.empty(); ++block) {
    const double* cell = data() + block * stride_block();
    for_each_padded_cell(parameters_, [&](int64_t i, int64_t j, int64_t k) {
      for (int64_t variable = 0; variable < parameters_.nvar && !is_guard(parameters_, i, j, k); ++variable) {
        const CellPlace place{partition_.first + block, variable, i, j, k};
        const double expected = expected_value(parameters_, place);
        if (cell[variable] != expected && wrong.empty()) {
          wrong = fmt::format("in memory, expected {}, found {}", describe_value(parameters_, expected),
                              describe_value(parameters_, cell[variable]));
        }
      }
      cell += parameters_.nvar;
    });
  }
  return wrong;
}

std::string Unk::check_guard_cells_untouched() const {
  std::string wrong;
  for (int64_t block = 0; block < blocks() && wrong.empty(); ++block) {
    const double* cell = data() + block * stride_block();
    for_each_padded_cell(parameters_, [&](int64_t i, int64_t j, int64_t k) {
      for (int64_t variable = 0; variable < parameters_.nvar && is_guard(parameters_, i, j, k); ++variable) {
        if (!std::isnan(cell[variable]) && wrong.empty()) {
          wrong = fmt::format("guard cell i={} j={} k={} of block {}, variable {}, was overwritten with {}", i, j, k,
                              partition_.first + block, variable, describe_value(parameters_, cell[variable]));
        }
      }
      cell += parameters_.nvar;
    });
  }
  return wrong;
}

}  // namespace stria::flash
