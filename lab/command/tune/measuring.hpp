// Runs of a pattern by candidates, with or without a watcher (past.hpp).
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "stria/hints.hpp"
#include "tune/past.hpp"
#include "tune/pattern.hpp"

namespace stria::tool {

/// A directory of its own for the files, so that hints of earlier days (`.stria-hints`) don't
/// change the defaults. It goes with its files. A store has neither.
class Place {
 public:
  /// Throws stria::Error. Collective: yes.
  Place(MPI_Comm comm, const std::string& directory);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  const std::string& path() const { return path_; }
  /// Returns the directory that was made; empty where none was.
  const std::string& made() const { return made_; }

 private:
  MPI_Comm comm_;
  std::string path_;
  std::string made_;
};

/// A run of another workload than the one that is tuned for.
struct OtherRun {
  using Sizes = std::map<std::string, int64_t>;
  std::string workload;
  Sizes sizes = {};
  Hints hints = {};
  std::string through = "posix";
  bool one_writer = false;  ///< rank 0 is alone
  bool reads = false;       ///< the time of reading it counts, instead of that of writing
};

/// Every function is collective, and gives all ranks the same.
class Measuring {
 public:
  /// `past` is what a watcher knows; empty without one.
  Measuring(MPI_Comm comm, bench::BenchOptions options, bool only_reads, const std::string& past);

  /// Seconds since the race began; while outcomes of the past are left, when the last was.
  double now() const;
  /// Tells whether ranks before these have said what is said now.
  bool was_said() const { return past_.is_left(); }
  /// Seconds of one write, and of one read where that counts; infinite where hints ask for more
  /// than there is. The defaults must not fail: throws stria::Error.
  double run(const Hints& hints);
  /// Seconds of one write, or one read, of another workload; infinite where it fails.
  double run_other(const std::string& key, const OtherRun& other);
  /// Sends the watcher a line.
  void tell(const std::string& message) const;

 private:
  template <typename Run>
  double run_unless_past(const std::string& key, const std::string& words, Run run);
  double seconds_of(const Hints& hints);
  double seconds_of(const OtherRun& other) const;

  MPI_Comm comm_;
  bench::BenchOptions options_;
  bool only_reads_;
  bool is_watched_;
  double elapsed_s_ = 0;  ///< before these ranks were started
  Past past_;
  double past_time_s_ = 0;  ///< the seconds of the outcome that was taken last
  double begin_s_ = 0;
};

}  // namespace stria::tool
