// Random transfers, each made twice: by the call that the program sees, which libstria_hdf5 serves
// where it is preloaded, or the VOL connector where it is loaded, and by HDF5's own. What is in the
// file and in memory afterwards must be the same, byte by byte, and so must the outcome.
//
// usage: transfers_test [--seed N] [--count N] [--dir DIRECTORY]
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "random_transfers.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

int rank = 0;
int rank_count = 1;
int failures = 0;

/// HDF5's own functions, past whatever is preloaded.
struct Native {
  decltype(&H5Dwrite) write;
  decltype(&H5Dread) read;

  Native() {
    if (is_connected()) {
      write = [](hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void* data) {
        return with_connector_off([&] { return H5Dwrite(dataset, type, memory, file, transfer, data); });
      };
      read = [](hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, void* data) {
        return with_connector_off([&] { return H5Dread(dataset, type, memory, file, transfer, data); });
      };
      return;
    }
    write = own_function<decltype(write)>("H5Dwrite");
    read = own_function<decltype(read)>("H5Dread");
  }
};

const Native& native() {
  static const Native instance;
  return instance;
}

// --- Selections ------------------------------------------------------------------------------

/// A selection of as many elements as `counts` say, in a dataspace with room around it.
struct Space {
  hid_t id = -1;
  std::vector<hsize_t> lengths;

  hsize_t elements() const {
    hsize_t all = 1;
    for (const hsize_t length : lengths) {
      all *= length;
    }
    return all;
  }
};

hsize_t product(const std::vector<hsize_t>& counts) {
  hsize_t all = 1;
  for (const hsize_t count : counts) {
    all *= count;
  }
  return all;
}

/// Blocks of random distance and, where they divide the counts, random size.
void select_regular(Random& random, Space& space, const std::vector<hsize_t>& counts, bool strided) {
  const size_t dimensions = counts.size();
  std::vector<hsize_t> start(dimensions), stride(dimensions), count(dimensions), block(dimensions);
  for (size_t d = 0; d < dimensions; ++d) {
    block[d] = strided && counts[d] % 2 == 0 && random.one_in(2) ? 2 : 1;
    count[d] = counts[d] / block[d];
    stride[d] = block[d] + (strided ? random.between(0, 2) : 0);
    start[d] = random.between(0, 3);
    space.lengths.push_back(start[d] + (count[d] - 1) * stride[d] + block[d] + random.between(0, 3));
  }
  space.id = H5Screate_simple(static_cast<int>(dimensions), space.lengths.data(), nullptr);
  H5Sselect_hyperslab(space.id, H5S_SELECT_SET, start.data(), stride.data(), count.data(), block.data());
}

/// Selects two or three boxes, which may lie beside each other in any order.
void select_irregular(Random& random, Space& space, const std::vector<hsize_t>& counts) {
  const size_t cut = random.between(0, counts.size() - 1);
  space.lengths = counts;
  for (hsize_t& length : space.lengths) {
    length += 4;
  }
  const hsize_t first = random.between(0, counts[cut]);
  space.lengths[cut] = counts[cut] + 7;
  space.id = H5Screate_simple(static_cast<int>(counts.size()), space.lengths.data(), nullptr);
  H5Sselect_none(space.id);
  std::vector<hsize_t> start(counts.size()), count = counts;
  for (hsize_t& at : start) {
    at = random.between(0, 4);
  }
  // The parts are apart along the cut, and may be moved against each other elsewhere.
  for (int part = 0; part < 2; ++part) {
    count[cut] = part == 0 ? first : counts[cut] - first;
    start[cut] = part == 0 ? random.between(0, 2) : 3 + first + random.between(0, 2);
    if (counts.size() > 1 && part == 1) {
      start[(cut + 1) % counts.size()] = random.between(0, 4);
    }
    if (count[cut] > 0) {
      H5Sselect_hyperslab(space.id, H5S_SELECT_OR, start.data(), nullptr, count.data(), nullptr);
    }
  }
}

/// Points in any order; in memory that is read only, some more than once.
void select_points(Random& random, Space& space, hsize_t elements, bool repeats) {
  space.lengths = {random.between(2, 5), elements, 3};
  space.id = H5Screate_simple(3, space.lengths.data(), nullptr);
  std::vector<hsize_t> places(space.elements());
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = i;
  }
  std::vector<hsize_t> coordinates;
  for (hsize_t i = 0; i < elements; ++i) {
    std::swap(places[i], places[random.between(i, places.size() - 1)]);
    const hsize_t place = repeats && random.one_in(10) ? places[0] : places[i];
    coordinates.insert(coordinates.end(), {place / (elements * 3), place / 3 % elements, place % 3});
  }
  H5Sselect_elements(space.id, H5S_SELECT_SET, elements, coordinates.data());
}

