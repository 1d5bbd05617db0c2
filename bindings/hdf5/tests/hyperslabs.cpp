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

namespace {

constexpr hsize_t kGuard = 4;
constexpr double kUntouched = -7;

int rank = 0;
int rank_count = 1;

void need(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct Mesh {
  hsize_t variables, blocks, nxb;

  hsize_t width() const { return nxb + 2 * kGuard; }
  hsize_t cells() const { return blocks * nxb * nxb * nxb; }
  size_t size() const { return blocks * width() * width() * width() * variables; }
  size_t place(hsize_t block, hsize_t z, hsize_t y, hsize_t x, hsize_t variable) const {
    return (((block * width() + z) * width() + y) * width() + x) * variables + variable;
  }
  bool is_interior(hsize_t z, hsize_t y, hsize_t x) const {
    const auto inside = [&](hsize_t at) { return at >= kGuard && at < kGuard + nxb; };
    return inside(z) && inside(y) && inside(x);
  }
  template <typename Visit>
  void for_each_interior(hsize_t variable, Visit&& visit) const {
    for (hsize_t block = 0; block < blocks; ++block) {
      for (hsize_t z = kGuard; z < kGuard + nxb; ++z) {
        for (hsize_t y = kGuard; y < kGuard + nxb; ++y) {
          for (hsize_t x = kGuard; x < kGuard + nxb; ++x) {
            visit(place(block, z, y, x, variable));
          }
        }
      }
    }
  }
};

struct Program {
  Mesh mesh;
  std::string path;
  bool collective = false;
  bool packed = false;
  bool narrow = false;
  std::vector<double> unk;
  std::vector<double> buffer;

  double value(size_t place) const {
    const double exact = static_cast<double>(place) * 1e-3 + rank;
    return narrow ? static_cast<double>(static_cast<float>(exact)) : exact;
  }

  /// One transfer of each variable, in a file that is created or opened.
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
    const herr_t outcome = writes ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, unk.data())
                                  : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, unk.data());
    H5Sclose(memory);
    return outcome;
  }

  herr_t move_packed(hid_t dataset, hid_t space, hid_t transfer, hsize_t variable, bool writes) {
    const hsize_t count[4] = {mesh.blocks, mesh.nxb, mesh.nxb, mesh.nxb};
    const hid_t memory = H5Screate_simple(4, count, nullptr);
    double* at = buffer.data();
    if (writes) {
      mesh.for_each_interior(variable, [&](size_t place) { *at++ = unk[place]; });
    }
    const herr_t outcome = writes ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, buffer.data())
                                  : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, buffer.data());
    if (!writes) {
      mesh.for_each_interior(variable, [&](size_t place) { unk[place] = *at++; });
    }
    H5Sclose(memory);
    return outcome;
  }

  void fill() {
    for (size_t i = 0; i < unk.size(); ++i) {
      unk[i] = value(i);
    }
  }

  void check() const {
    for (hsize_t block = 0; block < mesh.blocks; ++block) {
      for (hsize_t z = 0; z < mesh.width(); ++z) {
        for (hsize_t y = 0; y < mesh.width(); ++y) {
          for (hsize_t x = 0; x < mesh.width(); ++x) {
            const size_t first = mesh.place(block, z, y, x, 0);
            const bool inside = mesh.is_interior(z, y, x);
            for (size_t i = first; i < first + mesh.variables; ++i) {
              need(unk[i] == (inside ? value(i) : kUntouched), "another value was read");
            }
          }
        }
      }
    }
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
  program.mesh = {number(4), number(5), number(6)};
  program.path = argv[1];
  program.collective = std::strcmp(argv[2], "collective") == 0;
  program.packed = std::strcmp(argv[3], "packed") == 0;
  program.narrow = argc == 9;
  program.unk.resize(program.mesh.size());
  program.buffer.resize(program.mesh.cells());
  double writing = 1e9;
  double reading = 1e9;
  for (unsigned long long round = 0; round < number(7); ++round) {
    if (rank == 0) {
      std::remove(argv[1]);
    }
    program.fill();
    writing = std::min(writing, program.transfer_all(true));
    std::fill(program.unk.begin(), program.unk.end(), kUntouched);
    reading = std::min(reading, program.transfer_all(false));
    program.check();
  }
  const double element_bytes = program.narrow ? 4 : 8;
  const double megabytes =
      static_cast<double>(program.mesh.cells() * program.mesh.variables) * element_bytes * 1e-6 * rank_count;
  if (rank == 0) {
    std::printf("{\"megabytes\": %.3f, \"write_seconds\": %.6f, \"read_seconds\": %.6f}\n", megabytes, writing, reading);
  }
  MPI_Finalize();
  return 0;
}
