// A million pieces of 8 bytes per rank: every byte is in its place, what lies between is untouched,
// and memory doesn't grow with the number of pieces. The bound is the collective buffer and some
// megabytes; a list of the pieces would need many times that.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "mpiio/support/suite.hpp"
#include "support/sanitized.hpp"

namespace {

using mpiio::Suite;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kCollectiveBufferBytes = 32 * kMiB;  // cb_buffer_size
// A staging buffer, a window of the file, and what MPI needs.
constexpr int64_t kOtherBytes = 14 * kMiB;
// A piece takes its description, and what decoding it needs.
constexpr int64_t kIrregularBytes = 24;
constexpr int64_t kPieceBytes = 8;
constexpr uint64_t kBefore = 0xeeeeeeeeeeeeeeeeu;

// Says where the ranks' pieces lie, in slots that take turns.
enum class File {
  kGaps,       // followed by as many unused bytes
  kFull,       // without gaps
  kIrregular,  // before or after such bytes: no vector describes them
};

struct Case {
  const char* name;
  File file;
  bool memory_gaps;
  bool collective;
  int64_t pieces;
  const char* hint = nullptr;  // set to "disable"
};

// Says what one rank moves.
struct Pattern {
  Pattern(const Case& c, int rank, int rank_count)
      : slot(c.file == File::kFull ? 1 : 2), stride(slot * rank_count), first(slot * rank) {
    if (c.file == File::kIrregular) {
      std::vector<MPI_Aint> places(static_cast<size_t>(c.pieces));
      for (int64_t i = 0; i < c.pieces; ++i) {
        places[static_cast<size_t>(i)] = (i * stride + within(c, i)) * kPieceBytes;
      }
      MPI_Type_create_hindexed_block(static_cast<int>(c.pieces), 1, places.data(), MPI_INT64_T, &file);
    } else {
      MPI_Type_vector(static_cast<int>(c.pieces), 1, static_cast<int>(stride), MPI_INT64_T, &file);
    }
    MPI_Type_commit(&file);
    MPI_Type_vector(static_cast<int>(c.pieces), 1, 2, MPI_INT64_T, &memory);
    MPI_Type_commit(&memory);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() {
    MPI_Type_free(&file);
    MPI_Type_free(&memory);
  }
  static int64_t within(const Case& c, int64_t i) {
    return c.file == File::kIrregular ? static_cast<int64_t>((static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u) >> 63) : 0;
  }

  int64_t slot, stride, first;  // in pieces
  MPI_Datatype file = MPI_DATATYPE_NULL;
  MPI_Datatype memory = MPI_DATATYPE_NULL;
};

uint64_t value_of(int rank, int64_t piece) {
  return (static_cast<uint64_t>(rank) << 40) + static_cast<uint64_t>(piece) + 1;
}

// Returns the most memory that the process has had since reset_peak(), or ever where the system
// doesn't reset it.
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lld kB", &kilobytes) == 1) {
      return int64_t{kilobytes} * 1024;
    }
  }
  return 0;
}

void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

MPI_File open(const Case& c, const Pattern& pattern, const std::string& path) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (c.hint != nullptr) {
    MPI_Info_set(info, c.hint, "disable");
  }
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  EXPECT_MPI(MPI_File_set_view(file, pattern.first * kPieceBytes, MPI_INT64_T, pattern.file, "native", info));
  MPI_Info_free(&info);
  return file;
}

void move(const Case& c, const Pattern& pattern, MPI_File file, bool write, std::vector<uint64_t>& memory) {
  const int count = c.memory_gaps ? 1 : static_cast<int>(c.pieces);
  const MPI_Datatype type = c.memory_gaps ? pattern.memory : MPI_INT64_T;
  MPI_Status status;
  int code = 0;
  if (write) {
    code = c.collective ? MPI_File_write_at_all(file, 0, memory.data(), count, type, &status)
                        : MPI_File_write_at(file, 0, memory.data(), count, type, &status);
  } else {
    code = c.collective ? MPI_File_read_at_all(file, 0, memory.data(), count, type, &status)
                        : MPI_File_read_at(file, 0, memory.data(), count, type, &status);
  }
  EXPECT_MPI(code);
  int moved = 0;
  MPI_Get_count(&status, MPI_INT64_T, &moved);
  EXPECT(moved == c.pieces, "moved ", moved, " of ", c.pieces);
}

