// Parallel HDF5, each call a known number of times: three collective writes of doubles as they are,
// one that HDF5 must convert to float and therefore does not carry out collectively, one
// independent read. usage: hdf5_calls FILE
#include <hdf5.h>
#include <mpi.h>

#include <vector>

namespace {

constexpr hsize_t kItems = 1000;

hid_t transfer_list(H5FD_mpio_xfer_t mode) {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, mode);
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = argc == 2 ? H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
  if (file < 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const hsize_t all = kItems * static_cast<hsize_t>(ranks);
  const hsize_t begin = kItems * static_cast<hsize_t>(rank);
  const hid_t space = H5Screate_simple(1, &all, nullptr);
  const hid_t part = H5Screate_simple(1, &kItems, nullptr);
  const hid_t doubles = H5Dcreate2(file, "doubles", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t floats = H5Dcreate2(file, "floats", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, nullptr, &kItems, nullptr);
  const hid_t together = transfer_list(H5FD_MPIO_COLLECTIVE);
  const hid_t alone = transfer_list(H5FD_MPIO_INDEPENDENT);
  std::vector<double> values(kItems, rank);
  for (int i = 0; i < 3; ++i) {
    H5Dwrite(doubles, H5T_NATIVE_DOUBLE, part, space, together, values.data());
  }
  H5Dwrite(floats, H5T_NATIVE_DOUBLE, part, space, together, values.data());
  H5Dread(doubles, H5T_NATIVE_DOUBLE, part, space, alone, values.data());
  for (const hid_t list : {together, alone, access}) {
    H5Pclose(list);
  }
  H5Dclose(doubles);
  H5Dclose(floats);
  H5Sclose(space);
  H5Sclose(part);
  H5Fclose(file);
  MPI_Finalize();
  return values[0] == rank ? 0 : 1;
}