/// `repeats`: whether an element may be selected twice, as in memory that is written.
Space make_selection(Random& random, const std::vector<hsize_t>& counts, bool repeats) {
  Space space;
  switch (random.between(0, 6)) {
    case 0:
      select_regular(random, space, counts, false);
      break;
    case 1:
    case 2:
      select_regular(random, space, counts, true);
      break;
    case 3:
      select_irregular(random, space, counts);
      break;
    case 4:
      select_points(random, space, product(counts), repeats);
      break;
    case 5: {  // a variable that is interleaved with others
      std::vector<hsize_t> more = counts;
      more.push_back(1);
      select_regular(random, space, more, false);
      break;
    }
    default:  // one dimension
      select_regular(random, space, {product(counts)}, true);
  }
  return space;
}

/// Moves the selection as a whole, by its offset. HDF5 1.10 misplaces what it moves between such
/// memory and chunks.
void shift(Random& random, Space& space) {
  std::vector<hsize_t> low(space.lengths.size()), high(space.lengths.size());
  H5Sget_select_bounds(space.id, low.data(), high.data());
  std::vector<hssize_t> offset;
  for (size_t d = 0; d < low.size(); ++d) {
    const hsize_t room = space.lengths[d] - 1 - high[d];
    offset.push_back(static_cast<hssize_t>(random.between(0, low[d] + room)) - static_cast<hssize_t>(low[d]));
  }
  H5Soffset_simple(space.id, offset.data());
}

// --- Types -----------------------------------------------------------------------------------

struct Types {
  hid_t memory = -1;
  hid_t file = -1;
  bool is_compound = false;
};

struct Cell {
  char kind;
  double mass;
  int16_t level;
  float position[3];
};

hid_t compound(bool packed, bool all_members) {
  const hsize_t three = 3;
  const hid_t position = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &three);
  const hid_t made = H5Tcreate(H5T_COMPOUND, sizeof(Cell));
  if (all_members) {
    H5Tinsert(made, "kind", HOFFSET(Cell, kind), H5T_NATIVE_CHAR);
    H5Tinsert(made, "position", HOFFSET(Cell, position), position);
  }
  H5Tinsert(made, "mass", HOFFSET(Cell, mass), H5T_NATIVE_DOUBLE);
  H5Tinsert(made, "level", HOFFSET(Cell, level), H5T_NATIVE_SHORT);
  if (packed) {
    H5Tpack(made);
  }
  H5Tclose(position);
  return made;
}

Types make_types(Random& random) {
  const std::vector<hid_t> numbers{H5T_NATIVE_SCHAR, H5T_NATIVE_USHORT, H5T_NATIVE_INT,   H5T_NATIVE_LLONG,
                                   H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE};
  const std::vector<hid_t> stored{H5T_STD_I8LE,   H5T_STD_U16BE,  H5T_STD_I32BE, H5T_STD_I64LE,
                                  H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_IEEE_F64LE};
  const size_t memory = random.between(0, numbers.size() - 1);
  switch (random.between(0, 7)) {
    case 0:  // converted
      return {H5Tcopy(numbers[memory]), H5Tcopy(stored[random.between(0, stored.size() - 1)])};
    case 1: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 5);
      return {text, H5Tcopy(text)};
    }
    case 2: {
      const hsize_t lengths[2] = {2, 3};
      return {H5Tarray_create2(H5T_NATIVE_INT, 2, lengths), H5Tarray_create2(H5T_STD_I32BE, 2, lengths)};
    }
    case 3:
      return {compound(false, true), compound(random.one_in(2), true), true};
    case 4:  // some of the members
      return {compound(false, false), compound(true, true), true};
    case 5:
      return {H5Tcreate(H5T_OPAQUE, 7), H5Tcreate(H5T_OPAQUE, 7)};
    default:
      return {H5Tcopy(numbers[memory]), H5Tcopy(stored[memory])};
  }
}

// --- A case ----------------------------------------------------------------------------------

struct Case {
  uint64_t seed = 0;
  bool is_alone = false;       // each rank has a file of its own
  bool is_collective = false;  // transfers
  bool is_chunked = false;
  Types types;
  std::vector<hsize_t> counts;   // the counts of each rank's selection
  std::vector<hsize_t> lengths;  // the lengths of the dataset
  hid_t creation = -1;
  hid_t transfer = -1;
  hid_t file_space = -1;
};

