#include "mpiio/file/access_mode.hpp"

namespace stria::mpiio {

Outcome AccessMode::check() const {
  const int access = bits_ & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR) {
    return {MPI_ERR_AMODE, "open with exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"};
  }
  if (access == MPI_MODE_RDONLY && (has(MPI_MODE_CREATE) || has(MPI_MODE_EXCL))) {
    return {MPI_ERR_AMODE, "MPI_MODE_CREATE and MPI_MODE_EXCL don't go with MPI_MODE_RDONLY"};
  }
  if (access == MPI_MODE_RDWR && is_sequential()) {
    return {MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR"};
  }
  return {};
}

storage::OpenOptions::Mode AccessMode::storage_mode() const {
  return is_writable() ? storage::OpenOptions::Mode::kReadWrite : storage::OpenOptions::Mode::kRead;
}

}  // namespace stria::mpiio
