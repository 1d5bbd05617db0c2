#include "run/run.hpp"

#include <algorithm>
#include <map>

#include "access/plan/planner.hpp"
#include "run/engine.hpp"
#include "run/peers.hpp"
#include "run/rank_zero.hpp"
#include "run/sieving.hpp"
#include "storage/memory/memory_driver.hpp"
#include "store/timed_driver.hpp"

namespace stria::simulate {

namespace {

using MoveFunction = Status (*)(RunShared&, Comm&, const bench::Workload&);

struct KnownWay {
  const char* name;
  const char* help;
  MoveFunction mover;
};

constexpr KnownWay kWays[] = {
    {"library", "all arrays in one commit of the library", commit_all},
    {"calls", "each call as one collective call of the drop-in for MPI-IO", move_by_calls},
    {"alone", "each rank by itself, by the engine's plan", move_alone},
    {"hdf5", "each rank by itself, a call behind the joint creation of its dataset", move_alone_in_step},
    {"own-file", "one file for each rank", move_own_file},
    {"romio", "each call by ROMIO's two-phase of the papers' time", write_as_romio},
    {"sieving", "each rank by itself, by ROMIO's data sieving of the papers' time", sieve_as_romio},
    {"rank-zero", "rank 0 asks for each piece, and writes", write_through_rank_zero},
};

const KnownWay* find_way(const std::string& name) {
  const auto found = std::find_if(std::begin(kWays), std::end(kWays), [&](const KnownWay& way) { return name == way.name; });
  return found == std::end(kWays) ? nullptr : &*found;
}

}  // namespace

const std::vector<Way>& ways() {
  static const std::vector<Way> kAll = [] {
    std::vector<Way> all;
    for (const KnownWay& way : kWays) {
      all.push_back({way.name, way.help});
    }
    return all;
  }();
  return kAll;
}

Result<RunOutcome> run(const Machine& machine, const RunOptions& options) {
  const KnownWay* way = find_way(options.through);
  if (way == nullptr) {
    return Status(ErrorCode::kInvalidArgument, "'" + options.through + "' is no way to write or read");
  }
  std::vector<std::string> warnings;
  const access::ResolvedHints hints = access::resolve_hints(options.hints, warnings);
  if (!warnings.empty()) {
    return Status(ErrorCode::kInvalidArgument, warnings.front());
  }
  Clock clock;
  RunOutcome outcome;
  if (options.records_timeline) {
    clock.record(&outcome.timeline);
  }
  Store store(clock, machine, {.ranks = options.ranks, .seed = options.seed});
  storage::MemoryDriver memory;
  const auto driver = make_timed_driver(clock, store, memory, options.carries_data);
  RunShared shared{machine, options, hints, clock, store, *driver, memory, outcome};
  double begin_s = 0;
  const auto body = [&](Comm& comm) {
    const bench::Workload workload = options.kind->make(options.chosen, {comm.rank(), comm.size()});
    shared.outcome.useful_bytes += workload.useful_bytes();
    shared.most_calls = std::max(shared.most_calls, workload.calls.size());
    double call_s = clock.free_at();
    Status status = way->mover(shared, comm, workload);
    clock.settle();
    clock.note(trace::BuiltIn::kFileCommit, call_s, workload.useful_bytes());
    if (options.reads && status.ok()) {  // what has just been written
      comm.barrier();
      if (comm.rank() == 0) {
        begin_s = clock.now();
        shared.reads = true;
        outcome.open_s = 0;
        outcome.timeline.clear();
        store.count_anew();
      }
      comm.barrier();
      call_s = clock.free_at();
      status = way->mover(shared, comm, workload);
      clock.settle();
      clock.note(trace::BuiltIn::kFileReadList, call_s, workload.useful_bytes());
    }
    if (!status.ok() && shared.status.ok()) {
      shared.status = std::move(status);
    }
  };
  STRIA_ASSIGN_OR_RETURN(const RunReport report,
                         run_ranks(machine, {.ranks = options.ranks, .carries_payload = options.carries_data}, clock, body));
  STRIA_RETURN_IF_ERROR(shared.status);
  outcome.seconds = report.seconds - begin_s;
  for (TimelineSpan& span : outcome.timeline) {
    span.begin_s -= begin_s;
    span.end_s -= begin_s;
  }
  outcome.open_s = std::max(outcome.open_s - begin_s, 0.0);
  outcome.events = report.events;
  outcome.traffic = report.traffic;
  outcome.store = store.totals();
  outcome.busiest_server_s = store.busiest_server_s();
  outcome.mean_server_s = store.mean_server_s();
  outcome.metadata_s = store.metadata_s();
  outcome.locks_s = store.locks_s();
  return outcome;
}

}  // namespace stria::simulate
