#include "peers/rounds.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "limits/plain_file.hpp"
#include "peers/report.hpp"

namespace stria::bench {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Returns the bytes of a file, or of the files of a folder; 0 where neither is.
int64_t bytes_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    const auto bytes = std::filesystem::file_size(path, error);
    return error ? 0 : static_cast<int64_t>(bytes);
  }
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    bytes += entry.is_regular_file() ? static_cast<int64_t>(entry.file_size()) : 0;
  }
  return bytes;
}

/// The runs of one session of one mode.
class ModeRunner {
 public:
  ModeRunner(const Options& options, const Mode& mode, BenchData* bench, MPI_Comm comm)
      : options_(options),
        mode_(mode),
        data_(mode.slow ? *bench->slow : *bench->full),
        target_(bench->target.get()),
        comm_(comm),
        path_(fmt::format("{}/bench.{}", options.directory, mode.name)) {
    const bool plot = mode.kind == ModeKind::kPlot;
    const int64_t variables = plot ? static_cast<int64_t>(data_.plot_variables.size()) : data_.unk.parameters().nvar;
    result_.name = mode.name;
    result_.kind = mode.kind;
    result_.total_blocks = data_.unk.partition().total;
    result_.useful_bytes = flash::useful_bytes(data_.unk.parameters(), result_.total_blocks, variables, plot ? 4 : 8);
  }

  /// Runs one round; only what `measured` rounds took is kept.
  void run(bool measured, bool check, bool keep) {
    Round round{comm_, data_, target_, path_, options_.sync, {}};
    prepare(&round, check);
    MPI_Barrier(comm_);
    const double start_s = flash::now_s();
    mode_.run(round);
    const double seconds = flash::now_s() - start_s;
    const Sample sample = slowest(seconds, round.times);
    if (measured) {
      result_.samples.push_back(sample);
    }
    note_file_bytes();
    if (check) {
      verify(&round);
    }
    if (mode_.kind != ModeKind::kRead && !keep) {
      remove_files();
    }
  }

  /// Removes what this mode left in the directory.
  void remove_files() {
    MPI_Barrier(comm_);
    if (rank_of(comm_) == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
    (void)unlink(data_.limit.runs(flash::LimitWay::kFilePerRank, path_).path.c_str());
    MPI_Barrier(comm_);
  }

  const ModeResult& result() const { return result_; }

 private:
  void prepare(Round* round, bool check) {
    if (mode_.kind == ModeKind::kRead) {
      if (check) {
        target_->poison();
      }
      if (source_written_) {
        return;
      }
      source_written_ = true;
    }
    remove_files();  // every write makes a new file
    if (mode_.prepare) {
      mode_.prepare(*round);
    }
    round->times = {};
  }

  Sample slowest(double seconds, const LimitTimes& t) {
    const std::array<double, 6> mine = {seconds, t.open_s, t.pack_s, t.transfer_s, t.sync_s, t.close_s};
    std::array<double, 6> most{};
    MPI_Allreduce(mine.data(), most.data(), 6, MPI_DOUBLE, MPI_MAX, comm_);
    Sample sample;
    sample.seconds = most[0];
    std::copy(most.begin() + 1, most.end(), sample.phases.begin());
    return sample;
  }

  void note_file_bytes() { result_.file_bytes = rank_of(comm_) == 0 && mode_.kind != ModeKind::kRead ? bytes_at(path_) : 0; }

  void verify(Round* round) {
    std::string wrong;
    if (mode_.file_runs) {
      wrong = check_file_runs(mode_.file_runs(*round), data_.unk);
    } else {
      wrong = target_->check_interior();
      wrong = wrong.empty() ? target_->check_guard_cells_untouched() : wrong;
    }
    if (wrong.empty() && mode_.check_lists) {
      wrong = mode_.check_lists(*round);
    }
    require(wrong.empty(), mode_.name + " went wrong: " + wrong);
    MPI_Barrier(comm_);  // no rank removes the file before all have read it
    result_.verified = true;
  }

  const Options& options_;
  const Mode& mode_;
  RankData& data_;
  flash::Unk* target_;
  MPI_Comm comm_;
  std::string path_;
  bool source_written_ = false;
  ModeResult result_;
};

std::unique_ptr<RankData> make_rank_data(const Options& options, int64_t blocks_per_rank, MPI_Comm comm) {
  flash::WorkloadParameters parameters = options.workload;
  if (blocks_per_rank > 0) {
    parameters.blocks_per_rank = blocks_per_rank;
    parameters.max_blocks = 0;
  }
  auto unk = flash::Unk::create(parameters, partition_blocks(parameters, comm));
  require(unk.status());
  if (!options.values.empty()) {
    require(unk->take_values(options.values));
  }
  auto data = std::make_unique<RankData>(std::move(*unk), rank_of(comm), options.staging_bytes);
  data->plot_variables = flash::plot_variables(parameters, options.plot_variables);
  return data;
}

}  // namespace

