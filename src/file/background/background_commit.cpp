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
#include "file/meet/outcome_message.hpp"
#include "trace/record/background_timer.hpp"

namespace stria::file {

// Moves the thread off the processors to which the job has bound its ranks, where it has left one.
void BackgroundCommit::leave_busy_processors() const {
  const cpu_set_t idle = board_->idle_processors();
  if (CPU_COUNT(&idle) > 0) {
    static_cast<void>(sched_setaffinity(0, sizeof idle, &idle));  // it may be refused
  }
}

Status BackgroundCommit::share(Comm& comm) {
  return comm.agree(or_out_of_memory([&] { return board_->share(comm); }));
}

Status BackgroundCommit::join(Comm& comm) {
  if (comm.node_size() == comm.size()) {
    return Status();
  }
  auto peers = join_nodes(comm);
  peers_ = peers.ok() ? std::move(*peers) : std::vector<Peer>();
  return peers.status();
}

void BackgroundCommit::take_handles(Handles handles) noexcept {
  handles_ = std::move(handles);
  board_->note_staged(staging_.staged_bytes());
  trace::Recorder::instance().counters(about_.trace_id).add(trace::Counter::kUnstagedBytes, staging_.left_bytes());
}

bool BackgroundCommit::write_piece(Pace& pace) noexcept {
  if (!std::exchange(has_begun_, true)) {
    leave_busy_processors();
    before_.reset();
  }
  Status outcome = or_out_of_memory([&]() -> Status {
    trace::BackgroundTimer timer(about_.trace_id, "background write", trace::Counter::kBackgroundNs);
    storage::File* file = handles_.target != nullptr ? handles_.target->file() : handles_.opened.get();
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
    outcome.update(close());
  }
  board_->tell(outcome);
  return true;
}

Status BackgroundCommit::close() noexcept {
  Status closed;
  if (handles_.opened != nullptr) {
    closed = or_out_of_memory([&] { return handles_.opened->close(); });
    handles_.opened.reset();
  }
  return closed;
}

BackgroundCommit::Step BackgroundCommit::try_to_end(Pace& pace) noexcept {
  const trace::FileScope scope(about_.trace_id);
  std::optional<Status> ended;
  const Status looked = or_out_of_memory([&] {
    goes_on_ = false;
    ended = look(pace);
    return Status();
  });
  if (looked.ok() && !ended) {
    return goes_on_ ? Step::kGoesOn : Step::kNotYet;
  }
  const Status outcome = looked.ok() ? *ended : looked;
  decide(outcome);
  return outcome.ok() ? Step::kDone : Step::kFailed;
}

// The outcome of the commit, once it is known.
std::optional<Status> BackgroundCommit::look(Pace& pace) {
  if (!node_written_) {
    const std::optional<Status> written = board_->collect();
    if (!written) {
      return std::nullopt;
    }
    node_written_ = is_root() ? *written : end_node(*written);
  }
  if (!is_root()) {
    return hear(peers_[0].link, fmt::format("'{}': rank 0 is gone, and may have given the file its name or not", about_.path));
  }
  const std::optional<Status> written = collect_nodes();
  return written ? end(*written, pace) : std::nullopt;
}

// Makes durable what another node than rank 0's has written, and tells rank 0.
Status BackgroundCommit::end_node(const Status& written) {
  const trace::BackgroundTimer timer(about_.trace_id, "background end", trace::Counter::kBackgroundNs);
  Status ended = written.ok() && about_.sync ? handles_.opened->sync() : Status();
  ended.update(close());
  Status outcome = written;
  outcome.update(ended.with_context(fmt::format("rank {}", board_->first_rank())));
  // Where rank 0 is gone, there will be no answer either.
  static_cast<void>(peers_[0].link.send(encode_outcome(outcome, {})));
  return outcome;
}

// Rank 0: the first failure on any node, or success, once all have written.
std::optional<Status> BackgroundCommit::collect_nodes() {
  bool all_told = true;
  for (Peer& peer : peers_) {
    if (!peer.told) {
      peer.told = hear(peer.link, fmt::format("rank {}: its node can't be reached any more", peer.rank));
    }
    all_told = all_told && peer.told;
  }
  if (!all_told) {
    return std::nullopt;
  }
  Status first = *node_written_;
  for (const Peer& peer : peers_) {
    keep_first_failure(first, *peer.told);
  }
  return first;
}

// The outcome that has come, if one has, or that none will.
std::optional<Status> BackgroundCommit::hear(Link& link, const std::string& when_lost) {
  const auto came = link.receive();
  if (!came.ok()) {
    return came.status().with_context(when_lost);
  }
  return *came ? std::optional(decode_outcome(**came).status()) : std::nullopt;
}

// Has others see the file. Where it is staged, brings a piece of it to its own place; then there is
// no outcome before the last piece.
std::optional<Status> BackgroundCommit::end(const Status& written, Pace& pace) {
  const bool is_staged = handles_.drain != nullptr;
  if (written.ok() && is_staged && handles_.target->is_published() && !pace.may_write(Pace::Clock::now())) {
    return std::nullopt;
  }
  const trace::BackgroundTimer timer(about_.trace_id, "background end", trace::Counter::kBackgroundNs);
  Status outcome = written;
  if (outcome.ok() && !handles_.target->is_published()) {
    outcome = publish();
  }
  if (outcome.ok() && is_staged) {
    const std::optional<Status> brought = bring_piece(pace);
    if (!brought) {
      return std::nullopt;
    }
    outcome = *brought;
  }
  if (written.ok() && board_->size() > 1) {
    outcome = outcome.with_context("rank 0");
  }
  return about_outcome(outcome);
}

// A file that grows is valid whatever becomes of its parity.
Status BackgroundCommit::publish() {
  PhaseTimes times;
  LoneParity* const parity = handles_.parity.get();
  const auto make = [&] {
    return or_out_of_memory([&] { return parity->make(handles_.target->file()->path(), file_bytes_, about_.sync); });
  };
  if (parity != nullptr && !parity->renews()) {
    STRIA_RETURN_IF_ERROR(make());
  }
  STRIA_RETURN_IF_ERROR(handles_.target->publish(file_bytes_, about_.sync, times));
  if (parity != nullptr && (!parity->renews() || make().ok())) {
    parity->note_published();
    handles_.parity.reset();
  }
  return Status();
}

// Only rank 0 copies, with all of the node's rate.
std::optional<Status> BackgroundCommit::bring_piece(Pace& pace) {
  const int64_t rate = about_.bytes_a_second;
  const int64_t before = handles_.drain->done_bytes();
  const Result<bool> over = handles_.drain->step(Pace::piece_bytes(rate, Drain::kPieceBytes), about_.sync);
  pace.note(handles_.drain->done_bytes() - before, rate, Pace::Clock::now());
  goes_on_ = over.ok() && !*over;
  return goes_on_ ? std::nullopt : std::optional(over.status());
}

Status BackgroundCommit::about_outcome(const Status& outcome) const {
  std::string state = handles_.target->state_after_failure();
  if (handles_.drain != nullptr) {
    state = state_after_failure(false, handles_.drain->is_over());
    if (!handles_.drain->is_over() && handles_.target->is_published()) {
      state += fmt::format(", but is complete as '{}'", handles_.drain->staged_path());
    }
  }
  return outcome.with_context(fmt::format("'{}' {}", about_.path, state));
}

// Tells the other nodes, and this one.
void BackgroundCommit::decide(const Status& outcome) noexcept {
  if (is_root()) {
    if (!outcome.ok()) {
      handles_.target->discard();
      if (handles_.drain != nullptr) {
        handles_.drain->discard();
      }
    }
    if (handles_.parity != nullptr && (!handles_.target->is_published() || handles_.parity->renews())) {
      handles_.parity->discard();
    }
    handles_.parity.reset();
    handles_.target.reset();
    handles_.drain.reset();
    for (Peer& peer : peers_) {
      // A node that hears nothing sees the connection end.
      static_cast<void>(or_out_of_memory([&] { return peer.link.send(encode_outcome(outcome, {})); }));
    }
  }
  peers_.clear();
  board_->decide(outcome);
}

Status BackgroundCommit::wait() const {
  if (!is_done()) {
    const trace::BackgroundTimer timer(about_.trace_id, "background wait", trace::Counter::kBackgroundWaitNs);
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
