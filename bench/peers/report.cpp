#include "peers/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace stria::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double> seconds_of(const ModeResult& result) {
  std::vector<double> seconds;
  for (const Sample& sample : result.samples) {
    seconds.push_back(sample.seconds);
  }
  return seconds;
}

Json phases_of(const ModeResult& result) {
  Json phases = Json::object();
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    std::vector<double> seconds;
    for (const Sample& sample : result.samples) {
      seconds.push_back(sample.phases[phase]);
    }
    const bool reads = result.kind == ModeKind::kRead;
    const std::string name = kPhaseNames[phase];
    phases[reads && name == "write" ? "read" : reads && name == "pack" ? "unpack" : name] = median(seconds);
  }
  return phases;
}

Json mode_json(const ModeResult& result, bool verify_asked) {
  const std::vector<double> seconds = seconds_of(result);
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const auto bytes = static_cast<double>(result.useful_bytes);
  Json json;
  json["name"] = result.name;
  json["kind"] = mode_kind_name(result.kind);
  json["useful_bytes"] = result.useful_bytes;
  json["file_bytes"] = result.file_bytes > 0 ? Json(result.file_bytes) : Json(nullptr);
  json["total_blocks"] = result.total_blocks;
  json["seconds"] = {{"median", median(seconds)}, {"min", *least}, {"max", *most}};
  json["mbps"] = {{"median", bytes / kMega / median(seconds)}, {"min", bytes / kMega / *most}, {"max", bytes / kMega / *least}};
  json["phases"] = phases_of(result);
  json["rounds_seconds"] = seconds;
  json["verified"] = verify_asked ? Json(result.verified) : Json(nullptr);
  if (!result.note.empty()) {
    json["note"] = result.note;
  }
  return json;
}

Json parameters_json(const Options& o) {
  return {{"nxb", o.workload.nxb},
          {"nvar", o.workload.nvar},
          {"blocks", o.workload.blocks_per_rank},
          {"guard_cells", o.workload.guard_cells},
          {"slow_blocks", slow_blocks_per_rank(o)},
          {"plot_variables", o.plot_variables},
          {"rounds", o.rounds},
          {"dir", o.directory},
          {"sync", o.sync},
          {"staging_bytes", o.staging_bytes}};
}

}  // namespace

double median_seconds(const ModeResult& result) {
  assert(!seconds_of(result).empty());
  return median(seconds_of(result));
}

std::string to_json(const std::vector<ModeResult>& results, const Options& options, int ranks) {
  Json json;
  json["program"] = "bench_flash_peers";
  json["ranks"] = ranks;
  json["libraries"] = Json::object();
  for (const auto& [library, version] : peer_libraries()) {
    json["libraries"][library] = version;
  }
  json["parameters"] = parameters_json(options);
  json["modes"] = Json::array();
  for (const ModeResult& result : results) {
    json["modes"].push_back(mode_json(result, options.verify));
  }
  return json.dump(2) + "\n";
}

std::string to_table(const std::vector<ModeResult>& results, const Options& options, int ranks) {
  std::string table =
      fmt::format("{} ranks, blocks of {}^3, {} variables, {} measured rounds{}, {}\n", ranks, options.workload.nxb,
                  options.workload.nvar, options.rounds, options.sync ? ", synced" : "", options.directory);
  table += fmt::format("{:<36}{:>9}{:>10}{:>9}{:>9}{:>9}{:>8}{:>8}\n", "mode", "MB", "MB/s", "min", "max", "pack %", "write %",
                       "right");
  for (const ModeResult& result : results) {
    const Json json = mode_json(result, options.verify);
    const double seconds = json["seconds"]["median"];
    const auto percent = [&](size_t phase) {
      std::vector<double> parts;
      for (const Sample& sample : result.samples) {
        parts.push_back(sample.phases[phase]);
      }
      return 100 * median(parts) / seconds;
    };
    table += fmt::format("{:<36}{:>9.1f}{:>10.0f}{:>9.0f}{:>9.0f}{:>9.0f}{:>8.0f}{:>8}\n", result.name,
                         static_cast<double>(result.useful_bytes) / kMega, json["mbps"]["median"].get<double>(),
                         json["mbps"]["min"].get<double>(), json["mbps"]["max"].get<double>(), percent(1), percent(2),
                         !options.verify   ? "-"
                         : result.verified ? "yes"
                                           : "no");
  }
  return table;
}

void show_progress(int64_t round, int64_t rounds) {
  if (isatty(STDERR_FILENO) == 0) {
    return;
  }
  fmt::print(stderr, "\r{}", round == 0 ? std::string("warming up") : fmt::format("round {} of {}   ", round, rounds));
  if (round == rounds) {
    fmt::print(stderr, "\n");
  }
  std::fflush(stderr);
}

}  // namespace stria::bench
