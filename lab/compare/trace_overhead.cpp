// Holds what tracing costs: nanoseconds per span, off and on, and the share of a FLASH I/O
// checkpoint.
//
// usage: mpiexec -n R bench_trace_overhead DIRECTORY [ROUNDS [BLOCKS]]
//   ROUNDS  default 101
//   BLOCKS  of a rank; default 80
//
// The checkpoint is written with tracing off, with counters and with everything recorded, in turn,
// round by round, so that changes of the machine's speed affect all alike. Each round gives a
// ratio to its own run without tracing. The share is the mean of these ratios without the highest
// and the lowest fifth, with its 95 % confidence interval (Yuen: The two-sample trimmed t for
// unequal population variances, Biometrika 61, 1974: the standard error of a trimmed mean). The
// first round warms up.
// Goals: a span that is off 2 ns, one that is recorded 60 ns, counters 1 %, everything 5 %.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "io/modes.hpp"
#include "stria/trace.hpp"
#include "trace/record/span.hpp"

namespace {

using stria::trace::Level;

/// Returns the nanoseconds of one span, the least of several measurements.
double span_ns() {
  constexpr int kSpans = 1'000'000;
  double least = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < 7; ++attempt) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kSpans; ++i) {
      stria::trace::Span span(stria::trace::kind(stria::Phase::kPack));
      asm volatile("" : : "r"(&span) : "memory");  // the compiler must not see through it
    }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / kSpans);
  }
  return least;
}

/// A share and half the width of its confidence interval.
struct Share {
  double mean = 0;
  double margin = 0;
};

/// Returns the trimmed mean of ratios, less 1.
Share share_of(std::vector<double> ratios) {
  constexpr double kTrimmed = 0.2;    // at either end
  constexpr double kQuantile = 1.98;  // Student's t, 95 %, some hundred rounds
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  const auto cut = static_cast<size_t>(kTrimmed * n);
  const double kept = n - 2 * static_cast<double>(cut);
  Share share;
  for (size_t i = cut; i < ratios.size() - cut; ++i) {
    share.mean += (ratios[i] - 1) / kept;
  }
  // A ratio that was cut off counts as the nearest one that was kept.
  double mean = 0;
  double squares = 0;
  for (size_t i = 0; i < ratios.size(); ++i) {
    ratios[i] = i < cut ? ratios[cut] : i >= ratios.size() - cut ? ratios[ratios.size() - cut - 1] : ratios[i];
    mean += ratios[i] / n;
  }
  for (const double ratio : ratios) {
    squares += (ratio - mean) * (ratio - mean);
  }
  share.margin = n < 2 ? 0 : kQuantile * std::sqrt(squares / (n - 1) * n) / kept;
  return share;
}

/// Returns the seconds of the slowest rank.
double timed_round(stria::flash::IoMode& mode) {
  std::map<std::string, double> phases;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  mode.run(phases);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  mode.clean();
  return seconds;
}

struct Shares {
  Share counters;
  Share full;
};

Shares checkpoint_shares(const std::string& directory, int rounds, int blocks) {
  stria::flash::IoOptions options;
  options.directory = directory;
  options.plot_files = false;
  options.experimental = false;
  options.workload.blocks_per_rank = blocks;
  stria::flash::IoArrays arrays(MPI_COMM_WORLD, options);
  const auto modes = stria::flash::make_modes(arrays);
  std::vector<double> counters, full;
  for (int round = 0; round <= rounds; ++round) {
    double seconds[3];
    for (int turn = 0; turn < 3; ++turn) {
      const int which = (turn + round) % 3;  // no level always goes first
      const Level levels[] = {Level::kOff, Level::kCounters, Level::kFull};
      stria::trace::set_level(levels[which]);
      seconds[which] = timed_round(*modes[0]);
    }
    if (round > 0) {
      counters.push_back(seconds[1] / seconds[0]);
      full.push_back(seconds[2] / seconds[0]);
    }
  }
  stria::trace::set_level(Level::kOff);
  return {share_of(counters), share_of(full)};
}

void run(const std::string& directory, int rounds, int blocks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  stria::trace::start(MPI_COMM_WORLD, {Level::kFull, directory});
  stria::trace::set_level(Level::kOff);
  const double off = span_ns();
  stria::trace::set_level(Level::kFull);
  const double on = span_ns();
  const Shares shares = checkpoint_shares(directory, rounds, blocks);
  const std::string file = stria::trace::finish();
  if (rank == 0) {
    fmt::print("span, off        {:8.2f} ns   goal  2\nspan, recorded   {:8.2f} ns   goal 60\n", off, on);
    fmt::print("counters         {:8.2f} %    goal  1   +- {:.2f}\neverything       {:8.2f} %    goal  5   +- {:.2f}\n",
               100 * shares.counters.mean, 100 * shares.counters.margin, 100 * shares.full.mean, 100 * shares.full.margin);
    std::remove(file.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    run(argc > 1 ? argv[1] : ".", argc > 2 ? std::atoi(argv[2]) : 101, argc > 3 ? std::atoi(argv[3]) : 80);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_trace_overhead: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    status = EXIT_FAILURE;
  }
  MPI_Finalize();
  return status;
}
