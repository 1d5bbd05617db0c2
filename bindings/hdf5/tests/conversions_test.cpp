// Numbers of every type are written to datasets of every other and read from them, each by the call
// that the program sees, which libstria_hdf5 serves where it is preloaded, and by HDF5's own. Every
// bit must be the same, at the ends of the ranges too. A collective transfer that is converted by
// the library stays collective. What the program registers or asks for decides over conversions.
//
// usage: conversions_test [--seed N] [--dir DIRECTORY]
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "random_transfers.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

constexpr hsize_t kElements = 5000;  // the elements of each rank
constexpr hsize_t kApart = 3;        // elements from one to the next in scattered memory

int rank = 0;
int rank_count = 1;
int failures = 0;
const bool is_cut = std::getenv("STRIA_HDF5_BUFFER") != nullptr;
uint64_t seed = 1;
bool is_served = false;

void expect(bool condition, const std::string& what) {
  if (!condition && ++failures <= 10) {
    std::fprintf(stderr, "rank %d, --seed %llu: %s\n", rank, static_cast<unsigned long long>(seed), what.c_str());
  }
}

/// HDF5's own functions, past whatever is preloaded.
struct Native {
  decltype(&H5Dwrite) write = own_function<decltype(&H5Dwrite)>("H5Dwrite");
  decltype(&H5Dread) read = own_function<decltype(&H5Dread)>("H5Dread");
};

struct Number {
  const char* name;
  hid_t id;
  bool is_swapped;
  bool is_float;
};

std::vector<Number> all_numbers() {
  return {{"int8", H5T_NATIVE_SCHAR, false, false},      {"uint8", H5T_NATIVE_UCHAR, false, false},
          {"int16", H5T_NATIVE_SHORT, false, false},     {"uint16", H5T_NATIVE_USHORT, false, false},
          {"int32", H5T_NATIVE_INT, false, false},       {"uint32", H5T_NATIVE_UINT, false, false},
          {"int64", H5T_NATIVE_LLONG, false, false},     {"uint64", H5T_NATIVE_ULLONG, false, false},
          {"float", H5T_NATIVE_FLOAT, false, true},      {"double", H5T_NATIVE_DOUBLE, false, true},
          {"int8 swapped", H5T_STD_I8BE, true, false},   {"uint16 swapped", H5T_STD_U16BE, true, false},
          {"int32 swapped", H5T_STD_I32BE, true, false}, {"uint64 swapped", H5T_STD_U64BE, true, false},
          {"float swapped", H5T_IEEE_F32BE, true, true}, {"double swapped", H5T_IEEE_F64BE, true, true}};
}

/// Doubles beside which conversions differ.
double strange_double(std::mt19937_64& random) {
  static const double kStrange[] = {0.0,
                                    -0.0,
                                    1.0,
                                    127.0,
                                    128.0,
                                    -128.0,
                                    -129.0,
                                    255.0,
                                    256.0,
                                    32767.0,
                                    32768.0,
                                    -32769.0,
                                    65536.0,
                                    2147483647.0,
                                    2147483648.0,
                                    -2147483649.0,
                                    4294967296.0,
                                    9223372036854775807.0,
                                    -9223372036854775808.0,
                                    18446744073709551615.0,
                                    FLT_MAX,
                                    -FLT_MAX,
                                    3.4028234999999999e38,
                                    -3.4028235e38,
                                    3.4028235677973366e38,
                                    3.5e38,
                                    -3.5e38,
                                    FLT_MIN,
                                    1e-40,
                                    1e-45,
                                    1e-46,
                                    1e-310,
                                    1e300,
                                    -1e300,
                                    HUGE_VAL,
                                    -HUGE_VAL};
  return kStrange[random() % (sizeof kStrange / sizeof *kStrange)];
}