std::vector<Mode> chosen_modes(const Options& options) {
  std::vector<Mode> chosen;
  for (const Mode& mode : all_modes()) {
    const bool named = std::find(options.modes.begin(), options.modes.end(), mode.name) != options.modes.end();
    const bool kind_wanted = mode.kind == ModeKind::kCheckpoint || (mode.kind == ModeKind::kPlot && options.plotfile) ||
                             (mode.kind == ModeKind::kRead && options.read);
    if (named || (options.modes.empty() && kind_wanted)) {
      chosen.push_back(mode);
    }
  }
  return chosen;
}

BenchData make_data(const Options& options, const std::vector<Mode>& modes, MPI_Comm comm) {
  BenchData data;
  data.full = make_rank_data(options, 0, comm);
  if (std::any_of(modes.begin(), modes.end(), [](const Mode& mode) { return mode.slow; })) {
    data.slow = make_rank_data(options, slow_blocks_per_rank(options), comm);
  }
  if (std::any_of(modes.begin(), modes.end(), [](const Mode& mode) { return mode.kind == ModeKind::kRead; })) {
    auto target = flash::Unk::create(options.workload, data.full->unk.partition());
    require(target.status());
    data.target = std::make_unique<flash::Unk>(std::move(*target));
  }
  return data;
}

std::vector<ModeResult> run_rounds(const Options& options, const std::vector<Mode>& modes, BenchData* data, MPI_Comm comm) {
  std::vector<ModeRunner> runners;
  runners.reserve(modes.size());
  for (const Mode& mode : modes) {
    runners.emplace_back(options, mode, data, comm);
  }
  for (int64_t round = 0; round <= options.rounds; ++round) {
    const bool last = round == options.rounds;
    if (rank_of(comm) == 0) {
      show_progress(round, options.rounds);
    }
    for (ModeRunner& runner : runners) {
      runner.run(round > 0, options.verify && (round == 0 || last), options.keep && last);
    }
  }
  std::vector<ModeResult> results;
  for (ModeRunner& runner : runners) {
    if (runner.result().kind == ModeKind::kRead && !options.keep) {
      runner.remove_files();
    }
    results.push_back(runner.result());
  }
  return results;
}

void add_packed_limit(std::vector<ModeResult>* results) {
  const auto find = [&](const char* name) {
    return std::find_if(results->begin(), results->end(), [&](const ModeResult& r) { return r.name == name; });
  };
  const auto whole = find("limit-pack-whole");
  const auto staged = find("limit-pack-staged");
  if (whole == results->end() || staged == results->end()) {
    return;
  }
  ModeResult better = median_seconds(*staged) <= median_seconds(*whole) ? *staged : *whole;
  better.note = "the better of limit-pack-whole and limit-pack-staged: " + better.name;
  better.name = "limit-pack";
  results->insert(std::max(whole, staged) + 1, better);
}

}  // namespace stria::bench
