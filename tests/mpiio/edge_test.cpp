// Tests what implementations of MPI-IO are known to get wrong on a healthy disk: ends of files,
// holes, sieving beside other writers, spans larger than any buffer, freed datatypes whose handles
// return with another shape, nonblocking collectives that wait for another rank, hints that name
// hosts.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/random_shape.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

// Ways to choose a method: by ROMIO's hints, or by Stria's for what only Stria has.
const std::vector<Hints>& methods() {
  static const std::vector<Hints> list = {
      {},
      {{"romio_cb_read", "enable"}, {"romio_cb_write", "enable"}},
      {{"romio_cb_read", "disable"}, {"romio_cb_write", "disable"}, {"romio_ds_read", "enable"}, {"romio_ds_write", "enable"}},
      {{"romio_cb_read", "disable"},
       {"romio_cb_write", "disable"},
       {"romio_ds_read", "disable"},
       {"romio_ds_write", "disable"}},
      {{"stria_method", "list_io"}},
      {{"stria_method", "data_sieving"}},
      {{"stria_method", "multiple"}},
      {{"stria_method", "two_phase"}, {"cb_buffer_size", "65536"}},
  };
  return list;
}

MPI_File open(const std::string& path, int mode, const Hints& hints) {
  const Info info(hints);
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, info.get(), &file));
  return file;
}

// Leaves the heap full of 0xAA, so that bytes that were never set show.
void dirty_heap() {
  std::vector<void*> blocks;
  for (size_t bytes = 64; bytes <= (size_t{1} << 20); bytes *= 2) {
    for (int i = 0; i < 8; ++i) {
      blocks.push_back(std::malloc(bytes));
      std::memset(blocks.back(), 0xaa, bytes);
    }
  }
  for (void* block : blocks) {
    std::free(block);
  }
}

// Interleaved records of 40 bytes: rank r's are number r, r + P, r + 2 P …
MPI_File interleaved(const Suite& suite, MPI_File file) {
  const int64_t record = 40;
  const Shape filetype = resized(0, record * suite.rank_count(), contiguous(40, named(MPI_BYTE, "MPI_BYTE", 1)));
  EXPECT_MPI(MPI_File_set_view(file, record * suite.rank(), MPI_BYTE, filetype.type, "native", MPI_INFO_NULL));
  return file;
}

