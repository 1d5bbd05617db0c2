#include "mpiio/file/hints_in_force.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "access/plan/aggregators.hpp"
#include "access/plan/facts.hpp"
#include "mpiio/file/file.hpp"
#include "mpiio/file/info.hpp"
#include "mpiio/file/messages.hpp"
#include "trace/record/recorder.hpp"

namespace stria::mpiio {

namespace {

void say_warnings(File& file, const std::vector<std::string>& warnings) {
  if (!warnings.empty()) {
    trace::Recorder::instance().set_fact(file.trace().id(), "hint warnings", fmt::format("{}", fmt::join(warnings, "; ")));
  }
  if (speaks_for(file.comm())) {
    for (const std::string& warning : warnings) {
      say(warning);
    }
  }
}

}  // namespace

Outcome HintsInForce::read_files(File& file) {
  return access::hints_from_files(file.comm(), file.path(), {"STRIA_HINTS_FILE", "ROMIO_HINTS"}, of_files_);
}

void HintsInForce::apply(File& file, const Hints& given) {
  for (const auto& [name, value] : given) {
    given_[name] = value;
  }
  std::vector<std::string> warnings;
  const std::string driver = resolved_.driver;
  const access::Switch async = resolved_.async;
  const Hints hints = with_environment(given_, of_files_, warnings);
  resolved_ = access::resolve_hints(hints, warnings);
  resolved_.node_hosts = file.channel().node_hosts;
  if (!access::names_a_node(resolved_, file.comm())) {
    warnings.emplace_back(access::kNoPlaceForAggregators);
  }
  if (file.storage().is_open()) {
    resolved_.driver = driver;  // This and the next can't change for an open file.
    resolved_.async = async;
  } else if (resolved_.driver == "memory") {
    warnings.emplace_back("hint 'stria_driver' has the value 'memory', which other ranks would not see; 'posix' is used");
    resolved_.driver = "posix";
  }
  if (resolved_.direct == access::Switch::kEnable) {
    warnings.emplace_back("hint 'stria_direct' is for files that Stria itself makes; MPI-IO goes through the page cache");
  }
  for (const char* name : {"stria_staging", "stria_staging_rate", "stria_staging_writers"}) {
    if (hints.contains(name)) {
      warnings.push_back(fmt::format("hint '{}' is for files that Stria itself makes, and has no effect in MPI-IO", name));
    }
  }
  resolved_.direct = access::Switch::kDisable;
  file.channel().kept.windows.stop_passing();
  access::state_hints(file.trace().id(), resolved_);
  say_warnings(file, warnings);
}

}  // namespace stria::mpiio
