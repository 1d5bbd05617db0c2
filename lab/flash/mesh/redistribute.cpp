#include "mesh/redistribute.hpp"

#include <algorithm>

#include "mesh/ghost_exchange.hpp"

namespace stria::flash {
namespace {

constexpr int kBlocksTag = 7102;

// A run of blocks that this rank shares with another one.
struct Run {
  int rank;
  int64_t begin;
  int64_t end;
};

// Returns what `mine` and each rank's part of the partition `first` have in common.
std::vector<Run> overlaps(int64_t begin, int64_t end, std::span<const int64_t> first) {
  std::vector<Run> runs;
  for (std::size_t rank = 0; rank + 1 < first.size(); ++rank) {
    Run run{static_cast<int>(rank), std::max(begin, first[rank]), std::min(end, first[rank + 1])};
    if (run.begin < run.end) {
      runs.push_back(run);
    }
  }
  return runs;
}

// Calls body(row of interior cells in unk) for each row of a block; the row is contiguous.
template <typename Body>
void for_each_row(const BlockShape& shape, Body&& body) {
  for (int k = 0; k < shape.cells[2]; ++k) {
    for (int j = 0; j < shape.cells[1]; ++j) {
      body(shape.offset(0, j, k));
    }
  }
}

}  // namespace

void redistribute(MPI_Comm comm, const BlockShape& shape, std::span<const int64_t> from_first,
                  std::span<const int64_t> to_first, const double* from, double* to) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int64_t row = static_cast<int64_t>(shape.cells[0]) * shape.variable_count;
  const int64_t packed = shape.interior_cells() * shape.variable_count;
  const int64_t from_begin = from_first[rank];
  const int64_t to_begin = to_first[rank];
  std::vector<Run> sends = overlaps(from_begin, from_first[rank + 1], to_first);
  std::vector<Run> receives = overlaps(to_begin, to_first[rank + 1], from_first);
  DoublesType block_type(packed);
  std::vector<double> incoming(static_cast<std::size_t>((to_first[rank + 1] - to_begin) * packed));
  std::vector<double> outgoing(static_cast<std::size_t>((from_first[rank + 1] - from_begin) * packed));

  std::vector<MPI_Request> requests;
  for (const Run& run : receives) {
    requests.emplace_back();
    MPI_Irecv(incoming.data() + (run.begin - to_begin) * packed, static_cast<int>(run.end - run.begin), block_type.get(),
              run.rank, kBlocksTag, comm, &requests.back());
  }
  for (const Run& run : sends) {
    double* out = outgoing.data() + (run.begin - from_begin) * packed;
    const double* first = out;
    for (int64_t b = run.begin - from_begin; b < run.end - from_begin; ++b) {
      for_each_row(shape, [&](int64_t offset) {
        const double* cells = from + b * shape.block_doubles() + offset;
        out = std::copy(cells, cells + row, out);
      });
    }
    requests.emplace_back();
    MPI_Isend(first, static_cast<int>(run.end - run.begin), block_type.get(), run.rank, kBlocksTag, comm, &requests.back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const double* in = incoming.data();
  for (int64_t b = 0; b < to_first[rank + 1] - to_begin; ++b) {
    for_each_row(shape, [&](int64_t offset) {
      std::copy(in, in + row, to + b * shape.block_doubles() + offset);
      in += row;
    });
  }
}

}  // namespace stria::flash
