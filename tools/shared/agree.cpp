#include "tools/shared/agree.hpp"

#include <string>

namespace stria::shared {

Status agree(MPI_Comm comm, const Status& mine, int* failed_rank) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int lowest = mine.ok() ? size : rank;
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm);
  if (failed_rank != nullptr) {
    *failed_rank = lowest < size ? lowest : -1;
  }
  if (lowest == size) {
    return Status();
  }
  int header[3] = {static_cast<int>(mine.code()), static_cast<int>(mine.reason()), static_cast<int>(mine.message().size())};
  MPI_Bcast(header, 3, MPI_INT, lowest, comm);
  std::string text = mine.message();
  text.resize(static_cast<size_t>(header[2]));
  MPI_Bcast(text.data(), header[2], MPI_CHAR, lowest, comm);
  return Status(static_cast<ErrorCode>(header[0]), text, static_cast<ErrorReason>(header[1]));
}

}  // namespace stria::shared