// The file ends within the request: counts are true, and memory behind the last byte
// stays as it was.
void short_read(const Suite& suite, const Call& call, const Hints& hints, int64_t file_bytes) {
  const std::string path = suite.path("short");
  NaiveFile oracle;
  for (int64_t i = 0; i < file_bytes; ++i) {
    oracle.bytes.push_back(mark(7, 0, i));
  }
  if (suite.rank() == 0) {
    make_file(path, oracle.bytes);
    if (file_bytes == 0) {
      std::fclose(std::fopen(path.c_str(), "w"));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  dirty_heap();
  MPI_File file = interleaved(suite, open(path, MPI_MODE_RDONLY, hints));
  constexpr int kCount = 2000;
  std::vector<uint8_t> memory(kCount + 64, 0xcd);
  std::vector<uint8_t> wanted = memory;
  int available = 0;
  while (available < kCount) {
    const int64_t offset = 40 * (suite.rank() + int64_t{available} / 40 * suite.rank_count()) + available % 40;
    if (offset >= file_bytes) {
      break;
    }
    wanted[static_cast<size_t>(available++)] = oracle.bytes[static_cast<size_t>(offset)];
  }
  MPI_Status status;
  EXPECT_MPI(perform(call, false, file, {0, memory.data(), kCount, MPI_BYTE}, &status));
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT(count == available, "the status counts ", count, ", not ", available);
  expect_same(memory, wanted, "memory");
  // A call that returns before it is done moves the pointer by the number of bytes that it
  // was asked for.
  if (call.pointer == Pointer::kIndividual && call.waiting == Waiting::kBlocking) {
    MPI_Offset position = -1;
    MPI_File_get_position(file, &position);
    EXPECT(position == available, "the pointer is at ", position, ", not ", available);
  }
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Records with gaps go into a new file, and far behind its end. What was never written is 0, in the
// file and when read.
void holes(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("holes");
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints);
  const int64_t tile = 64 * suite.rank_count();
  const Shape filetype = resized(0, tile, contiguous(24, named(MPI_BYTE, "MPI_BYTE", 1)));
  EXPECT_MPI(MPI_File_set_view(file, 1000 + 64 * suite.rank(), MPI_BYTE, filetype.type, "native", MPI_INFO_NULL));
  NaiveFile oracle;
  constexpr int kBytes = 24 * 300;
  for (int r = 0; r < suite.rank_count(); ++r) {
    for (int64_t i = 0; i < kBytes; ++i) {
      oracle.write(1000 + 64 * r + i / 24 * tile + i % 24, mark(3, r, i));
    }
  }
  std::vector<uint8_t> data(kBytes);
  for (int64_t i = 0; i < kBytes; ++i) {
    data[static_cast<size_t>(i)] = mark(3, suite.rank(), i);
  }
  dirty_heap();
  MPI_Status status;
  EXPECT_MPI(perform(call, true, file, {0, data.data(), kBytes, MPI_BYTE}, &status));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  // Everything is read, holes included, through a view of 32 bytes in 64, so that holes lie within
  // sieved stretches too.
  dirty_heap();
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, resized(0, 64, contiguous(32, named(MPI_BYTE, "MPI_BYTE", 1))).type, "native",
                               MPI_INFO_NULL));
  std::vector<uint8_t> wanted;
  for (int64_t i = 0; i < oracle.size(); ++i) {
    if (i % 64 < 32) {
      wanted.push_back(oracle.bytes[static_cast<size_t>(i)]);
    }
  }
  std::vector<uint8_t> memory(wanted.size(), 0xcd);
  EXPECT_MPI(perform(call, false, file, {0, memory.data(), static_cast<int>(memory.size()), MPI_BYTE}, &status));
  expect_same(memory, wanted, "what was read");
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    expect_same(read_file(path), oracle.bytes, "the file");
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// All ranks write their own interleaved pieces at once, many times. None may write back old bytes
// of another rank.
void racing_writers(const Suite& suite, const Call& call, const Hints& hints, bool atomic) {
  const std::string path = suite.path("race");
  constexpr int kRounds = 30;
  constexpr int kBytes = 40 * 200;
  MPI_File file = interleaved(suite, open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints));
  MPI_File_set_atomicity(file, atomic ? 1 : 0);
  std::vector<uint8_t> data(kBytes);
  for (int round = 0; round < kRounds; ++round) {
    for (int64_t i = 0; i < kBytes; ++i) {
      data[static_cast<size_t>(i)] = mark(static_cast<uint64_t>(round), suite.rank(), i);
    }
    MPI_Status status;
    // Each round writes only a part of the pieces; the last round writes all.
    const int first = round == kRounds - 1 ? 0 : 40 * (round * 7 % 100);
    EXPECT_MPI(perform(call, true, file, {first, data.data() + first, kBytes - first, MPI_BYTE}, &status));
    std::vector<uint8_t> back(static_cast<size_t>(kBytes - first));
    EXPECT_MPI(perform(call, false, file, {first, back.data(), kBytes - first, MPI_BYTE}, &status));
    EXPECT(std::memcmp(back.data(), data.data() + first, back.size()) == 0, "round ", round,
           ": another rank undid what was written");
  }
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    NaiveFile oracle;
    for (int r = 0; r < suite.rank_count(); ++r) {
      for (int64_t i = 0; i < kBytes; ++i) {
        oracle.write(40 * (r + i / 40 * suite.rank_count()) + i % 40, mark(kRounds - 1, r, i));
      }
    }
    expect_same(read_file(path), oracle.bytes, "the file");
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Pieces of a few bytes over 150 MiB in one request, between a neighbour's bytes.
void wide_span(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("wide");
  constexpr int64_t kStride = int64_t{30} << 20;
  constexpr int kPieces = 6;
  constexpr int kPiece = 100;
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints);
  if (suite.rank() == 0) {
    for (int64_t i = 0; i < kPieces; ++i) {
      std::vector<uint8_t> old(4096);
      for (int64_t b = 0; b < 4096; ++b) {
        old[static_cast<size_t>(b)] = mark(99, i, b);
      }
      MPI_Status status;
      EXPECT_MPI(MPI_File_write_at(file, i * kStride, old.data(), 4096, MPI_BYTE, &status));
    }
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  const Shape filetype = resized(0, kStride, contiguous(kPiece, named(MPI_BYTE, "MPI_BYTE", 1)));
  EXPECT_MPI(MPI_File_set_view(file, 10 + 2 * kPiece * suite.rank(), MPI_BYTE, filetype.type, "native", MPI_INFO_NULL));
  std::vector<uint8_t> data(kPieces * kPiece);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = mark(5, suite.rank(), static_cast<int64_t>(i));
  }
  MPI_Status status;
  EXPECT_MPI(perform(call, true, file, {0, data.data(), static_cast<int>(data.size()), MPI_BYTE}, &status));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  std::vector<uint8_t> back(data.size(), 0);
  EXPECT_MPI(perform(call, false, file, {0, back.data(), static_cast<int>(back.size()), MPI_BYTE}, &status));
  expect_same(back, data, "what was read back");
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  for (int64_t i = 0; i < kPieces; ++i) {
    std::vector<uint8_t> wanted(4096);
    for (int64_t b = 0; b < 4096; ++b) {
      wanted[static_cast<size_t>(b)] = mark(99, i, b);
    }
    for (int r = 0; r < suite.rank_count(); ++r) {
      for (int64_t b = 0; b < kPiece; ++b) {
        wanted[static_cast<size_t>(10 + 2 * kPiece * r + b)] = mark(5, r, i * kPiece + b);
      }
    }
    std::vector<uint8_t> got(4096);
    EXPECT_MPI(MPI_File_read_at(file, i * kStride, got.data(), 4096, MPI_BYTE, &status));
    expect_same(got, wanted, text("stretch ", i));
  }
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Filetypes are freed right after set_view, and memory types before the wait for a nonblocking
// call. The next round makes other types, which get the same handles.
void freed_types(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("freed");
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints);
  for (int round = 0; round < 12; ++round) {
    const int length = 1 + round % 5;
    const int stride = length + 2 + round % 3;
    constexpr int kBlocks = 50;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Type_vector(kBlocks, length, stride * suite.rank_count(), MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    const MPI_Offset displacement = MPI_Offset{100000} * round + 4 * stride * suite.rank();
    EXPECT_MPI(MPI_File_set_view(file, displacement, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype);

    MPI_Datatype memory = MPI_DATATYPE_NULL;
    MPI_Type_vector(kBlocks * length, 1, 1 + round % 4, MPI_INT, &memory);
    MPI_Type_commit(&memory);
    const int step = 1 + round % 4;
    std::vector<int> data(static_cast<size_t>(kBlocks * length * step), -1);
    for (int i = 0; i < kBlocks * length; ++i) {
      data[static_cast<size_t>(i * step)] = round * 100000 + suite.rank() * 1000 + i;
    }
    MPI_Status status;
    if (call.waiting == Waiting::kNonblocking && !call.large_count && call.pointer == Pointer::kExplicit) {
      MPI_Request request = MPI_REQUEST_NULL;
      EXPECT_MPI(call.collective ? MPI_File_iwrite_at_all(file, 0, data.data(), 1, memory, &request)
                                 : MPI_File_iwrite_at(file, 0, data.data(), 1, memory, &request));
      MPI_Type_free(&memory);
      MPI_Type_vector(3, 2, 9, MPI_DOUBLE, &memory);
      MPI_Type_commit(&memory);
      EXPECT_MPI(MPI_Wait(&request, &status));
    } else {
      EXPECT_MPI(perform(call, true, file, {0, data.data(), 1, memory}, &status));
    }
    MPI_Type_free(&memory);
    std::vector<int> back(static_cast<size_t>(kBlocks * length), -2);
    EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
    EXPECT_MPI(perform(call, false, file, {0, back.data(), kBlocks * length, MPI_INT}, &status));
    for (int i = 0; i < kBlocks * length; ++i) {
      const int wanted = round * 100000 + suite.rank() * 1000 + i;
      EXPECT(back[static_cast<size_t>(i)] == wanted, "round ", round, ", value ", i, " is ", back[static_cast<size_t>(i)]);
    }
    EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  }
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// One byte behind 5 GiB: offsets don't pass through 32 bits anywhere.
void far_offset(const Suite& suite, const Call& call) {
  const std::string path = suite.path("far");
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, {});
  const MPI_Offset far = (MPI_Offset{5} << 30) + 3;
  EXPECT_MPI(MPI_File_set_view(file, far + suite.rank(), MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  uint8_t byte = mark(1, suite.rank(), 0);
  MPI_Status status;
  EXPECT_MPI(perform(call, true, file, {0, &byte, 1, MPI_BYTE}, &status));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset size = 0;
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT(size == far + suite.rank_count(), size, " bytes");
  uint8_t back = 0;
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  EXPECT_MPI(perform(call, false, file, {0, &back, 1, MPI_BYTE}, &status));
  EXPECT(back == byte, "read ", int{back}, ", not ", int{byte});
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Views that MPI 3.1, section 13.3, forbids, because their bytes are out of order or overlap.
void forbidden_views(const Suite& suite) {
  struct Case {
    const char* name;
    int lengths[2];
    int displacements[2];
    bool when_reading;  // allowed in a file that is only read
  };
  const Case cases[] = {
      {"negative", {1, 1}, {-2, 2}, false}, {"decreasing", {1, 1}, {3, 0}, false}, {"overlapping", {3, 1}, {0, 1}, true}};
  const std::string path = suite.path("forbidden");
  for (const int mode : {MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_RDONLY}) {
    MPI_File file = open(path, mode, {});
    for (const Case& one : cases) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_indexed(2, one.lengths, one.displacements, MPI_INT, &type);
      MPI_Type_commit(&type);
      const bool allowed = one.when_reading && mode == MPI_MODE_RDONLY;
      for (MPI_Datatype etype : {MPI_INT, type}) {
        const int code = MPI_File_set_view(file, 0, etype, type, "native", MPI_INFO_NULL);
        EXPECT(error_class(code) == (allowed ? MPI_SUCCESS : MPI_ERR_IO), one.name, ": ", error_text(code));
      }
      MPI_Type_free(&type);
    }
    EXPECT_MPI(MPI_File_close(&file));
  }
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// The environment makes the drop-in treat one node as several, with one rank each.
MPI_File open_on_several_nodes(MPI_Comm comm, const std::string& path) {
  const char* text = std::getenv("STRIA_RANKS_PER_NODE");
  const std::string before = text == nullptr ? "" : text;
  setenv("STRIA_RANKS_PER_NODE", "1", 1);
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(comm, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  if (text == nullptr) {
    unsetenv("STRIA_RANKS_PER_NODE");
  } else {
    setenv("STRIA_RANKS_PER_NODE", before.c_str(), 1);
  }
  return file;
}

// A nonblocking collective call waits for no other rank, which may be waiting for a message
// from this one.
void nonblocking_on_several_nodes(const Suite& suite) {
  const std::string path = suite.path("nonblocking");
  // The communicator is not congruent to the world, whose files share what was made before.
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -suite.rank(), &reversed);
  MPI_File file = open_on_several_nodes(reversed, path);
  const std::vector<int> mine(1000, suite.rank() + 1);
  const MPI_Offset place = MPI_Offset{4000} * suite.rank();
  int token = 1;
  if (suite.rank() > 0) {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iwrite_at_all(file, place, mine.data(), 1000, MPI_INT, &request));
  for (int rank = 1; suite.rank() == 0 && rank < suite.rank_count(); ++rank) {
    MPI_Send(&token, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  }
  MPI_Status status;
  EXPECT_MPI(MPI_Wait(&request, &status));
  int moved = 0;
  MPI_Get_count(&status, MPI_INT, &moved);
  EXPECT(moved == 1000, "moved ", moved);
  std::vector<int> back(1000, 0);
  EXPECT_MPI(MPI_File_iread_at_all(file, place, back.data(), 1000, MPI_INT, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(back == mine, "what was read differs");
  // The others complete theirs without a further call on this rank.
  EXPECT_MPI(MPI_File_iread_at_all(file, place, back.data(), 1000, MPI_INT, &request));
  if (suite.rank() > 0) {
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int rank = 1; suite.rank() == 0 && rank < suite.rank_count(); ++rank) {
    MPI_Send(&token, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
  }
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Comm_free(&reversed);
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
}

// A rank that waits for a nonblocking collective call lets a long message go on, for which another
// rank waits first.
void message_under_way(const Suite& suite) {
  const std::string path = suite.path("message");
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE, {});
  std::vector<int> message(4 << 20, suite.rank());
  std::vector<MPI_Request> sends;
  for (int rank = 1; suite.rank() == 0 && rank < suite.rank_count(); ++rank) {
    MPI_Isend(message.data(), 4 << 20, MPI_INT, rank, 0, MPI_COMM_WORLD, &sends.emplace_back());
  }
  if (suite.rank() > 0) {
    MPI_Recv(message.data(), 4 << 20, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const int mine = suite.rank();
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iwrite_at_all(file, 4 * suite.rank(), &mine, 1, MPI_INT, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  EXPECT(message.back() == 0, "the message has ", message.back());
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
}

// Returns the number of ranks of each node, in the order of their first ranks; STRIA_RANKS_PER_NODE
// divides a machine into nodes.
std::vector<int> node_sizes(const Suite& suite) {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, suite.rank(), MPI_INFO_NULL, &machine);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_size(machine, &size);
  MPI_Comm_free(&machine);
  const char* text = suite.is_stria() ? std::getenv("STRIA_RANKS_PER_NODE") : nullptr;
  const int most = text == nullptr ? size : std::atoi(text);
  // The size of the node whose first rank this is.
  const int mine = rank % most == 0 ? std::min(most, size - rank) : 0;
  std::vector<int> all(static_cast<size_t>(suite.rank_count()));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::erase(all, 0);
  return all;
}

// Returns how many ranks are aggregators: at most `first` on the first node, and `others` on each
// other node.
std::string aggregator_count(const Suite& suite, int first, int others) {
  int count = 0;
  int most = first;
  for (const int size : node_sizes(suite)) {
    count += std::min(most, size);
    most = others;
  }
  return std::to_string(count);
}

// The list says where aggregators are; the hint in effect repeats it.
void aggregator_places(const Suite& suite) {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  MPI_Bcast(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  // Nodes of one machine share its name.
  const int others_here = std::getenv("STRIA_RANKS_PER_NODE") == nullptr ? 1 : 2;
  const std::string path = suite.path("places");
  for (const auto& [list, wanted_list, wanted_count] : std::vector<std::array<std::string, 3>>{
           {"*:2", "*:2", aggregator_count(suite, 2, 2)},
           {std::string(host) + ":2,*:1", std::string(host) + ":2,*:1", aggregator_count(suite, 2, others_here)},
           {"*:*", "*:*", std::to_string(suite.rank_count())},
           {"nowhere:1", "*:1", aggregator_count(suite, 1, 1)}}) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_config_list", list.c_str());
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_File file = MPI_FILE_NULL;
    EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    MPI_Info_free(&info);
    int value = suite.rank();
    EXPECT_MPI(MPI_File_write_at_all(file, 4 * suite.rank(), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_get_info(file, &info));
    if (suite.is_stria()) {
      for (const auto& [name, wanted] : {std::pair{"cb_config_list", wanted_list}, std::pair{"cb_nodes", wanted_count}}) {
        std::array<char, MPI_MAX_INFO_VAL + 1> found{};
        int there = 0;
        MPI_Info_get(info, name, MPI_MAX_INFO_VAL, found.data(), &there);
        EXPECT(there != 0 && found.data() == wanted, list, " gives ", name, " ", found.data(), ", not ", wanted);
      }
    }
    MPI_Info_free(&info);
    EXPECT_MPI(MPI_File_close(&file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Otherwise the heap would return its dirty pages to the system, and get clean ones instead.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  Suite suite(&argc, &argv);
  for (const Hints& hints : methods()) {
    const std::string by = Info(hints).text();
    for (const Call& call : private_calls()) {
      const std::string read = call_name(call, false) + by;
      for (const int64_t file_bytes : {int64_t{0}, int64_t{1}, int64_t{1717}}) {
        suite.run(text("short ", read, ", file of ", file_bytes), [&] { short_read(suite, call, hints, file_bytes); });
      }
      suite.run("holes " + call_name(call, true) + by, [&] { holes(suite, call, hints); });
      if (!call.large_count) {
        suite.run("freed types " + call_name(call, true) + by, [&] { freed_types(suite, call, hints); });
      }
    }
    for (const Call& call : private_calls()) {
      if (call.pointer == Pointer::kExplicit && !call.large_count) {
        const std::string how = call_name(call, true) + by;
        suite.run("racing writers " + how, [&] { racing_writers(suite, call, hints, false); });
        suite.run("racing writers, atomic mode, " + how, [&] { racing_writers(suite, call, hints, true); });
        suite.run("wide span " + how, [&] { wide_span(suite, call, hints); });
      }
    }
  }
  suite.run("forbidden views", [&] { forbidden_views(suite); });
  suite.run("nonblocking on several nodes", [&] { nonblocking_on_several_nodes(suite); });
  suite.run("message under way", [&] { message_under_way(suite); });
  suite.run("aggregator places", [&] { aggregator_places(suite); });
  for (const Call& call : private_calls()) {
    suite.run("far offset " + call_name(call, true), [&] { far_offset(suite, call); });
  }
  return suite.finish();
}
