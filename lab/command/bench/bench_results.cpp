#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/bench_command.hpp"
#include "folded.hpp"
#include "spread.hpp"

namespace stria::tool {

namespace {

using bench::BenchResult;
using bench::Direction;
using nlohmann::json;

/// Calls `take(name, direction)` for what was measured.
template <typename Take>
void for_each_direction(const BenchResult& result, Take take) {
  take("write", result.write);
  if (!result.read.seconds.empty()) {
    take("read", result.read);
  }
}

json known(int64_t value) {
  return value < 0 ? json(nullptr) : json(value);
}

json direction_json(const BenchResult& result, const Direction& direction) {
  json phases = json::object();
  for (const auto& [name, values] : direction.phases) {
    phases[name] = spread(values).median;
  }
  return {
      {"seconds", as_json(spread(direction.seconds))},
      {"mbps", as_json(spread(megabytes_per_second(static_cast<double>(result.useful_bytes), direction.seconds)))},
      {"rounds_seconds", direction.seconds},
      {"phases", phases},
      {"requests", known(direction.requests)},
      {"request_bytes", known(direction.request_bytes)},
      {"traffic",
       {{"requests", direction.traffic[0]}, {"bytes_sent", direction.traffic[1]}, {"bytes_received", direction.traffic[2]}}},
      {"instructions", known(direction.instructions)},
      {"method", direction.method},
      {"reason", direction.reason}};
}

std::string phase_text(const Direction& direction) {
  std::string text;
  for (const char* name : {"open", "metadata", "pack", "exchange", "write", "read", "unpack", "sync", "commit"}) {
    const auto found = direction.phases.find(name);
    const double ms = found == direction.phases.end() ? 0 : spread(found->second).median * 1e3;
    if (ms >= 0.05) {
      text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, ms);
    }
  }
  return text;
}

json chosen_json(const bench::Chosen& chosen) {
  json object = json::object();
  for (const auto& [name, value] : chosen.numbers) {
    object[name] = value;
  }
  for (const auto& [name, word] : chosen.words) {
    object[name] = word;
  }
  return object;
}

}  // namespace

std::string bench_text(const BenchRun& run, const BenchResult& result) {
  const bool moves = result.useful_bytes > 0;
  std::string text = fmt::format("{:<8}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "", moves ? "MB" : "files",
                                 moves ? "MB/s" : "files/s", "min", "max", "requests");
  std::string phases;
  for_each_direction(result, [&](const char* name, const Direction& direction) {
    int64_t files = run.options.chosen.numbers.count("count") != 0 ? run.options.chosen.numbers.at("count") : 1;
    files *= moves || run.options.chosen.words.at("files") == "shared" ? 1 : run.ranks;
    const double amount = moves ? static_cast<double>(result.useful_bytes) : static_cast<double>(files) * 1e6;
    const Spread rates = spread(megabytes_per_second(amount, direction.seconds));
    text += fmt::format("{:<8}{:>10.1f}{:>10.0f}{:>10.0f}{:>10.0f}{:>12}\n", name, amount / 1e6, rates.median, rates.minimum,
                        rates.maximum, direction.requests < 0 ? "-" : std::to_string(direction.requests));
    const std::string spent = phase_text(direction);
    phases += spent.empty() ? "" : folded(fmt::format("{:<8}{}", name, spent), 8);
  });
  text += phases.empty() ? "" : "\nms of a rank in each phase\n" + phases + "\n";
  text += folded(fmt::format("a rank's calls need {} requests as pieces, {} as lists of {}, {} as windows of 32 MiB",
                             result.counts.multiple, result.counts.list, run.options.layer.list_regions, result.counts.sieving),
                 2);
  if (!result.write.reason.empty()) {
    text += folded(fmt::format("method: {} ({})", result.write.method, result.write.reason), 2);
  }
  return text + (run.options.verify ? "every byte of the file was checked\n" : "");
}

std::string bench_json(const BenchRun& run, const BenchResult& result) {
  const bench::BenchOptions& options = run.options;
  json document = {
      {"workload", options.kind->name},
      {"through", options.through},
      {"ranks", run.ranks},
      {"parameters", chosen_json(options.chosen)},
      {"collective", options.layer.collective},
      {"hints", options.layer.hints},
      {"dir", options.directory},
      {"rounds", options.rounds},
      {"reads_from", options.reads_from},
      {"sync", options.layer.sync},
      {"useful_bytes", result.useful_bytes},
      {"stretches", result.stretches},
      {"needs",
       {{"multiple", result.counts.multiple}, {"list_io", result.counts.list}, {"data_sieving", result.counts.sieving}}},
      {"memory_growth_bytes", known(result.growth_bytes)},
      {"verified", options.verify ? json(true) : json(nullptr)}};
  if (!result.file.empty()) {
    document["file"] = result.file;
  }
  for_each_direction(result,
                     [&](const char* name, const Direction& direction) { document[name] = direction_json(result, direction); });
  return document.dump(2) + "\n";
}

std::string bench_csv(const BenchRun& run, const BenchResult& result) {
  std::string text =
      "workload,through,method,ranks,direction,useful_bytes,seconds,seconds_min,seconds_max,mbps,requests,request_bytes,"
      "server_requests,server_bytes_sent,server_bytes_received\n";
  for_each_direction(result, [&](const char* name, const Direction& direction) {
    const Spread seconds = spread(direction.seconds);
    const auto number = [](int64_t value) { return value < 0 ? std::string() : std::to_string(value); };
    text += fmt::format("{},{},{},{},{},{},{:.9f},{:.9f},{:.9f},{:.3f},{},{},{},{},{}\n", run.options.kind->name,
                        run.options.through, direction.method.empty() ? run.options.layer.method : direction.method, run.ranks,
                        name, result.useful_bytes, seconds.median, seconds.minimum, seconds.maximum,
                        static_cast<double>(result.useful_bytes) / seconds.median / 1e6, number(direction.requests),
                        number(direction.request_bytes), direction.traffic[0], direction.traffic[1], direction.traffic[2]);
  });
  return text;
}

}  // namespace stria::tool
