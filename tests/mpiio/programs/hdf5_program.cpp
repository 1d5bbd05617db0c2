// A parallel HDF5 program as applications write them: contiguous, chunked and compressed datasets,
// collective and independent transfers, hyperslabs with strides, ranks without any part, collective
// metadata. The file has the same bytes in every run. usage: hdf5_program write|read FILE

#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr hsize_t kRows = 24;
// A multiple of 4 × 1, 2 and 3 ranks, so that every element is written: ROMIO leaves the old
// content of its buffers in others.
constexpr hsize_t kColumns = 1008;

void need(bool good, const char* what) {
  if (!good) {
    std::fprintf(stderr, "hdf5_program: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct Layout {
  const char* name;
  bool chunked;
  bool compressed;
  bool collective;
  bool strided;
};

const Layout kLayouts[] = {
    {"contiguous_collective", false, false, true, false}, {"contiguous_independent", false, false, false, false},
    {"contiguous_strided", false, false, true, true},     {"contiguous_strided_alone", false, false, false, true},
    {"chunked_collective", true, false, true, false},     {"chunked_independent", true, false, false, false},
    {"chunked_strided", true, false, true, true},         {"compressed", true, true, true, false},
    {"compressed_strided", true, true, true, true},
};

// Selects this rank's columns: every ranks-th of 4 (strided), or a block; the last rank of several
// has none in a block layout.
std::vector<double> select(const Layout& layout, int rank, int ranks, hid_t space, hid_t* memory) {
  const int parts = !layout.strided && ranks > 2 ? ranks - 1 : ranks;
  hsize_t columns = 0;
  if (layout.strided) {
    const hsize_t start[2] = {0, static_cast<hsize_t>(4 * rank)};
    const hsize_t stride[2] = {1, static_cast<hsize_t>(4 * ranks)};
    const hsize_t count[2] = {kRows, kColumns / (4 * static_cast<hsize_t>(ranks))};
    const hsize_t block[2] = {1, 4};
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block) >= 0, "H5Sselect_hyperslab");
    columns = count[1] * 4;
  } else if (rank < parts) {
    const hsize_t begin = kColumns * static_cast<hsize_t>(rank) / static_cast<hsize_t>(parts);
    const hsize_t end = kColumns * static_cast<hsize_t>(rank + 1) / static_cast<hsize_t>(parts);
    const hsize_t start[2] = {0, begin};
    const hsize_t count[2] = {kRows, end - begin};
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0, "H5Sselect_hyperslab");
    columns = end - begin;
  } else {
    need(H5Sselect_none(space) >= 0, "H5Sselect_none");
  }
  const hsize_t dims[2] = {kRows, std::max<hsize_t>(columns, 1)};
  *memory = H5Screate_simple(2, dims, nullptr);
  if (columns == 0) {
    H5Sselect_none(*memory);
  }
  std::vector<double> values(kRows * std::max<hsize_t>(columns, 1));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 97) + rank * 1000.0;
  }
  return values;
}

void write_all(hid_t file, int rank, int ranks) {
  const hid_t group_options = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(group_options, 0);
  const hid_t group = H5Gcreate2(file, "fields", H5P_DEFAULT, group_options, H5P_DEFAULT);
  for (const Layout& layout : kLayouts) {
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, 0);
    const hsize_t chunk[2] = {7, 130};
    if (layout.chunked) {
      H5Pset_chunk(create, 2, chunk);
    }
    if (layout.compressed) {
      H5Pset_deflate(create, 4);
    }
    const hsize_t dims[2] = {kRows, kColumns};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t dataset = H5Dcreate2(group, layout.name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    need(dataset >= 0, "H5Dcreate");
    hid_t memory = -1;
    const std::vector<double> values = select(layout, rank, ranks, space, &memory);
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, layout.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    need(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, values.data()) >= 0, layout.name);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(dataset, "ranks_independent", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    const int number = 42;
    H5Awrite(attribute, H5T_NATIVE_INT, &number);
    H5Aclose(attribute);
    H5Sclose(scalar);
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Pclose(create);
  }
  H5Gclose(group);
  H5Pclose(group_options);
}

void read_all(hid_t file, int rank, int ranks) {
  for (const Layout& layout : kLayouts) {
    const hid_t dataset = H5Dopen2(file, (std::string("fields/") + layout.name).c_str(), H5P_DEFAULT);
    need(dataset >= 0, "H5Dopen");
    const hid_t space = H5Dget_space(dataset);
    hid_t memory = -1;
    const std::vector<double> wanted = select(layout, rank, ranks, space, &memory);
    std::vector<double> values(wanted.size(), -1.0);
    const bool nothing = H5Sget_select_npoints(space) == 0;
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, layout.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    need(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, values.data()) >= 0, layout.name);
    need(nothing || values == wanted, "comparing what was read");
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  need(argc == 3, "usage: hdf5_program write|read FILE; it");
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool write = std::strcmp(argv[1], "write") == 0;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_all_coll_metadata_ops(access, 1);
  H5Pset_coll_metadata_write(access, 1);
  const hid_t file = write ? H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(argv[2], H5F_ACC_RDONLY, access);
  need(file >= 0, "opening the file");
  write ? write_all(file, rank, ranks) : read_all(file, rank, ranks);
  need(H5Fclose(file) >= 0, "H5Fclose");
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
