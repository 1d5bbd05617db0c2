#include "ranks_of_mpi.hpp"

#include "tools/shared/agree.hpp"

namespace stria::tool {

int RanksOfMpi::rank() const {
  int rank = 0;
  if (comm_ != MPI_COMM_NULL) {
    MPI_Comm_rank(comm_, &rank);
  }
  return rank;
}

Status RanksOfMpi::agree(const Status& mine) {
  return comm_ == MPI_COMM_NULL ? mine : shared::agree(comm_, mine);
}

File RanksOfMpi::open(const std::string& path) {
  return comm_ == MPI_COMM_NULL ? File::open(path) : File::open(comm_, path);
}

}  // namespace stria::tool