void fail(const Case& one, const std::string& what) {
  if (++failures <= 5) {
    std::fprintf(stderr, "rank %d, --seed %llu --count 1: %s\n", rank, static_cast<unsigned long long>(one.seed), what.c_str());
  }
}

void expect(const Case& one, bool condition, const std::string& what) {
  if (!condition) {
    fail(one, what);
  }
}

Bytes noise(Random& random, size_t bytes) {
  Bytes made(bytes);
  for (unsigned char& byte : made) {
    byte = static_cast<unsigned char>(random.between(1, 110));  // small numbers, no strange floats
  }
  return made;
}

void choose_layout(Random& random, Case& one) {
  one.creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(one.creation, 0);
  const hsize_t layout = random.between(0, 4);
  if (layout == 0 || layout == 1) {
    H5Pset_alloc_time(one.creation, random.one_in(2) ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_DEFAULT);
    return;
  }
  one.is_chunked = true;
  std::vector<hsize_t> chunk;
  for (const hsize_t length : one.lengths) {
    chunk.push_back(random.between(1, std::min<hsize_t>(length, 6)));
  }
  H5Pset_chunk(one.creation, static_cast<int>(chunk.size()), chunk.data());
  if (layout == 4 && one.is_alone) {  // HDF5 1.10 dies of some filtered chunks that ranks share
    H5Pset_shuffle(one.creation);
    H5Pset_deflate(one.creation, 1);
  }
}

/// Returns the same on all ranks, but for `own`.
Case make_case(uint64_t seed) {
  Random random(seed);
  Random own(seed * 1000 + static_cast<uint64_t>(rank));
  Case one;
  one.seed = seed;
  one.is_alone = random.one_in(3);
  one.is_collective = !one.is_alone && random.one_in(2);
  one.types = make_types(random);
  const size_t dimensions = random.between(1, 3);
  for (size_t d = 0; d < dimensions; ++d) {
    one.counts.push_back(random.between(1, 8));
  }
  if (random.one_in(5)) {
    one.counts.back() *= 80;  // from some KiB on, more is asked of HDF5
  }
  // Ranks lie one behind the other along the first dimension of the dataset.
  Space part = make_selection(random, one.counts, false);
  one.lengths = part.lengths;
  const hsize_t ranks = one.is_alone ? 1 : static_cast<hsize_t>(rank_count);
  const hsize_t place = one.is_alone ? 0 : static_cast<hsize_t>(rank);
  one.lengths[0] *= ranks;
  choose_layout(random, one);
  one.file_space = H5Screate_simple(static_cast<int>(one.lengths.size()), one.lengths.data(), nullptr);
  H5Sselect_copy(one.file_space, part.id);
  H5Sset_extent_simple(one.file_space, static_cast<int>(one.lengths.size()), one.lengths.data(), nullptr);
  std::vector<hssize_t> back(one.lengths.size());
  back[0] = -static_cast<hssize_t>(place * part.lengths[0]);
  H5Sselect_adjust(one.file_space, back.data());
  H5Sclose(part.id);
  one.transfer = H5Pcreate(H5P_DATASET_XFER);
  if (one.is_collective) {
    H5Pset_dxpl_mpio(one.transfer, H5FD_MPIO_COLLECTIVE);
  }
  return one;
}

void close_case(const Case& one) {
  H5Tclose(one.types.memory);
  H5Tclose(one.types.file);
  H5Pclose(one.creation);
  H5Pclose(one.transfer);
  H5Sclose(one.file_space);
}

std::string difference(const Bytes& left, const Bytes& right) {
  size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) {
    ++at;
  }
  return std::to_string(at);
}

std::string describe(const Case& one, const Space& memory) {
  hsize_t chunk[H5S_MAX_RANK];
  std::string text = "type class " + std::to_string(H5Tget_class(one.types.memory)) + " of " +
                     std::to_string(H5Tget_size(one.types.memory)) + " bytes, selections " +
                     std::to_string(H5Sget_select_type(memory.id)) + " in memory, " +
                     std::to_string(H5Sget_select_type(one.file_space)) + " in the file, lengths";
  for (const hsize_t length : one.lengths) {
    text += " " + std::to_string(length);
  }
  text += one.is_chunked ? ", chunks" : ", one piece";
  for (int d = 0; one.is_chunked && d < H5Pget_chunk(one.creation, H5S_MAX_RANK, chunk); ++d) {
    text += " " + std::to_string(chunk[d]);
  }
  return text + ", filters " + std::to_string(H5Pget_nfilters(one.creation)) + (one.is_collective ? ", collective" : "") +
         (one.is_alone ? ", alone" : "");
}

