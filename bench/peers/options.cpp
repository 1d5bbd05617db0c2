#include "peers/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "peers/modes.hpp"

namespace stria::bench {
namespace {

constexpr int64_t kSlowBytesPerRank = int64_t{4} << 20;
constexpr int kBadOptions = 2;

void describe(CLI::App* app, Options* o) {
  app->add_option("--nxb", o->workload.nxb, "cells of a block along each side")->capture_default_str();
  app->add_option("--nvar", o->workload.nvar, "variables a cell")->capture_default_str();
  app->add_option("--blocks", o->workload.blocks_per_rank, "blocks per rank; 0: 80 + mod(rank, 3)")->capture_default_str();
  app->add_option("--guard", o->workload.guard_cells, "layers of guard cells")->capture_default_str();
  app->add_option("--max-blocks", o->workload.max_blocks, "blocks to allocate per rank; 0: as many as used");
  app->add_option("--slow-blocks", o->slow_blocks, "blocks per rank for the slow modes; 0: about 4 MB per rank");
  app->add_option("--rounds", o->rounds, "measured rounds; one more is run first and discarded")->capture_default_str();
  app->add_option("--plot-variables", o->plot_variables, "variables in a plot file, 1 to 4")->capture_default_str();
  app->add_option("--staging-bytes", o->staging_bytes, "buffer of the packed limit")->capture_default_str();
  app->add_option("--dir", o->directory, "where to write")->capture_default_str();
  app->add_option("--values", o->values, "the blocks' values: doubles of this file, again and again");
  app->add_option("--modes", o->modes, "only these, separated by commas; see --list-modes")->delimiter(',');
  app->add_option("--json", o->json_path, "write the results there");
  app->add_flag("--sync", o->sync, "sync every file to the device within the measured time");
  app->add_flag("--plotfile", o->plotfile, "measure plot files too (chosen variables as float)");
  app->add_flag("--read", o->read, "measure reading back into guard-celled blocks too");
  app->add_flag("--verify", o->verify, "check every value of the first and the last round, outside the measured time");
  app->add_flag("--keep", o->keep, "leave the files of the last round");
  app->add_flag("--list-modes", o->list_modes, "print the names of all modes and leave");
}

std::string check(const Options& o) {
  if (const Status status = flash::validate(o.workload); !status.ok()) {
    return status.message();
  }
  if (o.rounds < 1 || o.rounds > 10000) {
    return fmt::format("--rounds is {}; it must be between 1 and 10000", o.rounds);
  }
  if (o.plot_variables < 1 || o.plot_variables > 4) {
    return fmt::format("--plot-variables is {}; it must be between 1 and 4", o.plot_variables);
  }
  if (o.staging_bytes < 4096 || o.staging_bytes > (int64_t{1} << 32)) {
    return fmt::format("--staging-bytes is {}; it must be between 4096 and 4294967296", o.staging_bytes);
  }
  if (o.slow_blocks < 0) {
    return fmt::format("--slow-blocks is {}; it must not be negative", o.slow_blocks);
  }
  if (o.verify && !o.values.empty()) {
    return "--verify knows the benchmark's own values alone, not those of --values";
  }
  const std::vector<Mode> known = all_modes();
  for (const std::string& name : o.modes) {
    if (std::none_of(known.begin(), known.end(), [&](const Mode& mode) { return mode.name == name; })) {
      return fmt::format("--modes: there is no mode '{}'; --list-modes prints them", name);
    }
  }
  return {};
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions parsed;
  CLI::App app("FLASH checkpoints and plot files through parallel HDF5, PnetCDF, MPI-IO and plain system calls");
  describe(&app, &parsed.options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {parsed.options, false, 0, app.help()};
  } catch (const CLI::ParseError& error) {
    return {parsed.options, false, kBadOptions, fmt::format("bench_flash_peers: {}\n", error.what())};
  }
  if (const std::string wrong = check(parsed.options); !wrong.empty()) {
    return {parsed.options, false, kBadOptions, fmt::format("bench_flash_peers: {}\n", wrong)};
  }
  return parsed;
}

int64_t slow_blocks_per_rank(const Options& o) {
  const int64_t fewest = o.workload.blocks_on(0);
  const int64_t block_bytes = o.workload.nvar * o.workload.cells_per_block() * 8;
  const int64_t wanted = o.slow_blocks > 0 ? o.slow_blocks : kSlowBytesPerRank / block_bytes;
  return std::clamp<int64_t>(wanted, 1, fewest);
}

}  // namespace stria::bench
