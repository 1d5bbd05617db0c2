// Writes that libstria_hdf5 holds back (STRIA_HDF5_DEFER), in a random order with all that may see
// them, each made twice: in a file that the program's calls write, and in one that HDF5's own
// functions write. Every read finds the same bytes in both.
//
// usage: deferred_test [--seed N] [--count N] [--dir DIRECTORY]
//        deferred_test --full DIRECTORY    storage that is full: who is told, and nobody waits
//        deferred_test --travels DIRECTORY    bytes come to the file while the program does nothing
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "random_transfers.hpp"

namespace {

constexpr hsize_t kColumns = 96;
constexpr hsize_t kRankRows = 24;

int rank = 0;
int rank_count = 1;
int failures = 0;
std::string doing;

void expect(bool condition, const std::string& what) {
  if (!condition && ++failures <= 5) {
    std::fprintf(stderr, "rank %d, %s: %s\n", rank, doing.c_str(), what.c_str());
  }
}

/// HDF5's own H5Dwrite, past what is preloaded or the connector.
herr_t native_write(hid_t dataset, hid_t type, hid_t memory, hid_t space, hid_t transfer, const void* data) {
  if (is_connected()) {
    return with_connector_off([&] { return H5Dwrite(dataset, type, memory, space, transfer, data); });
  }
  static const auto found = own_function<decltype(&H5Dwrite)>("H5Dwrite");
  return found(dataset, type, memory, space, transfer, data);
}

hid_t parallel_access() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  return access;
}

hid_t transfer_of(bool is_collective) {
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, is_collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  return transfer;
}

/// Two files of the same content: one that is served, and its twin.
class Twins {
 public:
  Twins(uint64_t seed, const std::string& directory) : shared_(seed), own_(seed * 1000 + static_cast<uint64_t>(rank) + 1) {
    for (int i = 0; i < 2; ++i) {
      names_[i] = directory + (i == 0 ? "/served." : "/twin.") + std::to_string(rank_count);
      const hid_t access = parallel_access();
      files_[i] = H5Fcreate(names_[i].c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
      H5Pclose(access);
      expect(files_[i] >= 0, "no file");
    }
    add_dataset();
    add_dataset();
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      doing = doing.substr(0, doing.find(',')) + ", step " + std::to_string(step);
      take_step();
    }
    close_datasets();
    close_files();
    if (rank == 0) {
      compare_alone();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      unlink(names_[0].c_str());
      unlink(names_[1].c_str());
    }
  }

 private:
  struct Dataset {
    std::string name;
    bool is_chunked = false;
    hsize_t rows = 0;
    hid_t ids[2] = {-1, -1};
  };

