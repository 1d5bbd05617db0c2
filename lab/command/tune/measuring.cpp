#include "tune/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "ranks_of_mpi.hpp"
#include "spread.hpp"
#include "stria/status.hpp"
#include "tune/candidates.hpp"
#include "tune/race.hpp"

namespace stria::tool {

namespace {

// Rank 0's clock decides for all.
double shared(MPI_Comm comm, double value) {
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm);
  return value;
}

// Returns one word for a command line.
std::string as_key(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '+');
  return words;
}

}  // namespace

Place::Place(MPI_Comm comm, const std::string& directory) : comm_(comm), path_(directory) {
  if (is_store(directory)) {
    return;
  }
  std::string name = directory + "/stria_tune.XXXXXX";
  on_root(comm, [&] {
    if (mkdtemp(name.data()) == nullptr) {
      Status::from_errno(errno, fmt::format("make a directory in '{}'", directory)).throw_if_error();
    }
  });
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm);
  path_ = made_ = name;
}

Place::~Place() {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::error_code ignored;
  if (rank == 0 && !made_.empty()) {
    std::filesystem::remove_all(made_, ignored);
  }
}

Measuring::Measuring(MPI_Comm comm, bench::BenchOptions options, bool only_reads, const std::string& past)
    : comm_(comm),
      options_(std::move(options)),
      only_reads_(only_reads),
      is_watched_(!past.empty()),
      past_(past.empty() ? std::vector<PastRun>() : from_a_word(past, elapsed_s_)),
      begin_s_(MPI_Wtime()) {}

double Measuring::now() const {
  return past_.is_left() ? past_time_s_ : elapsed_s_ + shared(comm_, MPI_Wtime() - begin_s_);
}

template <typename Run>
double Measuring::run_unless_past(const std::string& key, const std::string& words, Run run) {
  if (const PastRun* past = past_.take(key)) {
    past_time_s_ = past->ended_s;
    return past->seconds;
  }
  tell(fmt::format("begin {} {}", key, words));
  const double seconds = run();
  tell(fmt::format("done {}", seconds));
  return seconds;
}

double Measuring::run(const Hints& hints) {
  const std::string words = in_words(hints);
  return run_unless_past(hints.empty() ? kDefaultsKey : as_key(words), words, [&] { return seconds_of(hints); });
}

double Measuring::run_other(const std::string& key, const OtherRun& other) {
  const std::string words = fmt::format("{} by {}", other.workload, in_words(other.hints));
  return run_unless_past(key, words, [&] { return seconds_of(other); });
}

void Measuring::tell(const std::string& message) const {
  if (is_watched_) {
    print(comm_, kToWatcher + message + "\n");
  }
}

double Measuring::seconds_of(const Hints& hints) {
  options_.layer.hints = hints;
  try {
    const auto result = bench::run_benchmark(comm_, options_, [](const std::string&) {});
    const double writing = only_reads_ ? 0 : spread(result.write.seconds).median;
    return shared(comm_, writing + spread(result.read.seconds).median);
  } catch (const Error&) {
    if (hints.empty()) {
      throw;
    }
    return std::numeric_limits<double>::infinity();
  }
}

double Measuring::seconds_of(const OtherRun& other) const {
  const auto& kinds = bench::workload_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.name == other.workload; });
  bench::BenchOptions options;
  options.kind = &*kind;
  options.chosen = kind->standards();
  for (const auto& [name, value] : other.sizes) {
    options.chosen.numbers[name] = value;
  }
  options.rounds = 1;
  options.warm_up = false;
  options.read = other.reads;
  options.through = other.through;
  options.directory = options_.directory;
  options.layer.hints = other.hints;
  double seconds = std::numeric_limits<double>::infinity();
  const auto measure = [&](MPI_Comm comm) {
    try {
      const auto result = bench::run_benchmark(comm, options, [](const std::string&) {});
      seconds = spread(other.reads ? result.read.seconds : result.write.seconds).median;
    } catch (const Error&) {  // it stays infinite
    }
  };
  if (other.one_writer) {
    on_root(comm_, [&] { measure(MPI_COMM_SELF); });
  } else {
    measure(comm_);
  }
  return shared(comm_, seconds);
}

}  // namespace stria::tool
