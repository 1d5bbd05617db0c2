#include "io/benchmark.hpp"

#include <fmt/format.h>

#include <set>

#include "format/flash_file.hpp"
#include "io/modes.hpp"
#include "lab/shared/peak_memory.hpp"
#include "tools/shared/agree.hpp"
#include "workload/block_metadata.hpp"

namespace stria::flash {

namespace {

// All ranks learn whether one of them failed or found something wrong, and throw the same error.
void agree_on(MPI_Comm comm, const std::string& problem, ErrorCode code) {
  int failed_rank = -1;
  const Status status = shared::agree(comm, problem.empty() ? Status() : Status(code, problem), &failed_rank);
  int failed = problem.empty() ? 0 : 1;
  int size = 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_size(comm, &size);
  // An error on which the library has agreed is every rank's, and names the one that met it.
  (failed == size ? status : status.with_context(fmt::format("rank {}", failed_rank))).throw_if_error();
}

class Benchmark {
 public:
  Benchmark(MPI_Comm comm, const IoOptions& options, const Tell& progress, const Tell& warn)
      : comm_(comm), options_(options), progress_(progress), warn_(warn), arrays_(comm, options), modes_(make_modes(arrays_)) {
    const std::vector<std::string> told = hint_problems(options.hints);
    told_.insert(told.begin(), told.end());
    MPI_Comm_size(comm_, &size_);
    for (const auto& mode : modes_) {
      mode->prepare();
      results_.push_back({mode->name(), mode->kind(), mode->useful_bytes(), 0, {}, {}, -1, "", "", ""});
    }
  }

  std::vector<ModeResult> run() {
    for (int round = 0; round <= options_.rounds; ++round) {
      if (arrays_.rank == 0) {
        progress_(round == 0 ? "warming up" : fmt::format("round {} of {}", round, options_.rounds));
      }
      for (size_t m = 0; m < modes_.size(); ++m) {
        run_mode(round, *modes_[m], results_[m]);
      }
      tell_warnings();
    }
    return results_;
  }

 private:
  // Those of hints that were written wrongly are told before.
  void tell_warnings() {
    for (const std::string& warning : arrays_.hint_warnings) {
      if (arrays_.rank == 0 && told_.insert(warning).second) {
        warn_(warning);
      }
    }
  }

  void run_mode(int round, IoMode& mode, ModeResult& result) {
    bool last = round == options_.rounds;
    memory_.watch();
    MPI_Barrier(comm_);
    double start = MPI_Wtime();
    std::map<std::string, double> phases;
    std::string problem;
    try {
      mode.run(phases);
    } catch (const Error& error) {
      problem = error.what();
    }
    double seconds = MPI_Wtime() - start;
    int64_t grown_bytes = memory_.growth_bytes();
    try {
      mode.settle();
    } catch (const Error& error) {
      problem = problem.empty() ? error.what() : problem;
    }
    agree_on(comm_, problem, ErrorCode::kIo);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
    MPI_Allreduce(MPI_IN_PLACE, &grown_bytes, 1, MPI_INT64_T, MPI_MAX, comm_);
    result.memory_bytes = std::max(result.memory_bytes, grown_bytes);
    if (options_.verify && last) {
      agree_on(comm_, mode.check(), ErrorCode::kCorrupted);
    }
    if (round > 0) {
      note(seconds, phases, mode, result);
    }
    MPI_Barrier(comm_);
    bool reads = mode.kind() == "read";
    if (last && options_.keep) {
      result.file = mode.file();
    } else if (!reads || last) {
      mode.clean();
    }
  }

  void note(double seconds, const std::map<std::string, double>& phases, const IoMode& mode, ModeResult& result) {
    result.seconds.push_back(seconds);
    for (const auto& [name, mine] : phases) {
      double sum = mine;
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
      result.phases[name].push_back(sum / size_);
    }
    result.file_bytes = mode.file_bytes();
    result.method = mode.method();
    result.reason = mode.reason();
  }

  MPI_Comm comm_;
  const IoOptions& options_;
  const Tell& progress_;
  const Tell& warn_;
  IoArrays arrays_;
  std::vector<std::unique_ptr<IoMode>> modes_;
  shared::PeakMemory memory_;  // after the arrays, so that it doesn't count them
  std::vector<ModeResult> results_;
  std::set<std::string> told_;
  int size_ = 1;
};

// Takes the sizes of a checkpoint that another run of this benchmark kept. Collective: yes.
void take_shape(MPI_Comm comm, IoOptions& options) {
  File file = File::open(comm, options.read_from);
  const FlashHeader header = read_header(file).value();
  bool ours = header.dim == 3 && header.cells[0] == header.cells[1] && header.cells[0] == header.cells[2];
  for (size_t v = 0; v < header.names.size(); ++v) {
    ours = ours && header.names[v] == variable_label(static_cast<int64_t>(v));
  }
  if (!ours) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not a checkpoint of the FLASH I/O benchmark: it has other blocks or variables", file.path()));
  }
  options.workload.nxb = header.cells[0];
  options.workload.nvar = static_cast<int64_t>(header.names.size());
  options.total_blocks = header.global_count;
  options.checkpoint = false;
  options.plot_files = false;
  options.read = true;
}

}  // namespace

std::vector<ModeResult> run_io_benchmark(MPI_Comm comm, IoOptions& options, const Tell& progress, const Tell& warn) {
  if (!options.read_from.empty()) {
    take_shape(comm, options);
  }
  validate(options.workload).throw_if_error();
  return Benchmark(comm, options, progress, warn).run();
}

}  // namespace stria::flash