/// Returns all bytes of a dataset, as HDF5 reads them.
Bytes content(const Case& one, hid_t dataset) {
  Bytes all(product(one.lengths) * H5Tget_size(one.types.file));
  native().read(dataset, one.types.file, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  return all;
}

void check_writes(const Case& one, hid_t served, hid_t by_hdf5, Random& own) {
  for (int round = 0; round < 2; ++round) {
    Space memory = make_selection(own, one.counts, true);
    if (own.one_in(6) && !one.is_chunked) {
      shift(own, memory);
    }
    const Bytes data = noise(own, memory.elements() * H5Tget_size(one.types.memory));
    const bool takes_part = !own.one_in(5);
    const hid_t file_space = H5Scopy(one.file_space);
    if (!takes_part) {
      H5Sselect_none(memory.id);
      H5Sselect_none(file_space);
    }
    const Bytes before = data;
    const herr_t first = H5Dwrite(served, one.types.memory, memory.id, file_space, one.transfer, data.data());
    const herr_t second = native().write(by_hdf5, one.types.memory, memory.id, file_space, one.transfer, data.data());
    expect(one, first == second, "H5Dwrite returns " + std::to_string(first) + ", HDF5's " + std::to_string(second));
    expect(one, data == before, "H5Dwrite changed its memory");
    H5Sclose(file_space);
    H5Sclose(memory.id);
  }
}

void check_reads(const Case& one, hid_t dataset, Random& own) {
  for (int round = 0; round < 2; ++round) {
    Space memory = make_selection(own, one.counts, true);
    if (own.one_in(6) && !one.is_chunked) {
      shift(own, memory);
    }
    Bytes served = noise(own, memory.elements() * H5Tget_size(one.types.memory));
    Bytes by_hdf5 = served;
    const herr_t first = H5Dread(dataset, one.types.memory, memory.id, one.file_space, one.transfer, served.data());
    const herr_t second = native().read(dataset, one.types.memory, memory.id, one.file_space, one.transfer, by_hdf5.data());
    expect(one, first == second, "H5Dread returns " + std::to_string(first) + ", HDF5's " + std::to_string(second));
    expect(one, served == by_hdf5,
           "H5Dread gives other bytes at " + difference(served, by_hdf5) + " of " + describe(one, memory));
    H5Sclose(memory.id);
  }
}

/// Memory that is an array like the file's.
void check_same_space(const Case& one, hid_t served, hid_t by_hdf5, Random& own) {
  Bytes data = noise(own, product(one.lengths) * H5Tget_size(one.types.memory));
  Bytes other = data;
  const herr_t first = H5Dwrite(served, one.types.memory, H5S_ALL, one.file_space, one.transfer, data.data());
  const herr_t second = native().write(by_hdf5, one.types.memory, H5S_ALL, one.file_space, one.transfer, data.data());
  expect(one, first == second, "with H5S_ALL, H5Dwrite returns " + std::to_string(first));
  H5Dread(served, one.types.memory, H5S_ALL, one.file_space, one.transfer, data.data());
  native().read(by_hdf5, one.types.memory, H5S_ALL, one.file_space, one.transfer, other.data());
  expect(one, data == other, "with H5S_ALL, H5Dread gives other bytes");
}

#if H5_VERSION_GE(1, 14, 0)
/// Compares one call for both datasets, against two calls.
void check_several(const Case& one, const hid_t (&datasets)[2], Random& own) {
  Space memory[2] = {make_selection(own, one.counts, true), make_selection(own, one.counts, true)};
  Bytes data[2], other[2];
  hid_t spaces[2], types[2], file_spaces[2], list[2];
  const void* from[2];
  void* to[2];
  for (int i = 0; i < 2; ++i) {
    data[i] = other[i] = noise(own, memory[i].elements() * H5Tget_size(one.types.memory));
    spaces[i] = memory[i].id;
    types[i] = one.types.memory;
    file_spaces[i] = one.file_space;
    list[i] = datasets[i];
    from[i] = data[i].data();
  }
  expect(one, H5Dwrite_multi(2, list, types, spaces, file_spaces, one.transfer, from) >= 0, "H5Dwrite_multi fails");
  for (int i = 0; i < 2; ++i) {
    Bytes found = noise(own, data[i].size());
    native().read(datasets[i], one.types.memory, memory[i].id, one.file_space, one.transfer, found.data());
    native().write(datasets[i], one.types.memory, memory[i].id, one.file_space, one.transfer, data[i].data());
    Bytes again = found;
    native().read(datasets[i], one.types.memory, memory[i].id, one.file_space, one.transfer, again.data());
    expect(one, found == again, "H5Dwrite_multi wrote other bytes");
    to[i] = data[i].data();
  }
  expect(one, H5Dread_multi(2, list, types, spaces, file_spaces, one.transfer, to) >= 0, "H5Dread_multi fails");
  for (int i = 0; i < 2; ++i) {
    native().read(datasets[i], one.types.memory, memory[i].id, one.file_space, one.transfer, other[i].data());
    expect(one, data[i] == other[i], "H5Dread_multi gives other bytes");
    H5Sclose(memory[i].id);
  }
}
#endif

/// Calls that HDF5 refuses: another number of elements, and no dataset.
void check_refusals(const Case& one, hid_t dataset) {
  const hsize_t lengths[2] = {7, 1000};
  const hsize_t start[2] = {0, 1};
  const hsize_t count[2] = {7, 900};
  const hid_t memory = H5Screate_simple(2, lengths, nullptr);
  H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, nullptr, count, nullptr);
  Bytes data(7000 * H5Tget_size(one.types.memory));
  H5E_auto2_t print = nullptr;
  void* print_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  expect(one, H5Dwrite(dataset, one.types.memory, memory, one.file_space, H5P_DEFAULT, data.data()) < 0, "too many elements");
  expect(one, H5Eget_num(H5E_DEFAULT) > 0, "no reasons are left");
  expect(one, H5Dread(memory, one.types.memory, memory, one.file_space, H5P_DEFAULT, data.data()) < 0, "no dataset");
  expect(one, H5Eget_num(H5E_DEFAULT) > 0, "no reasons are left");
  H5Eset_auto2(H5E_DEFAULT, print, print_data);
  H5Sclose(memory);
}

