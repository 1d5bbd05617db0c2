// The frame of a conformance program: named cases, checks of which every rank learns, a watchdog
// that ends a hang within seconds.
//
// The programs use only MPI, and link nothing of Stria. So the same binary tests any MPI-IO:
// the native one of its MPI, or the drop-in when LD_PRELOAD names it. A case that fails says
// how to run it alone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>

namespace mpiio {

/// The command line: [--seed N] [--count N] [--only TEXT] [--dir DIRECTORY] [--prefix TEXT]
/// [--seconds N].
struct Options {
  uint64_t seed = 1;      ///< the seed of the first random case
  int count = 0;          ///< random cases to run; 0: the program's own number
  std::string only;       ///< cases whose name contains this
  std::string directory;  ///< where files are made; TMPDIR or the working directory when not given
  std::string prefix;     ///< before the name when MPI opens a file, as "nfs:"
  /// Seconds that a case may take before the watchdog ends the job; three times as many
  /// with sanitizers.
  int seconds = 20;
};

/// Uniform random numbers that are the same on every rank for the same seed.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  /// Draws from [low, high], both included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// Everything a program does between MPI_Init and MPI_Finalize.
class Suite {
 public:
  /// Initialises MPI and starts the watchdog. Collective.
  Suite(int* argc, char*** argv, int thread_level = MPI_THREAD_SINGLE);
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  const Options& options() const { return options_; }
  int rank() const { return rank_; }
  int rank_count() const { return rank_count_; }
  /// Tells whether the library under test is Stria's, found by asking where MPI_File_open comes
  /// from.
  bool is_stria() const { return is_stria_; }
  /// Returns a file name of this job's own, the same on every rank.
  std::string path(const std::string& name) const;

  /// Runs one case. Collective: every rank must call it with the same name.
  void run(const std::string& name, const std::function<void()>& body);
  /// Runs `count` cases with consecutive seeds, or those that the command line asks for.
  void run_random(const std::string& name, int count, const std::function<void(uint64_t)>& body);
  /// Seconds since the start, without those in which the whole job was stopped.
  double awake_seconds() const;
  /// Gives this case more time than the usual before the watchdog ends the job.
  void allow_seconds(int seconds);

  /// Prints the sums, and returns the exit status of main. Collective.
  int finish();

 private:
  bool wanted(const std::string& name) const { return options_.only.empty() || name.find(options_.only) != std::string::npos; }

  Options options_;
  int rank_ = 0;
  int rank_count_ = 0;
  bool is_stria_ = false;
  std::string job_;
  int cases_ = 0;
  int failed_ = 0;
};

/// Notes a failure of the running case on this rank; the first three of a rank are printed.
void note_failure(const char* file, int line, const std::string& text);

/// Sets what the watchdog does before it ends the job, to remove what would outlive the process.
/// Empty: nothing.
void set_hang_cleanup(std::function<void()> cleanup);

/// Returns all arguments, written one after the other.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Returns "MPI_ERR_IO: …" for an error code; "MPI_SUCCESS" for none.
std::string error_text(int code);
/// Returns the error class of a code.
int error_class(int code);

}  // namespace mpiio

/// Fails the case, with a message made of the further arguments, unless `condition` holds.
#define EXPECT(condition, ...)                                                                                             \
  do {                                                                                                                     \
    if (!(condition)) {                                                                                                    \
      ::mpiio::note_failure(__FILE__, __LINE__, ::mpiio::text(#condition, " does not hold. " __VA_OPT__(, ) __VA_ARGS__)); \
    }                                                                                                                      \
  } while (false)

/// Fails the case unless an MPI call returns MPI_SUCCESS.
#define EXPECT_MPI(call)                                                                                            \
  do {                                                                                                              \
    const int expect_code = (call);                                                                                 \
    if (expect_code != MPI_SUCCESS) {                                                                               \
      ::mpiio::note_failure(__FILE__, __LINE__, ::mpiio::text(#call, " gives ", ::mpiio::error_text(expect_code))); \
    }                                                                                                               \
  } while (false)

/// Fails the case unless an MPI call returns an error of this class.
#define EXPECT_MPI_ERROR(call, wanted_class)                                                                           \
  do {                                                                                                                 \
    const int expect_code = (call);                                                                                    \
    if (::mpiio::error_class(expect_code) != (wanted_class)) {                                                         \
      ::mpiio::note_failure(__FILE__, __LINE__,                                                                        \
                            ::mpiio::text(#call, " gives ", ::mpiio::error_text(expect_code), " not " #wanted_class)); \
    }                                                                                                                  \
  } while (false)
