// Times one access pattern through whatever MPI-IO the process has: its MPI's own, or the one that LD_PRELOAD names.
//
// A round opens the file, sets the view, writes, closes; then opens, reads, closes. Its time is that of the slowest rank.
// Memory holds numbers that say where they belong; every round reads them back into cleared memory and compares, outside the
// measured time. usage: mpiio_bench PATTERN SIZE METHOD ROUNDS FILE [name=value ...]
//   METHOD: collective, independent, or limit: the same number of bytes past any MPI-IO, each rank one contiguous stretch of
//   the file by pwrite and pread; hints and pieces say nothing then, and what is read is not compared. Further arguments are
//   hints. Prints one line of JSON; traffic is that of the last round with the servers of a store: requests, bytes sent and
//   received, of all ranks; instructions are those of the rank that executed most outside the kernel in the last round,
//   -1 where the system doesn't count them.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mpiio/patterns.hpp"

namespace stria::bench {
namespace {

struct Arguments {
  PatternOptions pattern;
  bool collective = false;
  bool limit = false;
  int rounds = 1;
  std::string path;
  MPI_Info info = MPI_INFO_NULL;
};

constexpr int64_t kMostAtOnce = 64 << 20;

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "mpiio_bench: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

void need(int code, const char* what) {
  if (code != MPI_SUCCESS) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, words, &length);
    stop(std::string(what) + ": " + words);
  }
}

Arguments parse(int argc, char** argv) {
  if (argc < 6) {
    stop("usage: mpiio_bench PATTERN SIZE METHOD ROUNDS FILE [name=value ...]");
  }
  Arguments arguments;
  arguments.pattern.name = argv[1];
  arguments.pattern.size = std::atoll(argv[2]);
  arguments.collective = std::string(argv[3]) == "collective";
  arguments.limit = std::string(argv[3]) == "limit";
  arguments.rounds = std::atoi(argv[4]);
  arguments.path = argv[5];
  MPI_Info_create(&arguments.info);
  for (int i = 6; i < argc; ++i) {
    const std::string hint = argv[i];
    const size_t equals = hint.find('=');
    if (equals == std::string::npos) {
      stop("a hint is name=value, not " + hint);
    }
    MPI_Info_set(arguments.info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
  }
  return arguments;
}

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// The instructions that this process executes outside the kernel, on all its threads; -1 where the system doesn't count them.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    what.inherit = 1;
    descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  int64_t now() const {
    int64_t count = 0;
    return descriptor_ >= 0 && ::read(descriptor_, &count, sizeof count) == sizeof count ? count : -1;
  }

 private:
  int descriptor_ = -1;
};

// Of the rank that executed most, or -1.
int64_t most_instructions(int64_t begin, int64_t end) {
  int64_t count = begin < 0 || end < 0 ? -1 : end - begin;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return count;
}

double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// The word at each place of memory: its rank and its index, so that a byte in the wrong place shows; where ranks write the same
// bytes of the file, each byte says its place there.
void fill(const Pattern& pattern, std::vector<uint32_t>& memory, int rank, int round) {
  if (pattern.overlaps) {
    auto* bytes = reinterpret_cast<unsigned char*>(memory.data());
    for (int64_t i = 0; i < pattern.memory_bytes; ++i) {
      const auto place = static_cast<uint32_t>(display_place(rank, i) + round);
      bytes[i] = static_cast<unsigned char>(place * 2654435761u >> 24);
    }
    return;
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<uint32_t>(i) * 2654435761u + static_cast<uint32_t>(rank * 40503 + round);
  }
}

// What the file itself takes: this rank's share of the bytes, contiguous in memory and file.
double transfer_plainly(const Arguments& arguments, const Pattern& pattern, bool write, void* memory) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const int64_t share = pattern.useful_bytes / rank_count;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int file = open(arguments.path.c_str(), write ? O_CREAT | O_RDWR | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0644);
  for (int64_t done = 0; done < share;) {
    const auto bytes = static_cast<size_t>(std::min({share - done, pattern.memory_bytes, kMostAtOnce}));
    const ssize_t now =
        write ? pwrite(file, memory, bytes, rank * share + done) : pread(file, memory, bytes, rank * share + done);
    if (now <= 0) {
      stop(std::string(write ? "pwrite " : "pread ") + arguments.path + ": " + std::strerror(errno));
    }
    done += now;
  }
  close(file);
  return slowest(MPI_Wtime() - begin);
}

