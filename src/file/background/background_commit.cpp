#include "file/background/background_commit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/out_of_memory.hpp"
#include "comm/pause.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

void BackgroundCommit::take_handles(std::shared_ptr<storage::Driver> driver, std::unique_ptr<PartialFile> partial,
                                    std::unique_ptr<storage::File> opened) noexcept {
  driver_ = std::move(driver);
  partial_ = std::move(partial);
  opened_ = std::move(opened);
}

void BackgroundCommit::write() noexcept {
  const trace::FileScope scope(about_.trace_id);
  storage::File* file = partial_ != nullptr ? partial_->file() : opened_.get();
  Status outcome;
  if (file != nullptr) {
    outcome = or_out_of_memory([&] { return staging_.write_to(*file); });
  }
  if (opened_ != nullptr) {
    outcome.update(or_out_of_memory([&] { return opened_->close(); }));
    opened_.reset();
  }
  board_.tell(outcome);
}

BackgroundCommit::Step BackgroundCommit::try_to_end() noexcept {
  std::optional<Status> written;
  const Status looked = or_out_of_memory([&] {
    written = board_.collect();
    return Status();
  });
  if (looked.ok() && !written) {
    return Step::kNotYet;
  }
  const trace::FileScope scope(about_.trace_id);
  const Status outcome = or_out_of_memory([&] { return end(looked.ok() ? *written : looked); });
  if (!outcome.ok()) {
    partial_->discard();
  }
  partial_.reset();
  board_.decide(outcome);
  return outcome.ok() ? Step::kDone : Step::kFailed;
}

Status BackgroundCommit::end(const Status& written) {
  Status outcome = written;
  if (outcome.ok()) {
    PhaseTimes times;
    outcome = partial_->publish(file_bytes_, sync_, times);
    outcome = board_.size() == 1 ? outcome : outcome.with_context("rank 0");
  }
  const char* state =
      partial_->is_published() ? "is complete and has its name, but may not survive a power loss" : "was not written";
  return outcome.with_context(fmt::format("'{}' {}", about_.path, state));
}

Status BackgroundCommit::wait() const {
  for (int attempt = 0; !board_.decision(); ++attempt) {
    polite_pause(attempt);
  }
  return outcome();
}

Status BackgroundCommit::outcome() const {
  const std::optional<Status> decision = board_.decision();
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
