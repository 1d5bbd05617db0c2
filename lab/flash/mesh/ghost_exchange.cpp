#include "mesh/ghost_exchange.hpp"

namespace stria::flash {
namespace {
constexpr int kGhostTag = 7101;
}

GhostExchange::GhostExchange(MPI_Comm comm, const BlockShape& shape, const VariableSet& variables)
    : comm_(comm),
      shape_(shape),
      compact_doubles_(shape.interior_cells() * variables.transferred_count()),
      block_type_(compact_doubles_) {
  for (int t = 0; t < variables.transferred_count(); ++t) {
    unk_index_.push_back(variables.transferred[t].index);
    compact_index_.push_back(t);
  }
}

CellSource GhostExchange::source(int32_t ghost) const {
  auto count = static_cast<int64_t>(compact_index_.size());
  return {ghosts_.data() + ghost * compact_doubles_,
          {count, count * shape_.cells[0], count * shape_.cells[0] * shape_.cells[1]},
          compact_index_.data()};
}

CellSource GhostExchange::local_source(const double* unk, int32_t block) const {
  return {unk + block * shape_.block_doubles() + shape_.offset(0, 0, 0),
          {shape_.stride(0), shape_.stride(1), shape_.stride(2)},
          unk_index_.data()};
}

void GhostExchange::pack(const double* unk, int32_t block, double* out) const {
  CellSource source = local_source(unk, block);
  for_each_cell(shape_.interior(), [&](int i, int j, int k) {
    const double* cell = source.cell(i, j, k);
    for (int index : unk_index_) {
      *out++ = cell[index];
    }
  });
}

void GhostExchange::run(const GhostLayer& layer, const double* unk) {
  std::size_t send_count = 0;
  for (const auto& peer : layer.peers) {
    send_count += peer.send_blocks.size();
  }
  ghosts_.resize(layer.leaves.size() * static_cast<std::size_t>(compact_doubles_));
  outgoing_.resize(send_count * static_cast<std::size_t>(compact_doubles_));

  std::vector<MPI_Request> requests;
  for (const auto& peer : layer.peers) {
    requests.emplace_back();
    MPI_Irecv(ghosts_.data() + peer.first_ghost * compact_doubles_, peer.ghost_count, block_type_.get(), peer.rank, kGhostTag,
              comm_, &requests.back());
  }
  double* out = outgoing_.data();
  for (const auto& peer : layer.peers) {
    const double* first = out;
    for (int32_t block : peer.send_blocks) {
      pack(unk, block, out);
      out += compact_doubles_;
    }
    requests.emplace_back();
    MPI_Isend(first, static_cast<int>(peer.send_blocks.size()), block_type_.get(), peer.rank, kGhostTag, comm_,
              &requests.back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace stria::flash