void append(std::mt19937_64& random, const Number& type, Bytes& to) {
  const size_t width = H5Tget_size(type.id);
  unsigned char bytes[8];
  uint64_t bits = random();
  if (type.is_float && random() % 3 != 0) {
    const double value = random() % 2 == 0 ? strange_double(random) : std::ldexp(static_cast<double>(random()), -40);
    const auto narrow = static_cast<float>(value);
    if (width == 8) {
      std::memcpy(&bits, &value, 8);
    } else {
      uint32_t narrow_bits = 0;
      std::memcpy(&narrow_bits, &narrow, 4);
      bits = narrow_bits;
    }
  } else if (!type.is_float && random() % 2 == 0) {
    bits = random() % 2 == 0 ? bits >> (random() % 63) : ~(bits >> (random() % 63));
  }
  std::memcpy(bytes, &bits, 8);
  for (size_t i = 0; i < width; ++i) {
    to.push_back(bytes[type.is_swapped ? width - 1 - i : i]);
  }
}

Bytes values(std::mt19937_64& random, const Number& type, hsize_t count) {
  Bytes made;
  for (hsize_t i = 0; i < count; ++i) {
    append(random, type, made);
  }
  return made;
}

struct Place {
  hid_t file_space = -1;
  hid_t transfer = -1;
};

/// Memory of which every third element is selected, or all of it.
hid_t memory_space(bool is_scattered) {
  const hsize_t length = kElements * (is_scattered ? kApart : 1);
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  if (is_scattered) {
    const hsize_t start = 1;
    const hsize_t stride = kApart;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &kElements, nullptr);
  }
  return space;
}

Bytes content(const Native& native, hid_t dataset, const Number& stored, hid_t file_space) {
  Bytes all(kElements * H5Tget_size(stored.id));
  const hid_t memory = memory_space(false);
  native.read(dataset, stored.id, memory, file_space, H5P_DEFAULT, all.data());
  H5Sclose(memory);
  return all;
}

bool is_integer_of_float(const Number& from, const Number& to) {
  return from.is_float && !to.is_float;
}

/// Tells whether the library says that it converts these.
bool is_converted_here(const Number& from, const Number& to) {
  return !from.is_swapped && !to.is_swapped && from.id != to.id && !is_integer_of_float(from, to);
}

/// What HDF5 1.10 makes of these depends on how many it converts at a time: it loses the carry of
/// some that are rounded. A transfer that is cut has others of them wrong.
bool is_left_to_chance(const Number& one, const Number& other) {
  return one.is_float && other.is_float && (one.is_swapped || other.is_swapped) && H5Tget_size(one.id) != H5Tget_size(other.id);
}

void check_mode(const Place& place, const Number& memory, const Number& stored, const std::string& what) {
  H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
  H5Pget_mpio_actual_io_mode(place.transfer, &mode);
  expect(mode == H5D_MPIO_CONTIGUOUS_COLLECTIVE, what + ": " + memory.name + ", " + stored.name + " isn't collective");
}

