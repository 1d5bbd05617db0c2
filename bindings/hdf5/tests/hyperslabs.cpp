// A checkpoint as FLASH's: unk(variable, i, j, k, block) with guard cells, one H5Dwrite for each
// variable out of a hyperslab of memory, or packed by hand. It knows nothing of Stria.
//
// usage: hdf5_hyperslabs FILE independent|collective hyperslabs|packed VARIABLES BLOCKS NXB ROUNDS
//   [float]
//   With "float" the file has numbers of four bytes. Prints, of the fastest of so many rounds, the
//   seconds of writing and of reading back, and checks every value and guard cell that was read.
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "guarded_mesh.hpp"

namespace {

struct Program {
  GuardedMesh mesh;
  std::string path;
  bool collective = false;
  bool packed = false;
  bool narrow = false;
  std::vector<double> buffer;

  /// Transfers each variable once, in a file that is created or opened.
  double transfer_all(bool writes) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file =
        writes ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
    need(file >= 0, "no file");
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (collective) {
      H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    }
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    const hsize_t lengths[4] = {mesh.blocks * static_cast<hsize_t>(rank_count), mesh.nxb, mesh.nxb, mesh.nxb};
    const hsize_t start[4] = {mesh.blocks * static_cast<hsize_t>(rank), 0, 0, 0};
    const hsize_t count[4] = {mesh.blocks, mesh.nxb, mesh.nxb, mesh.nxb};
    const hid_t space = H5Screate_simple(4, lengths, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    for (hsize_t variable = 0; variable < mesh.variables; ++variable) {
      const std::string name = "v" + std::to_string(variable);
      const hid_t dataset = writes ? H5Dcreate2(file, name.c_str(), narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, space,
                                                H5P_DEFAULT, creation, H5P_DEFAULT)
                                   : H5Dopen2(file, name.c_str(), H5P_DEFAULT);
      need(dataset >= 0, "no dataset");
      need((packed ? move_packed(dataset, space, transfer, variable, writes)
                   : move_hyperslab(dataset, space, transfer, variable, writes)) >= 0,
           "a transfer failed");
      H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(transfer);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
  }

  herr_t move_hyperslab(hid_t dataset, hid_t space, hid_t transfer, hsize_t variable, bool writes) {
    const hsize_t width = mesh.width();
    const hsize_t lengths[5] = {mesh.blocks, width, width, width, mesh.variables};
    const hsize_t start[5] = {0, kGuard, kGuard, kGuard, variable};
    const hsize_t count[5] = {mesh.blocks, mesh.nxb, mesh.nxb, mesh.nxb, 1};
    const hid_t memory = H5Screate_simple(5, lengths, nullptr);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const herr_t outcome = writes ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, mesh.unk.data())
                                  : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, mesh.unk.data());
    H5Sclose(memory);
    return outcome;
  }

  herr_t move_packed(hid_t dataset, hid_t space, hid_t transfer, hsize_t variable, bool writes) {
    const hsize_t count[4] = {mesh.blocks, mesh.nxb, mesh.nxb, mesh.nxb};
    const hid_t memory = H5Screate_simple(4, count, nullptr);
    double* at = buffer.data();
    if (writes) {
      mesh.for_each_interior(variable, [&](size_t place) { *at++ = mesh.unk[place]; });
    }
    const herr_t outcome = writes ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, buffer.data())
                                  : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, buffer.data());
    if (!writes) {
      mesh.for_each_interior(variable, [&](size_t place) { mesh.unk[place] = *at++; });
    }
    H5Sclose(memory);
    return outcome;
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  need(argc == 8 || (argc == 9 && std::strcmp(argv[8], "float") == 0),
       "usage: hdf5_hyperslabs FILE independent|collective hyperslabs|packed VARIABLES BLOCKS NXB ROUNDS [float]");
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  Program program;
  program.narrow = argc == 9;
  program.mesh = GuardedMesh(number(4), number(5), number(6), program.narrow);
  program.path = argv[1];
  program.collective = std::strcmp(argv[2], "collective") == 0;
  program.packed = std::strcmp(argv[3], "packed") == 0;
  program.buffer.resize(program.mesh.cells());
  const bool is_narrow = program.narrow;
  run_rounds(program.mesh, program.path, number(7), is_narrow ? 4 : 8,
             [&](bool writes) { return program.transfer_all(writes); });
  MPI_Finalize();
  return 0;
}