void run(uint64_t seed, const std::string& directory) {
  const Case one = make_case(seed);
  Random own(seed * 7777 + static_cast<uint64_t>(rank));
  const std::string name =
      directory + "/transfers." + std::to_string(rank_count) + (one.is_alone ? "." + std::to_string(rank) : "");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (!one.is_alone) {
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  }
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t served = H5Dcreate2(file, "served", one.types.file, one.file_space, H5P_DEFAULT, one.creation, H5P_DEFAULT);
  const hid_t by_hdf5 = H5Dcreate2(file, "by_hdf5", one.types.file, one.file_space, H5P_DEFAULT, one.creation, H5P_DEFAULT);
  expect(one, served >= 0 && by_hdf5 >= 0, "no datasets");
  // A read behind the end of a shared file fills memory that is not selected, in HDF5 1.10.
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  MPI_Barrier(MPI_COMM_WORLD);
  check_reads(one, served, own);  // They read what isn't there yet.
  check_writes(one, served, by_hdf5, own);
  check_same_space(one, served, by_hdf5, own);
  if (!one.is_alone) {
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect(one, content(one, served) == content(one, by_hdf5), "other bytes are in the file");
  check_reads(one, served, own);
#if H5_VERSION_GE(1, 14, 0)
  if (!one.is_alone) {
    MPI_Barrier(MPI_COMM_WORLD);  // until all have read
  }
  check_several(one, {served, by_hdf5}, own);
#endif
  check_refusals(one, served);
  H5Dclose(served);
  H5Dclose(by_hdf5);
  H5Fclose(file);
  H5Pclose(access);
  if (one.is_alone || rank == 0) {
    unlink(name.c_str());
  }
  close_case(one);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  uint64_t seed = 1;
  uint64_t count = 100;
  std::string directory = ".";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--dir") {
      directory = argv[i + 1];
    } else {
      (name == "--seed" ? seed : count) = std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    run(seed + i, directory);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const bool is_served = is_served_by_preload() || is_connected();
  if (rank == 0) {
    std::printf("%llu cases, %d failures, %d ranks, %s\n", static_cast<unsigned long long>(count), failures, rank_count,
                is_connected() ? "VOL connector" : (is_served ? "libstria_hdf5" : "HDF5 alone"));
  }
  MPI_Finalize();
  return failures == 0 && (is_served || std::getenv("STRIA_HDF5_TEST") == nullptr) ? 0 : 1;
}