/// `pair`: datasets of the stored type, the first for the served call.
void check_pair(const Native& native, const hid_t (&pair)[2], const Number& memory, const Number& stored, const Place& given) {
  std::mt19937_64 random(seed * 1000 + static_cast<uint64_t>(rank));
  for (const bool is_scattered : {true, false}) {
    const hid_t space = memory_space(is_scattered);
    const hid_t file_space = H5Scopy(given.file_space);
    const bool has_nothing = is_scattered && rank_count > 1 && rank == 1;
    if (has_nothing) {
      H5Sselect_none(space);
      H5Sselect_none(file_space);
    }
    const std::string what = std::string(memory.name) + (is_scattered ? " scattered, " : " in one piece, ") + stored.name;
    Bytes data = values(random, memory, kElements * (is_scattered ? kApart : 1));
    const void* const from = has_nothing ? nullptr : data.data();
    expect(H5Dwrite(pair[0], memory.id, space, file_space, given.transfer, from) >= 0, "writing " + what + " fails");
    if (is_served && !is_cut && given.transfer != H5P_DEFAULT && is_converted_here(memory, stored) &&
        H5Tget_size(memory.id) == 8) {
      check_mode(given, memory, stored, "writing");
    }
    native.write(pair[1], memory.id, space, file_space, given.transfer, from);
    expect(content(native, pair[0], stored, given.file_space) == content(native, pair[1], stored, given.file_space),
           "writing " + what + ": other bytes");
    const Bytes new_values = values(random, stored, kElements);
    const hid_t whole = memory_space(false);
    for (const hid_t dataset : pair) {
      native.write(dataset, stored.id, whole, given.file_space, H5P_DEFAULT, new_values.data());
    }
    H5Sclose(whole);
    Bytes other = data;
    expect(H5Dread(pair[0], memory.id, space, file_space, given.transfer, data.data()) >= 0, "reading " + what + " fails");
    native.read(pair[0], memory.id, space, file_space, given.transfer, other.data());
    expect(data == other, "reading " + what + ": other bytes");
    H5Sclose(file_space);
    H5Sclose(space);
  }
}

int callback_count = 0;

H5T_conv_ret_t count_exception(H5T_conv_except_t, hid_t, hid_t, void*, void*, void*) {
  ++callback_count;
  return H5T_CONV_UNHANDLED;
}

/// The program's own say over conversions.
void check_callback(const hid_t dataset, hid_t file_space) {
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_type_conv_cb(transfer, count_exception, nullptr);
  const hid_t space = memory_space(true);
  const std::vector<double> large(kElements * kApart, 1e300);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, space, file_space, transfer, large.data());
  expect(callback_count == static_cast<int>(kElements), "the program's callback isn't called");
  H5Sclose(space);
  H5Pclose(transfer);
}

void run(const std::string& directory) {
  const Native native;
  const std::string path = directory + "/conversions." + std::to_string(rank_count);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t length = kElements * static_cast<hsize_t>(rank_count);
  const hsize_t start = kElements * static_cast<hsize_t>(rank);
  Place place;
  place.file_space = H5Screate_simple(1, &length, nullptr);
  H5Sselect_hyperslab(place.file_space, H5S_SELECT_SET, &start, nullptr, &kElements, nullptr);
  const hid_t collective = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  const std::vector<Number> numbers = all_numbers();
  hid_t floats = -1;
  for (const Number& stored : numbers) {
    hid_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const std::string name = std::string(stored.name) + (i == 0 ? " served" : " by hdf5");
      pair[i] = H5Dcreate2(file, name.c_str(), stored.id, place.file_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
    for (const Number& memory : numbers) {
      if (is_cut && is_left_to_chance(memory, stored)) {
        continue;
      }
      place.transfer = H5P_DEFAULT;
      check_pair(native, pair, memory, stored, place);
      if (memory.is_float || stored.is_float) {
        place.transfer = collective;
        check_pair(native, pair, memory, stored, place);
      }
    }
    H5Dclose(pair[1]);
    if (std::strcmp(stored.name, "float") == 0) {
      floats = pair[0];
    } else {
      H5Dclose(pair[0]);
    }
  }
  check_callback(floats, place.file_space);
  H5Dclose(floats);
  H5Pclose(collective);
  H5Sclose(place.file_space);
  H5Fclose(file);
  H5Pclose(access);
  if (rank == 0) {
    unlink(path.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  std::string directory = ".";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--dir") == 0) {
      directory = argv[i + 1];
    } else {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  is_served = is_served_by_preload();
  run(directory);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d failures, %d ranks, %s\n", failures, rank_count, is_served ? "libstria_hdf5" : "HDF5 alone");
  }
  MPI_Finalize();
  return failures == 0 && (is_served || std::getenv("STRIA_HDF5_TEST") == nullptr) ? 0 : 1;
}
