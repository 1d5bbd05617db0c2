#include "workload/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "workload/cell_value.hpp"

namespace stria::flash {
namespace {

// Larger than any machine's memory, but small enough that no product of them overflows.
constexpr int64_t kMaxSide = 1024;
constexpr int64_t kMaxVariables = 1000;
constexpr int64_t kMaxBlocks = int64_t{1} << 30;

Status check_range(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) {
    return {};
  }
  return {ErrorCode::kInvalidArgument, fmt::format("{} is {}; it must be between {} and {}", name, value, low, high)};
}

}  // namespace

Status validate(const WorkloadParameters& parameters) {
  STRIA_RETURN_IF_ERROR(check_range("nxb", parameters.nxb, 1, kMaxSide));
  STRIA_RETURN_IF_ERROR(check_range("nvar", parameters.nvar, 1, kMaxVariables));
  STRIA_RETURN_IF_ERROR(check_range("blocks", parameters.blocks_per_rank, 0, kMaxBlocks));
  STRIA_RETURN_IF_ERROR(check_range("guard cells", parameters.guard_cells, 0, kMaxSide));
  STRIA_RETURN_IF_ERROR(check_range("max blocks", parameters.max_blocks, 0, kMaxBlocks));
  const int64_t most_blocks = parameters.blocks_per_rank > 0 ? parameters.blocks_per_rank : 82;
  if (parameters.max_blocks > 0 && parameters.max_blocks < most_blocks) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("max blocks is {}, fewer than the {} blocks of a rank", parameters.max_blocks, most_blocks)};
  }
  const int64_t allocated_blocks = parameters.max_blocks > 0 ? parameters.max_blocks : most_blocks;
  int64_t cells = 0;
  if (!checked_multiply(parameters.padded_cells_per_block() * parameters.nvar, allocated_blocks, &cells) ||
      cells >= kCellIdLimit) {
    return {ErrorCode::kInvalidArgument, "the blocks of a rank hold more cells than the benchmark can number"};
  }
  return {};
}

BlockPartition partition_blocks(const WorkloadParameters& parameters, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  BlockPartition partition;
  partition.local = parameters.blocks_on(rank);
  MPI_Exscan(&partition.local, &partition.first, 1, MPI_INT64_T, MPI_SUM, comm);
  if (rank == 0) {
    partition.first = 0;  // MPI leaves the result of an exclusive scan undefined on rank 0
  }
  MPI_Allreduce(&partition.local, &partition.total, 1, MPI_INT64_T, MPI_SUM, comm);
  return partition;
}

BlockPartition spread_blocks(int64_t total, MPI_Comm comm) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int64_t share = total / ranks;
  const int64_t rest = total % ranks;
  return {share + (rank < rest ? 1 : 0), rank * share + std::min<int64_t>(rank, rest), total};
}

}  // namespace stria::flash