double transfer(const Arguments& arguments, const Pattern& pattern, bool write, void* memory) {
  if (arguments.limit) {
    return transfer_plainly(arguments, pattern, write, memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_File file = MPI_FILE_NULL;
  int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  std::string path = arguments.path;
  if (pattern.is_file_per_rank) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path += "." + std::to_string(rank);
    mode |= write ? 0 : MPI_MODE_DELETE_ON_CLOSE;  // each round writes a new one
  }
  const MPI_Comm ranks = pattern.is_file_per_rank ? MPI_COMM_SELF : MPI_COMM_WORLD;
  need(MPI_File_open(ranks, path.c_str(), mode, arguments.info, &file), "open");
  need(MPI_File_set_view(file, pattern.displacement, pattern.etype, pattern.filetype, "native", arguments.info), "set_view");
  for (const Step& step : pattern.steps) {
    void* place = static_cast<char*>(memory) + step.memory_bytes;
    MPI_Status status;
    if (arguments.collective) {
      need(write ? MPI_File_write_at_all(file, step.offset, place, step.count, step.type, &status)
                 : MPI_File_read_at_all(file, step.offset, place, step.count, step.type, &status),
           "collective transfer");
    } else {
      need(write ? MPI_File_write_at(file, step.offset, place, step.count, step.type, &status)
                 : MPI_File_read_at(file, step.offset, place, step.count, step.type, &status),
           "independent transfer");
    }
  }
  need(MPI_File_close(&file), "close");
  return slowest(MPI_Wtime() - begin);
}

// The file may lie where only MPI-IO reaches it. Files of one rank each are gone already.
void remove_file(const Arguments& arguments, const Pattern& pattern) {
  if (arguments.limit) {
    unlink(arguments.path.c_str());
  } else if (!pattern.is_file_per_rank) {
    need(MPI_File_delete(arguments.path.c_str(), MPI_INFO_NULL), "delete");
  }
}

// Requests, bytes sent and bytes received of all ranks, between them and the servers of a store; -1 without our drop-in.
std::array<int64_t, 3> traffic() {
  std::array<int64_t, 3> counts{-1, -1, -1};
  using Count = void (*)(int64_t*);
  if (void* found = dlsym(RTLD_DEFAULT, "stria_wire_traffic"); found != nullptr) {
    reinterpret_cast<Count>(found)(counts.data());
  }
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return counts;
}

std::string difference(const std::array<int64_t, 3>& begin, const std::array<int64_t, 3>& end) {
  std::string out;
  for (size_t i = 0; i < begin.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(begin[i] < 0 ? -1 : end[i] - begin[i]);
  }
  return "[" + out + "]";
}

// Whether memory after the read is what was written, where the memory types reach.
bool same(const Pattern& pattern, const std::vector<uint32_t>& read, const std::vector<uint32_t>& written) {
  std::vector<char> a;
  std::vector<char> b;
  bool good = true;
  for (const Step& step : pattern.steps) {
    int bytes = 0;
    MPI_Pack_size(step.count, step.type, MPI_COMM_SELF, &bytes);
    a.resize(static_cast<size_t>(bytes));
    b.resize(static_cast<size_t>(bytes));
    int length_a = 0;
    int length_b = 0;
    const char* from_a = reinterpret_cast<const char*>(read.data()) + step.memory_bytes;
    const char* from_b = reinterpret_cast<const char*>(written.data()) + step.memory_bytes;
    MPI_Pack(from_a, step.count, step.type, a.data(), bytes, &length_a, MPI_COMM_SELF);
    MPI_Pack(from_b, step.count, step.type, b.data(), bytes, &length_b, MPI_COMM_SELF);
    good = good && length_a == length_b && std::memcmp(a.data(), b.data(), static_cast<size_t>(length_a)) == 0;
  }
  int all = good ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

std::string list(const std::vector<double>& seconds) {
  std::string out;
  for (const double value : seconds) {
    out += (out.empty() ? "" : ", ") + std::to_string(value);
  }
  return "[" + out + "]";
}

int run(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int rank_count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  Arguments arguments = parse(argc, argv);
  Pattern pattern;
  if (!make_pattern(arguments.pattern, rank, rank_count, pattern)) {
    stop("no pattern " + arguments.pattern.name + " on " + std::to_string(rank_count) + " ranks");
  }
  std::vector<uint32_t> memory(static_cast<size_t>((pattern.memory_bytes + 3) / 4));
  std::vector<uint32_t> back(memory.size(), 0);
  fill(pattern, memory, rank, 0);
  int64_t growth = peak_bytes();
  std::vector<double> writes;
  std::vector<double> reads;
  const InstructionCounter instructions;
  int64_t write_instructions = -1;
  int64_t read_instructions = -1;
  std::string write_traffic;
  std::string read_traffic;
  bool verified = true;
  for (int round = 0; round <= arguments.rounds; ++round) {  // the first is not counted: memory and file are new to the machine
    fill(pattern, memory, rank, round);
    int64_t counted = instructions.now();
    const auto before = traffic();
    const double written = transfer(arguments, pattern, true, memory.data());
    const auto between = traffic();
    write_instructions = most_instructions(counted, instructions.now());
    std::fill(back.begin(), back.end(), 0);
    counted = instructions.now();
    const double read = transfer(arguments, pattern, false, back.data());
    write_traffic = difference(before, between);
    read_traffic = difference(between, traffic());
    read_instructions = most_instructions(counted, instructions.now());
    if (round == 0) {
      growth = peak_bytes() - growth;
    } else {
      writes.push_back(written);
      reads.push_back(read);
    }
    if (!arguments.limit && (!arguments.pattern.name.starts_with("pieces_") || round == 0)) {
      verified = same(pattern, back, memory) && verified;
    }
    if (rank == 0) {
      remove_file(arguments, pattern);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &growth, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf(
        "{\"useful_bytes\": %lld, \"pieces\": %lld, \"write_s\": %s, \"read_s\": %s, \"verified\": %s, "
        "\"peak_growth_bytes\": %lld, \"write_instructions\": %lld, \"read_instructions\": %lld, "
        "\"write_traffic\": %s, \"read_traffic\": %s}\n",
        static_cast<long long>(pattern.useful_bytes), static_cast<long long>(pattern.pieces), list(writes).c_str(),
        list(reads).c_str(), verified ? "true" : "false", static_cast<long long>(growth),
        static_cast<long long>(write_instructions), static_cast<long long>(read_instructions), write_traffic.c_str(),
        read_traffic.c_str());
  }
  free_pattern(pattern);
  MPI_Info_free(&arguments.info);
  MPI_Finalize();
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  return stria::bench::run(argc, argv);
}
