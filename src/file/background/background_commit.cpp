#include "file/background/background_commit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/out_of_memory.hpp"
#include "base/staging_pool.hpp"
#include "comm/job_end.hpp"
#include "comm/pause.hpp"
#include "trace/record/background_timer.hpp"

namespace stria::file {

namespace {

// Moves the thread off the processors to which the job has bound its ranks, where it has left one.
void leave_busy_processors(const OutcomeBoard& board) {
  const cpu_set_t idle = board.idle_processors();
  if (CPU_COUNT(&idle) > 0) {
    static_cast<void>(sched_setaffinity(0, sizeof idle, &idle));  // it may be refused
  }
}

}  // namespace

Status BackgroundCommit::share(Comm& comm) {
  return comm.agree(or_out_of_memory([&] { return board_->share(comm); }));
}

void BackgroundCommit::take_handles(Handles handles) noexcept {
  ending_.take_handles(std::move(handles));
  board_->note_staged(staging_.staged_bytes());
  trace::Recorder::instance().counters(about_.trace_id).add(trace::Counter::kUnstagedBytes, staging_.left_bytes());
}

bool BackgroundCommit::write_piece(Pace& pace) noexcept {
  if (!std::exchange(has_begun_, true)) {
    leave_busy_processors(*board_);
    before_.reset();
  }
  Status outcome = or_out_of_memory([&]() -> Status {
    trace::BackgroundTimer timer(about_.trace_id, trace::BuiltIn::kBackgroundWrite, trace::Counter::kBackgroundNs);
    storage::File* file = ending_.file();
    if (file == nullptr) {
      return Status();
    }
    const int64_t rate = Pace::share(about_.bytes_a_second, about_.writers, node_size_);
    STRIA_ASSIGN_OR_RETURN(const int64_t bytes,
                           staging_.write_piece(*file, Pace::piece_bytes(rate, StagingPool::kExtentBytes)));
    timer.set_bytes(bytes);
    pace.note(bytes, rate, Pace::Clock::now());
    board_->note_written(bytes);
    return Status();
  });
  if (outcome.ok() && !staging_.is_written()) {
    return false;
  }
  if (!is_first()) {
    outcome.update(ending_.close());
  }
  board_->tell(outcome);
  return true;
}

BackgroundCommit::Step BackgroundCommit::try_to_end(Pace& pace) noexcept {
  const trace::FileScope scope(about_.trace_id);
  std::optional<Status> ended;
  const Status looked = or_out_of_memory([&] {
    ended = ending_.look(pace);
    return Status();
  });
  if (looked.ok() && !ended) {
    return ending_.goes_on() ? Step::kGoesOn : Step::kNotYet;
  }
  const Status outcome = looked.ok() ? *ended : looked;
  ending_.decide(outcome);
  return outcome.ok() ? Step::kDone : Step::kFailed;
}

Status BackgroundCommit::wait() const {
  if (!is_done()) {
    const trace::BackgroundTimer timer(about_.trace_id, trace::BuiltIn::kBackgroundWait, trace::Counter::kBackgroundWaitNs);
    const CallNote note("wait()", about_.path, about_.wait_limits);
    LongWait wait;
    wait.begin();
    for (int attempt = 0; !is_done(); ++attempt) {
      polite_pause(attempt);
      look_at_wait(wait);
    }
  }
  return outcome();
}

void BackgroundCommit::look_at_wait(LongWait& wait) const {
  if (wait.is_due() && is_root()) {
    constexpr double kMb = 1e6;
    const OutcomeBoard::Progress progress = board_->progress();
    say_line(fmt::format("has waited {:.0f} s for the commit of '{}': {:.1f} of {:.1f} MB written", wait.seconds(), about_.path,
                         static_cast<double>(progress.written_bytes) / kMb, static_cast<double>(progress.staged_bytes) / kMb));
  }
  if (wait.is_over_deadline()) {
    say_line(fmt::format("ends the job: the deadline of {:.0f} s for a wait is over, and '{}' is not committed",
                         wait.limits().deadline_s, about_.path));
    end_job();
  }
}

Status BackgroundCommit::outcome() const {
  const std::optional<Status> decision = board_->decision();
  if (!decision) {
    return Status();
  }
  heard_ = heard_ || !decision->ok();
  return *decision;
}

void BackgroundCommit::tell_if_unheard() const {
  const char* verbose = std::getenv("STRIA_VERBOSE");
  const bool silent = verbose != nullptr && std::string_view(verbose) == "0";
  if (!is_root() || silent || heard_) {
    return;
  }
  const Status failed = outcome();
  if (!failed.ok()) {
    std::fprintf(stderr, "stria: error: %s\n", failed.message().c_str());
  }
}

}  // namespace stria::file
