#include "comm/mpi/trace_join.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "comm/end_of_mpi.hpp"
#include "comm/self/self_comm.hpp"
#include "comm/trace/trace_run.hpp"
#include "trace/record/levels.hpp"

namespace stria {

namespace {

// A thread that waits for other ranks with the mutex held would keep this rank's other threads from
// their meetings. The ranks meet with the mutex only where no other thread can be on its way to
// one: where all ranks have claimed the joining for the same meeting.
struct State {
  std::mutex mutex;
  bool hooked = false;         ///< the end of MPI will call back
  bool is_claimed = false;     ///< by a thread that joins, or asks the other ranks whether it may
  std::shared_ptr<Comm> comm;  ///< the run's communicator; null while there is no run
  TraceRun run;
  bool of_all_ranks = false;
  bool finished = false;
};

// Never destroyed, because MPI calls back late.
State& state() {
  static State* instance = new State;
  return *instance;
}

/// Returns what STRIA_TRACE and STRIA_TRACE_DIR ask for; no value when neither is set.
Result<std::optional<trace::Options>> wanted() {
  if (!is_trace_asked_for()) {
    return std::optional<trace::Options>();
  }
  const char* level = std::getenv("STRIA_TRACE");
  const char* directory = std::getenv("STRIA_TRACE_DIR");
  trace::Options options;
  options.level = trace::Level::kCounters;
  options.directory = directory == nullptr || *directory == '\0' ? "." : directory;
  if (level != nullptr) {
    const std::optional<trace::Level> parsed = trace::parse_level(level);
    if (!parsed) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("STRIA_TRACE is '{}'; use off, counters, app, library or full", level));
    }
    options.level = *parsed;
  }
  return options.level == trace::Level::kOff ? std::optional<trace::Options>() : std::optional(options);
}

void finish_at_end() {
  // No caller is left to hear of a failure; the parts remain.
  (void)finish_trace();
  const std::lock_guard lock(state().mutex);
  state().comm.reset();
}

void hook_end_of_mpi() {
  if (!state().hooked) {
    at_end_of_mpi(MpiEnd::kTrace, finish_at_end);
    state().hooked = true;
  }
}

// How often a thread asks, while on other ranks other threads are about to join.
constexpr int kMostVotes = 200;

Status begin(const std::shared_ptr<Comm>& comm, const trace::Options& options, int world_size) {
  // Recording stops meanwhile, so that the messages of tracing itself are not recorded.
  trace::apply_level(trace::Level::kOff);
  STRIA_ASSIGN_OR_RETURN(state().run, begin_trace_run(*comm, trace::Recorder::instance(), options));
  state().comm = comm;
  state().of_all_ranks = comm->size() == world_size;
  trace::apply_level(options.level);
  return {};
}

Status join(const std::shared_ptr<Comm>& comm, const trace::Options& options) {
  const std::lock_guard lock(state().mutex);
  if (state().of_all_ranks || state().finished) {
    return {};  // this is so on every rank
  }
  int world_size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  hook_end_of_mpi();
  if (comm->size() < world_size) {
    std::array<int64_t, 1> has_run{state().comm != nullptr ? 1 : 0};
    comm->all_reduce(std::span<int64_t>(has_run), ReduceOp::kMax);
    if (comm->size() == 1 || has_run[0] != 0) {
      return {};
    }
  }
  return begin(comm, options, world_size);
}

bool several_threads_may_call() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// Holds what a rank brings to a vote; all ranks get the least of each.
struct Vote {
  int64_t has_claimed = 0;
  int64_t may_join = 0;  ///< 0 where there is nothing left to join
};

Vote claim_joining() {
  const std::lock_guard lock(state().mutex);
  const Vote vote{.has_claimed = state().is_claimed ? 0 : 1, .may_join = state().of_all_ranks || state().finished ? 0 : 1};
  state().is_claimed = true;
  return vote;
}

void give_up_claim() {
  const std::lock_guard lock(state().mutex);
  state().is_claimed = false;
}

/// Does the same as join(), where threads open files at once, each on a communicator of its own:
/// rank 0's first may be rank 1's last. The ranks join in the meeting that all of them have
/// claimed.
Status join_by_vote(const std::shared_ptr<Comm>& comm, const trace::Options& options) {
  for (int attempt = 0; attempt < kMostVotes; ++attempt) {
    const Vote mine = claim_joining();
    std::array<int64_t, 2> all{mine.has_claimed, mine.may_join};
    comm->all_reduce(std::span<int64_t>(all), ReduceOp::kMin);
    const bool joins = all[0] != 0 && all[1] != 0;
    const Status outcome = joins ? join(comm, options) : Status();
    if (mine.has_claimed != 0) {
      give_up_claim();
    }
    if (joins || all[1] == 0) {
      return outcome;
    }
    comm->pause(attempt);
  }
  return {};  // the next file that is opened tries again
}

}  // namespace

bool is_trace_asked_for() {
  return std::getenv("STRIA_TRACE") != nullptr || std::getenv("STRIA_TRACE_DIR") != nullptr;
}

Status join_trace(const std::shared_ptr<Comm>& comm) {
  STRIA_ASSIGN_OR_RETURN(const std::optional<trace::Options> options, wanted());
  if (!options) {
    return {};
  }
  return comm->size() > 1 && several_threads_may_call() ? join_by_vote(comm, *options) : join(comm, *options);
}

Status start_trace(const std::shared_ptr<Comm>& comm, const trace::Options& options) {
  const std::lock_guard lock(state().mutex);
  const bool begun = state().comm != nullptr || state().finished;
  STRIA_RETURN_IF_ERROR(comm->agree(
      begun ? Status(ErrorCode::kInvalidArgument, "tracing has begun already; a program records one run") : Status()));
  int world_size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  hook_end_of_mpi();
  STRIA_RETURN_IF_ERROR(begin(comm, options, world_size));
  state().of_all_ranks = true;  // no larger run takes its place
  return {};
}

Result<std::string> finish_trace() {
  const std::lock_guard lock(state().mutex);
  if (state().finished) {
    return std::string();
  }
  if (state().comm == nullptr) {
    // This rank opened files only by itself.
    STRIA_ASSIGN_OR_RETURN(const std::optional<trace::Options> options, wanted());
    if (!options || !state().hooked) {
      return std::string();
    }
    STRIA_RETURN_IF_ERROR(begin(make_self_comm(), *options, 1));
  }
  state().finished = true;
  trace::apply_level(trace::Level::kOff);
  STRIA_RETURN_IF_ERROR(finish_trace_run(*state().comm, trace::Recorder::instance(), state().run));
  state().comm.reset();
  return state().run.path;
}

Status write_trace_without_mpi() {
  const std::lock_guard lock(state().mutex);
  STRIA_ASSIGN_OR_RETURN(const std::optional<trace::Options> options, wanted());
  if (state().hooked || state().finished || !options || !trace::Recorder::instance().has_files()) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(begin(make_self_comm(), *options, 1));
  state().finished = true;
  trace::apply_level(trace::Level::kOff);
  return finish_trace_run(*state().comm, trace::Recorder::instance(), state().run);
}

}  // namespace stria