void fill_file(const std::string& path, int64_t words) {
  const std::vector<uint64_t> before(static_cast<size_t>(words), kBefore);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(before.data()), static_cast<std::streamsize>(words * kPieceBytes));
}

void check_file(const Case& c, const std::string& path, int rank_count, int64_t words) {
  std::vector<uint64_t> found(static_cast<size_t>(words));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(words * kPieceBytes));
  EXPECT(file.gcount() == words * kPieceBytes, "the file has ", file.gcount(), " bytes");
  std::vector<uint64_t> wanted(found.size(), kBefore);
  const int64_t slot = c.file == File::kFull ? 1 : 2;
  for (int rank = 0; rank < rank_count; ++rank) {
    for (int64_t i = 0; i < c.pieces; ++i) {
      wanted[static_cast<size_t>((i * rank_count + rank) * slot + Pattern::within(c, i))] = value_of(rank, i);
    }
  }
  const auto differs = std::mismatch(found.begin(), found.end(), wanted.begin()).first - found.begin();
  EXPECT(differs == words, "word ", differs, " of ", words, " is wrong");
}

void check_growth(const Suite& suite, const Case& c, int64_t growth, const char* what) {
  int64_t bound = kOtherBytes;
  if (c.collective) {
    bound += std::min(kCollectiveBufferBytes, 2 * c.pieces * suite.rank_count() * kPieceBytes);
  }
  if (c.file == File::kIrregular) {
    bound += kIrregularBytes * c.pieces;
  }
  EXPECT(stria::kSanitized || growth <= bound, what, " took ", growth / kMiB, " MiB, the bound is ", bound / kMiB);
}

void run(const Suite& suite, const Case& c) {
  const std::string path = suite.path("pieces");
  const int64_t words = c.pieces * suite.rank_count() * (c.file == File::kFull ? 1 : 2);
  if (suite.rank() == 0) {
    fill_file(path, words);
  }
  const Pattern pattern(c, suite.rank(), suite.rank_count());
  const int64_t step = c.memory_gaps ? 2 : 1;
  std::vector<uint64_t> memory(static_cast<size_t>(c.pieces * step), kBefore);
  std::vector<uint64_t> back(memory);
  for (int64_t i = 0; i < c.pieces; ++i) {
    memory[static_cast<size_t>(i * step)] = value_of(suite.rank(), i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  reset_peak();
  const int64_t before = peak_bytes();
  MPI_File file = open(c, pattern, path);
  move(c, pattern, file, true, memory);
  check_growth(suite, c, peak_bytes() - before, "writing");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  move(c, pattern, file, false, back);
  check_growth(suite, c, peak_bytes() - before, "reading");
  EXPECT(back == memory, "what was read differs from what was written");
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    check_file(c, path, suite.rank_count(), words);
    unlink(path.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  constexpr int64_t kMany = 1'000'000;
  constexpr int64_t kFew = 100'000;  // where each is a request of its own
  const std::vector<Case> cases = {
      {"gaps, collective", File::kGaps, false, true, kMany},
      {"gaps in memory too, collective", File::kGaps, true, true, kMany},
      {"full, collective", File::kFull, false, true, kMany},
      {"irregular, collective", File::kIrregular, false, true, kMany},
      {"irregular, gaps in memory too, collective", File::kIrregular, true, true, kMany},
      {"lists, collective", File::kGaps, false, true, kFew, "romio_ds_write"},
      {"gaps, independent", File::kGaps, false, false, kMany},
      {"gaps in memory too, independent", File::kGaps, true, false, kMany},
      {"full, independent", File::kFull, false, false, kMany},
      {"irregular, independent", File::kIrregular, false, false, kMany},
      {"lists, independent", File::kGaps, false, false, kFew, "romio_ds_write"},
  };
  for (const Case& c : cases) {
    suite.run(c.name, [&] { run(suite, c); });
  }
  return suite.finish();
}
