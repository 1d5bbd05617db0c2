#include "tune/pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "ranks_of_mpi.hpp"
#include "stria/status.hpp"
#include "tune/recording.hpp"

namespace stria::tool {

namespace {

using bench::BenchOptions;
using bench::WorkloadKind;

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const WorkloadKind& kind : bench::workload_kinds()) {
    names.push_back(kind.name);
  }
  return names;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

// Takes an entry "name=value" of --size, as the option --name of `stria bench`.
void set_size(BenchOptions& options, const std::string& entry) {
  const size_t equals = std::min(entry.find('='), entry.size());
  const std::string name = entry.substr(0, equals), value = entry.substr(std::min(equals + 1, entry.size()));
  for (const bench::Parameter& parameter : options.kind->parameters) {
    if (parameter.name == name) {
      const std::optional<int64_t> number = whole_number(value);
      if (!number || *number < parameter.lowest || *number > parameter.highest) {
        refuse(fmt::format("--size {}: a number from {} to {} is needed", entry, parameter.lowest, parameter.highest));
      }
      options.chosen.numbers[name] = *number;
      return;
    }
  }
  for (const bench::Choice& choice : options.kind->choices) {
    if (choice.name == name && std::find(choice.words.begin(), choice.words.end(), value) != choice.words.end()) {
      options.chosen.words[name] = value;
      return;
    }
  }
  refuse(fmt::format("--size {}: not a size of this workload (stria bench {} --help)", entry, options.kind->name));
}

bool is_workload(const std::string& name) {
  const std::vector<std::string> names = workload_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the numbers of rank 0 to all.
std::vector<int64_t> shared(MPI_Comm comm, std::vector<int64_t> numbers) {
  auto count = static_cast<int64_t>(numbers.size());
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, comm);
  numbers.resize(static_cast<size_t>(count));
  constexpr size_t kMost = 1 << 24;  // in one call
  for (size_t at = 0; at < numbers.size(); at += kMost) {
    MPI_Bcast(numbers.data() + at, static_cast<int>(std::min(kMost, numbers.size() - at)), MPI_INT64_T, 0, comm);
  }
  return numbers;
}

// Rank 0 reads the trace for all.
Pattern recorded_pattern(MPI_Comm comm, const std::string& path) {
  RecordedRun run;
  on_root(comm, [&] { run = recorded_run(trace::TraceFile::read(path).value()); });
  std::vector<int64_t> numbers;
  if (run.requests != nullptr) {
    numbers = {run.writes, run.collective, run.requests->is_file_a_rank};
    for (const auto& requests : run.requests->ranks) {
      numbers.push_back(static_cast<int64_t>(requests.size()));
      for (const auto& request : requests) {
        numbers.insert(numbers.end(), {request.offset, request.bytes});
      }
    }
  }
  numbers = shared(comm, std::move(numbers));
  auto recording = std::make_shared<bench::Recording>();
  recording->is_file_a_rank = numbers[2] != 0;
  for (size_t at = 3; at < numbers.size();) {
    std::vector<bench::Recording::Request> requests(static_cast<size_t>(numbers[at++]));
    for (auto& request : requests) {
      request = {numbers[at], numbers[at + 1]};
      at += 2;
    }
    recording->ranks.push_back(std::move(requests));
  }
  return {bench::replay_kind(std::move(recording)), numbers[1] != 0, numbers[0] == 0, run.told};
}

}  // namespace

Check known_pattern() {
  return {[](const std::string& name) {
            std::error_code ignored;
            return is_workload(name) || std::filesystem::is_regular_file(name, ignored)
                       ? std::string()
                       : fmt::format("'{}' is no trace, and none of {}", name, fmt::join(workload_names(), ", "));
          },
          "WORKLOAD|TRACE"};
}

Pattern pattern_of(MPI_Comm comm, const std::string& name) {
  for (const WorkloadKind& kind : bench::workload_kinds()) {
    if (kind.name == name) {
      return {kind, true, false, ""};
    }
  }
  return recorded_pattern(comm, name);
}

BenchOptions options_of(const Pattern& pattern, const std::vector<std::string>& sizes) {
  BenchOptions options;
  options.kind = &pattern.kind;
  options.chosen = options.kind->standards();
  for (const std::string& size : sizes) {
    set_size(options, size);
  }
  options.rounds = 1;
  options.warm_up = false;
  options.read = pattern.only_reads;
  options.layer.collective = pattern.collective;
  return options;
}

}  // namespace stria::tool
