#include "file/background/commit_ending.hpp"

#include <fmt/format.h>

#include <new>
#include <span>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"
#include "trace/record/background_timer.hpp"

namespace stria::file {

namespace {

// Returns the outcome that has come, if one has, or that none will. Where memory lacks, the outcome
// waits, since without it this node can't tell what became of the file.
template <typename Describe>
std::optional<Status> hear(Link& link, Describe&& when_lost) {
  try {
    const auto came = link.receive();
    if (!came.ok()) {
      return came.status().with_context(when_lost());
    }
    return *came ? std::optional(decode_outcome(**came).status()) : std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

// Who hears nothing sees the connection end.
void tell(Link& link, const Status& outcome) noexcept {
  give_outcome(outcome, [&](std::span<const std::byte> message) { static_cast<void>(link.send(message)); });
}

}  // namespace

CommitEnding::CommitEnding(const AboutCommit& about, std::shared_ptr<OutcomeBoard> board)
    : about_(about), board_(std::move(board)) {}

Status CommitEnding::join(Comm& comm) {
  if (comm.node_size() == comm.size()) {
    return Status();
  }
  auto peers = join_nodes(comm);
  peers_ = peers.ok() ? std::move(*peers) : std::vector<Peer>();
  return peers.status();
}

void CommitEnding::take_handles(Handles handles) noexcept {
  handles_ = std::move(handles);
}

storage::File* CommitEnding::file() const {
  return handles_.target != nullptr ? handles_.target->file() : handles_.opened.get();
}

Status CommitEnding::close() noexcept {
  Status closed;
  if (handles_.opened != nullptr) {
    closed = or_out_of_memory([&] { return handles_.opened->close(); });
    handles_.opened.reset();
  }
  return closed;
}

std::optional<Status> CommitEnding::look(Pace& pace) {
  goes_on_ = false;
  if (!node_written_) {
    const std::optional<Status> written = board_->collect();
    if (!written) {
      return std::nullopt;
    }
    node_written_ = board_->is_root() ? *written : end_node(*written);
  }
  if (!board_->is_root()) {
    return hear(peers_[0].link,
                [&] { return fmt::format("'{}': rank 0 is gone, and may have given the file its name or not", about_.path); });
  }
  const std::optional<Status> written = collect_nodes();
  return written ? end(*written, pace) : std::nullopt;
}

// Makes durable what another node than rank 0's has written, and tells rank 0.
Status CommitEnding::end_node(const Status& written) {
  const trace::BackgroundTimer timer(about_.trace_id, trace::BuiltIn::kBackgroundEnd, trace::Counter::kBackgroundNs);
  Status ended = written.ok() && about_.sync ? handles_.opened->sync() : Status();
  ended.update(close());
  Status outcome = written;
  outcome.update(ended.with_context(fmt::format("rank {}", board_->first_rank())));
  tell(peers_[0].link, outcome);  // Where rank 0 is gone, there will be no answer either.
  return outcome;
}

// Returns, on rank 0, the first failure on any node, or success, once all have written.
std::optional<Status> CommitEnding::collect_nodes() {
  bool all_told = true;
  for (Peer& peer : peers_) {
    if (!peer.told) {
      peer.told = hear(peer.link, [&] { return fmt::format("rank {}: its node can't be reached any more", peer.rank); });
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

// Has others see the file. Where it is staged, brings a piece of it to its own place; then there is
// no outcome before the last piece.
std::optional<Status> CommitEnding::end(const Status& written, Pace& pace) {
  const bool is_staged = handles_.drain != nullptr;
  if (written.ok() && is_staged && handles_.target->is_published() && !pace.may_write(Pace::Clock::now())) {
    return std::nullopt;
  }
  const trace::BackgroundTimer timer(about_.trace_id, trace::BuiltIn::kBackgroundEnd, trace::Counter::kBackgroundNs);
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
  return outcome.ok() ? outcome : about_failure(outcome);
}

// A file that grows is valid whatever becomes of its parity.
Status CommitEnding::publish() {
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
std::optional<Status> CommitEnding::bring_piece(Pace& pace) {
  const int64_t rate = about_.bytes_a_second;
  const int64_t before = handles_.drain->done_bytes();
  const Result<bool> over = handles_.drain->step(Pace::piece_bytes(rate, Drain::kPieceBytes), about_.sync);
  pace.note(handles_.drain->done_bytes() - before, rate, Pace::Clock::now());
  goes_on_ = over.ok() && !*over;
  return goes_on_ ? std::nullopt : std::optional(over.status());
}

Status CommitEnding::about_failure(const Status& outcome) const {
  std::string state = handles_.target->state_after_failure();
  if (handles_.drain != nullptr) {
    state = state_after_failure(false, handles_.drain->is_over());
    if (!handles_.drain->is_over() && handles_.target->is_published()) {
      state += fmt::format(", but is complete as '{}'", handles_.drain->staged_path());
    }
  }
  return outcome.with_context(fmt::format("'{}' {}", about_.path, state));
}

void CommitEnding::decide(const Status& outcome) noexcept {
  if (board_->is_root()) {
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
      tell(peer.link, outcome);
    }
  }
  peers_.clear();
  board_->decide(outcome);
}

}  // namespace stria::file