  void take_step() {
    Dataset& one = datasets_[shared_.between(0, datasets_.size() - 1)];
    switch (shared_.between(0, 17)) {
      case 0:
        doing += " (flush)";
        flush();
        compare_all(one, false);
        break;
      case 1:
        doing += " (close datasets)";
        close_datasets();
        open_datasets();
        break;
      case 2:
        doing += " (close files)";
        close_datasets();
        close_files();
        open_files();
        open_datasets();
        break;
      case 3:
        doing += " (add)";
        add_dataset();
        break;
      case 4:
        doing += " (remove)";
        remove(one);
        break;
      case 5:
        doing += " (collective read)";
        MPI_Barrier(MPI_COMM_WORLD);
        compare_all(one, true);
        break;
      case 6:
        doing += " (copy)";
        copy(one);
        break;
      case 7:
        doing += " (extend)";
        extend(one);
        break;
      case 8:
        doing += " (open twice)";
        open_again(one);
        break;
      case 9:
        if (!shared_.one_in(4)) {
          break;
        }
        doing += " (atomic)";
        H5Fset_mpi_atomicity(files_[0], true);
        H5Fset_mpi_atomicity(files_[1], true);
        break;
      case 10:
      case 11:
        doing += " (read)";
        compare_own(one);
        break;
      default:
        doing += " (write)";
        write(one);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void add_dataset() {
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I32LE, H5T_IEEE_F64BE, H5T_STD_U8LE};
    Dataset one;
    one.name = "d" + std::to_string(number_++);
    one.rows = kRankRows * static_cast<hsize_t>(rank_count);
    one.is_chunked = shared_.one_in(5);
    const hid_t type = types[shared_.between(0, 4)];
    const hsize_t lengths[2] = {one.rows, kColumns};
    const hsize_t most[2] = {H5S_UNLIMITED, kColumns};
    const hsize_t chunk[2] = {5, 40};
    const hid_t space = H5Screate_simple(2, lengths, one.is_chunked ? most : nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    const int fill = 42;
    H5Pset_fill_value(creation, H5T_NATIVE_INT, &fill);
    if (one.is_chunked) {
      H5Pset_chunk(creation, 2, chunk);
    }
    for (int i = 0; i < 2; ++i) {
      one.ids[i] = H5Dcreate2(files_[i], one.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      expect(one.ids[i] >= 0, "no dataset");
    }
    H5Pclose(creation);
    H5Sclose(space);
    datasets_.push_back(one);
    MPI_Barrier(MPI_COMM_WORLD);  // HDF5 fills it on one rank or on all
  }

  /// Writes some of this rank's rows, out of memory with room around it. Chunks are written
  /// together.
  void write(const Dataset& one) {
    const bool is_collective = one.is_chunked || shared_.one_in(2);
    const bool takes_part = !own_.one_in(4);
    const hid_t space = H5Dget_space(one.ids[0]);
    const hsize_t strided = own_.one_in(3) ? 2 : 1;
    const hsize_t start[2] = {static_cast<hsize_t>(rank) * kRankRows + own_.between(0, 4), own_.between(0, 8)};
    const hsize_t count[2] = {own_.between(1, 20 / strided), own_.one_in(3) ? kColumns - start[1] : own_.between(1, 40)};
    const hsize_t stride[2] = {strided, 1};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr);
    const hsize_t around[3] = {count[0] + 3, count[1] + 5, own_.one_in(2) ? 3u : 1u};
    const hsize_t inside[3] = {1, 2, 0};
    const hsize_t one_each[3] = {count[0], count[1], 1};
    const hid_t memory = H5Screate_simple(3, around, nullptr);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, inside, nullptr, one_each, nullptr);
    if (!takes_part) {
      H5Sselect_none(space);
      H5Sselect_none(memory);
    }
    std::vector<double> data(around[0] * around[1] * around[2]);
    for (double& value : data) {
      value = static_cast<double>(own_.between(0, 120));
    }
    const hid_t transfer = transfer_of(is_collective);
    // The type is the file's, or one that is converted; the connector holds the former alone.
    const hid_t type = own_.one_in(2) ? H5Dget_type(one.ids[0]) : H5Tcopy(H5T_NATIVE_DOUBLE);
    H5Tconvert(H5T_NATIVE_DOUBLE, type, data.size(), data.data(), nullptr, H5P_DEFAULT);
    if (takes_part || is_collective) {
      const std::vector<double> given = data;
      const herr_t outcome = H5Dwrite(one.ids[0], type, memory, space, transfer, data.data());
      expect(outcome >= 0, "H5Dwrite fails");
      data.assign(data.size(), 77);  // the program may use its memory again
      const herr_t twin = native_write(one.ids[1], type, memory, space, transfer, given.data());
      expect(twin >= 0, "HDF5's own H5Dwrite fails");
    }
    H5Tclose(type);
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
  }

  void flush() {
    for (const hid_t file : files_) {
      expect(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush fails");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void compare_all(const Dataset& one, bool is_collective) {
    std::vector<double> found[2];
    const hid_t transfer = transfer_of(is_collective);
    for (int i = 0; i < 2; ++i) {
      found[i].assign(one.rows * kColumns, -1);
      H5Dread(one.ids[i], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, found[i].data());
    }
    H5Pclose(transfer);
    expect(found[0] == found[1], "other values in " + one.name);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<double> own_rows(hid_t dataset) {
    std::vector<double> found(kRankRows * kColumns, -1);
    const hsize_t start[2] = {static_cast<hsize_t>(rank) * kRankRows, 0};
    const hsize_t count[2] = {kRankRows, kColumns};
    const hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t memory = H5Screate_simple(2, count, nullptr);
    H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, found.data());
    H5Sclose(memory);
    H5Sclose(space);
    return found;
  }

  /// It is done on some ranks only.
  void compare_own(const Dataset& one) {
    if (!own_.one_in(3)) {
      expect(own_rows(one.ids[0]) == own_rows(one.ids[1]), "other values in this rank's rows of " + one.name);
    }
  }

  void open_again(const Dataset& one) {
    flush();  // their metadata
    write(one);
    const hid_t access = parallel_access();
    const hid_t again = H5Fopen(names_[0].c_str(), H5F_ACC_RDWR, access);
    H5Pclose(access);
    const hid_t dataset = H5Dopen2(again, one.name.c_str(), H5P_DEFAULT);
    expect(dataset >= 0 && own_rows(dataset) == own_rows(one.ids[1]), "another handle finds other values");
    write(one);
    expect(own_rows(dataset) == own_rows(one.ids[1]), "another handle finds other values later");
    H5Dclose(dataset);
    H5Fclose(again);
  }

  void copy(const Dataset& one) {
    if (one.is_chunked) {
      return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    Dataset made = one;
    made.name = "c" + std::to_string(number_++);
    for (int i = 0; i < 2; ++i) {
      expect(H5Ocopy(files_[i], one.name.c_str(), files_[i], made.name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0, "no copy");
      made.ids[i] = H5Dopen2(files_[i], made.name.c_str(), H5P_DEFAULT);
    }
    datasets_.push_back(made);
    flush();
    compare_all(made, false);
  }

  void extend(Dataset& one) {
    if (!one.is_chunked) {
      return;
    }
    one.rows += 7;
    const hsize_t lengths[2] = {one.rows, kColumns};
    expect(H5Dset_extent(one.ids[0], lengths) >= 0 && H5Dset_extent(one.ids[1], lengths) >= 0, "H5Dset_extent fails");
  }

  void remove(const Dataset& one) {
    if (datasets_.size() < 3) {
      return;
    }
    const std::string name = one.name;
    for (int i = 0; i < 2; ++i) {
      H5Dclose(one.ids[i]);
      expect(H5Ldelete(files_[i], name.c_str(), H5P_DEFAULT) >= 0, "H5Ldelete fails");
    }
    std::erase_if(datasets_, [&](const Dataset& dataset) { return dataset.name == name; });
    MPI_Barrier(MPI_COMM_WORLD);
    add_dataset();  // It may get the bytes of the removed one.
  }

  void close_datasets() {
    for (const Dataset& one : datasets_) {
      H5Dclose(one.ids[0]);
      H5Dclose(one.ids[1]);
    }
  }

  void open_datasets() {
    for (Dataset& one : datasets_) {
      for (int i = 0; i < 2; ++i) {
        one.ids[i] = H5Dopen2(files_[i], one.name.c_str(), H5P_DEFAULT);
        expect(one.ids[i] >= 0, "the dataset is gone");
      }
    }
  }

  void close_files() {
    for (const hid_t file : files_) {
      expect(H5Fclose(file) >= 0, "H5Fclose fails");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void open_files() {
    for (int i = 0; i < 2; ++i) {
      const hid_t access = parallel_access();
      files_[i] = H5Fopen(names_[i].c_str(), H5F_ACC_RDWR, access);
      H5Pclose(access);
      expect(files_[i] >= 0, "the file can't be opened");
    }
  }

  void compare_alone() {
    for (int i = 0; i < 2; ++i) {
      files_[i] = H5Fopen(names_[i].c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    }
    open_datasets();
    for (const Dataset& one : datasets_) {
      std::vector<double> found[2];
      for (int i = 0; i < 2; ++i) {
        found[i].assign(one.rows * kColumns, -1);
        H5Dread(one.ids[i], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found[i].data());
      }
      expect(found[0] == found[1], "other values in the file, in " + one.name);
    }
    close_datasets();
    H5Fclose(files_[0]);
    H5Fclose(files_[1]);
  }

  Random shared_, own_;
  std::string names_[2];
  hid_t files_[2] = {-1, -1};
  std::vector<Dataset> datasets_;
  int number_ = 0;
};

// --- Full storage --------------------------------------------------------------------------------

/// Files of this process may be so long.
void limit_files(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

/// The last rank's storage is full while the bytes travel.
void fill_storage(const std::string& directory, bool is_collective, bool closes) {
  doing = std::string(is_collective ? "collective" : "independent") + (closes ? ", close" : ", flush");
  const std::string name = directory + "/full." + std::to_string(rank_count);
  const hid_t access = parallel_access();
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t lengths[2] = {static_cast<hsize_t>(rank_count), 1 << 17};
  const hsize_t start[2] = {static_cast<hsize_t>(rank), 0};
  const hsize_t count[2] = {1, 1 << 17};
  const hid_t space = H5Screate_simple(2, lengths, nullptr);
  const hid_t memory = H5Screate_simple(2, count, nullptr);
  const hid_t dataset = H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const std::vector<double> data(count[1], rank + 0.5);
  const hid_t transfer = transfer_of(is_collective);
  const bool is_full = rank == rank_count - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_full) {
    limit_files(8192);
  }
  expect(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, data.data()) >= 0, "H5Dwrite fails");
  MPI_Barrier(MPI_COMM_WORLD);
  if (!closes) {
    const herr_t outcome = H5Fflush(file, H5F_SCOPE_GLOBAL);
    expect((outcome < 0) == is_full, "H5Fflush returns " + std::to_string(outcome));
    MPI_Barrier(MPI_COMM_WORLD);
    limit_files(RLIM_INFINITY);
    expect(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush fails though there is room again");
  }
  H5Dclose(dataset);
  H5Sclose(space);
  H5Sclose(memory);
  H5Pclose(transfer);
  const herr_t outcome = H5Fclose(file);
  expect((outcome < 0) == (closes && is_full), "H5Fclose returns " + std::to_string(outcome));
  limit_files(RLIM_INFINITY);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!closes && rank == 0) {
    const hid_t again = H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t found = H5Dopen2(again, "d", H5P_DEFAULT);
    std::vector<double> all(lengths[0] * lengths[1]);
    H5Dread(found, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
    for (size_t i = 0; i < all.size(); ++i) {
      expect(all[i] == static_cast<double>(i / lengths[1]) + 0.5, "another value after the second try");
    }
    H5Dclose(found);
    H5Fclose(again);
  }
  H5Pclose(access);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    unlink(name.c_str());
  }
}

// --- In the background ---------------------------------------------------------------------------

/// True as soon as the file has these numbers there; false after a minute.
bool arrive(const std::string& name, off_t place, const std::vector<double>& numbers) {
  const int file = open(name.c_str(), O_RDONLY);
  const auto bytes = static_cast<ssize_t>(numbers.size() * sizeof(double));
  std::vector<double> found(numbers.size());
  bool have_arrived = false;
  for (int tries = 0; tries < 6000 && !have_arrived; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    have_arrived = pread(file, found.data(), static_cast<size_t>(bytes), place) == bytes && found == numbers;
  }
  close(file);
  return have_arrived;
}

void travel(const std::string& directory) {
  doing = "in the background";
  const std::string name = directory + "/travel." + std::to_string(rank_count);
  const hid_t access = parallel_access();
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t lengths[2] = {static_cast<hsize_t>(rank_count), 1000};
  const hsize_t start[2] = {static_cast<hsize_t>(rank), 0};
  const hsize_t count[2] = {1, 1000};
  const hid_t space = H5Screate_simple(2, lengths, nullptr);
  const hid_t memory = H5Screate_simple(2, count, nullptr);
  const hid_t dataset = H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const auto place = static_cast<off_t>(H5Dget_offset(dataset) + start[0] * count[1] * sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    const std::vector<double> data(count[1], rank + round * 100 + 0.5);
    expect(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data.data()) >= 0, "H5Dwrite fails");
    expect(arrive(name, place, data), "bytes don't travel");
  }
  H5Dclose(dataset);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(access);
  expect(H5Fclose(file) >= 0, "H5Fclose fails");
  if (rank == 0) {
    unlink(name.c_str());
  }
}

int end(const char* what) {
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%s: %d failures, %d ranks\n", what, failures, rank_count);
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  uint64_t seed = 1;
  uint64_t count = 20;
  std::string directory = ".";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--full") {
      std::signal(SIGXFSZ, SIG_IGN);
      for (const bool is_collective : {false, true}) {
        for (const bool closes : {false, true}) {
          fill_storage(argv[i + 1], is_collective, closes);
        }
      }
      return end("full storage");
    }
    if (name == "--travels") {
      travel(argv[i + 1]);
      return end("in the background");
    }
    if (name == "--dir") {
      directory = argv[i + 1];
    } else {
      (name == "--seed" ? seed : count) = std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    doing = "--seed " + std::to_string(seed + i) + " --count 1,";
    Twins(seed + i, directory).run(40);
  }
  return end("deferred writes");
}
