#include "run/benchmark.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lab/shared/peak_memory.hpp"
#include "measure/instructions.hpp"
#include "run/verify.hpp"
#include "stria/paths.hpp"
#include "stria/status.hpp"
#include "stria/trace.hpp"
#include "tools/shared/agree.hpp"

namespace stria::bench {

namespace {

int64_t sum_of(MPI_Comm comm, int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
  return value;
}

int64_t most_of(MPI_Comm comm, int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, comm);
  return value;
}

// -1 where a rank doesn't know.
int64_t known_sum(MPI_Comm comm, int64_t value) {
  const bool unknown = most_of(comm, value < 0 ? 1 : 0) != 0;
  const int64_t sum = sum_of(comm, value);
  return unknown ? -1 : sum;
}

/// Returns this rank's traffic so far: that of a preloaded MPI-IO where there is one, else the
/// library's.
std::array<int64_t, 3> traffic() {
  std::array<int64_t, 3> counts{};
  using Count = void (*)(int64_t*);
  if (void* found = dlsym(RTLD_DEFAULT, "stria_wire_traffic"); found != nullptr) {
    reinterpret_cast<Count>(found)(counts.data());
  }
  return counts;
}

class Benchmark {
 public:
  Benchmark(MPI_Comm comm, const BenchOptions& options, const std::function<void(const std::string&)>& progress)
      : comm_(comm), options_(options), progress_(progress) {
    MPI_Comm_rank(comm_, &ranks_.rank);
    MPI_Comm_size(comm_, &ranks_.count);
    reader_ = (ranks_.rank + options_.reads_from) % ranks_.count;
    checker_ = (ranks_.rank + 1) % ranks_.count;
    options_.layer.path = options_.directory + "/stria_bench_" + options_.kind->name;
    written_ = options_.kind->make(options_.chosen, ranks_);
    read_ = options_.kind->make(options_.chosen, {reader_, ranks_.count});
    checked_ = options_.kind->make(options_.chosen, {checker_, ranks_.count});
    const int64_t bytes = std::max(written_.memory_bytes, read_.memory_bytes);
    everywhere([&] { memory_.resize(static_cast<size_t>(bytes)); });
    layer_ = options_.through == "library" ? make_library_layer(comm_, options_.layer)
             : options_.through == "mpiio" ? make_mpiio_layer(comm_, options_.layer)
                                           : make_posix_layer(comm_, options_.layer);
  }

  BenchResult run() {
    result_.useful_bytes = sum_of(comm_, written_.useful_bytes());
    count();
    everywhere([&] {
      layer_->prepare(writing_job());
      layer_->prepare(reading_job());
    });
    ground_.emplace();
    for (int round = options_.warm_up ? 0 : 1; round <= options_.rounds; ++round) {
      if (ranks_.rank == 0) {
        progress_(round == 0 ? "warming up" : fmt::format("round {} of {}", round, options_.rounds));
      }
      run_round(round);
      const bool stays = options_.keep && round == options_.rounds;
      if (stays) {
        result_.file = path_of(options_.layer, Job{written_, 0, nullptr});
      } else {
        remove_files();
      }
      MPI_Barrier(comm_);
    }
    return result_;
  }

 private:
  /// Runs the action on every rank, and throws on all ranks what any rank threw. std::bad_alloc
  /// counts as a stria::Error.
  template <typename Action>
  void everywhere(Action action) {
    Status outcome;
    try {
      action();
    } catch (const Error& error) {
      outcome = Status(error);
    } catch (const std::bad_alloc&) {
      outcome = Status(ErrorCode::kResourceExhausted, "too little memory for the arrays: choose a smaller size, or more ranks");
    }
    shared::agree(comm_, outcome).throw_if_error();
  }

  void count() {
    result_.counts = count_requests(written_, {options_.layer.list_regions, RequestLimits{}.sieve_bytes});
    for (const Call& call : written_.calls) {
      for (const Part& part : call.parts) {
        for_each_stretch(written_, part, [&](int64_t, int64_t) { ++result_.stretches; });
      }
    }
  }

  Job writing_job() { return {written_, ranks_.rank, memory_.data()}; }
  Job reading_job() { return {read_, reader_, memory_.data()}; }

  // Values depend on the round, so that a round can't pass with the bytes of the one before.
  void run_round(int round) {
    const bool checks = options_.verify && (round == 0 || round == options_.rounds);
    const Job writing = writing_job();
    fill_memory(writing, round);
    time(round, result_.write, "write", [&] { return layer_->write(writing); });
    if (checks && written_.files == 1) {
      const Job checking{checked_, checker_, nullptr};
      everywhere([&] {
        const std::string path = path_of(options_.layer, checking);
        refuse(check_file(checking, path, layer_->places(checking), round));
      });
    }
    if (!options_.read) {
      return;
    }
    const Job reading = reading_job();
    clear_memory(reading);
    time(round, result_.read, "read", [&] { return layer_->read(reading); });
    if (checks && options_.layer.method != "contiguous") {
      everywhere([&] { refuse(check_memory(reading, round)); });
    }
  }

  static void refuse(const std::string& wrong) {
    if (!wrong.empty()) {
      throw Error(ErrorCode::kCorrupted, wrong);
    }
  }

  template <typename Move>
  void time(int round, Direction& direction, const char* name, Move move) {
    Told told;
    ground_->watch();
    const int64_t instructions = instructions_.now();
    const auto before = traffic();
    MPI_Barrier(comm_);
    const double begin = MPI_Wtime();
    double seconds = 0;
    everywhere([&] {
      const trace::Region region(name);
      told = move();
      seconds = MPI_Wtime() - begin;
    });
    const int64_t executed = instructions < 0 ? -1 : instructions_.now() - instructions;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
    result_.growth_bytes = std::max(result_.growth_bytes, most_of(comm_, ground_->growth_bytes()));
    direction.instructions = most_of(comm_, executed);
    const auto after = traffic();
    for (size_t i = 0; i < after.size(); ++i) {
      direction.traffic[i] = sum_of(comm_, after[i] - before[i]);
    }
    direction.requests = known_sum(comm_, told.requests);
    direction.request_bytes = known_sum(comm_, told.request_bytes);
    direction.method = told.method;
    direction.reason = told.reason;
    if (round > 0) {
      direction.seconds.push_back(seconds);
      for (const auto& [phase, mine] : told.phases) {
        double sum = mine;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
        direction.phases[phase].push_back(sum / ranks_.count);
      }
    }
  }

  // Every layer names files as the library does.
  void remove_files() {
    everywhere([&] {
      if (!written_.is_file_a_rank && ranks_.rank != 0) {
        return;
      }
      for (int i = 0; i < written_.files; ++i) {
        remove_file(path_of(options_.layer, Job{written_, ranks_.rank, nullptr}, i));
      }
    });
  }

  MPI_Comm comm_;
  BenchOptions options_;
  const std::function<void(const std::string&)>& progress_;
  Ranks ranks_;
  int reader_ = 0;   ///< the rank whose part this one reads
  int checker_ = 0;  ///< the rank whose part this one checks in the file
  Workload written_, read_, checked_;
  std::vector<std::byte> memory_;
  std::unique_ptr<Layer> layer_;
  const InstructionCounter instructions_;
  std::optional<shared::PeakMemory> ground_;  ///< made after the arrays
  BenchResult result_;
};

}  // namespace

BenchResult run_benchmark(MPI_Comm comm, const BenchOptions& options, const std::function<void(const std::string&)>& progress) {
  return Benchmark(comm, options, progress).run();
}

}  // namespace stria::bench
