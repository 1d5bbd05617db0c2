#include "file/write/stages/background_stage.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/staging_pool.hpp"

namespace stria::file {

namespace {

// Nothing is read of the file: what is staged couldn't be seen.
void plan_for_staging(access::ResolvedHints& hints, storage::Capabilities& capabilities) {
  capabilities = staged_capabilities(capabilities);
  hints.sieve_writes = access::Switch::kDisable;
  hints.direct = access::Switch::kDisable;
  if (hints.method != access::Method::kTwoPhase && hints.method != access::Method::kAutomatic) {
    hints.method = access::Method::kListIo;
  }
}

}  // namespace

Status BackgroundStage::prepare(BackgroundCommit::About about, Comm& comm, int64_t limit_bytes) {
  STRIA_RETURN_IF_ERROR(Background::instance().start());
  if (limit_bytes < 0) {
    limit_bytes = default_staging_bytes();
  }
  one_.push_back(std::make_shared<BackgroundCommit>(std::move(about), limit_bytes / comm.node_size(), comm));
  return Status();
}

void BackgroundStage::stay_in_call(OpenFile& file, const std::string& why) {
  file.meetings.reserve().attempt([&] {
    file.environment.hint_warnings.push_back(
        fmt::format("commit_async() of '{}' does the whole commit before it returns: {}", file.path, why));
  });
  one_.clear();
}

Status BackgroundStage::begin(OpenFile& file, NewFile& target, bool updates) {
  if (updates) {  // what is written is read again for its sums
    stay_in_call(file, "it overwrites data that the file has");
  }
  if (one_.empty()) {
    return Status();
  }
  Comm& comm = file.comm();
  STRIA_RETURN_IF_ERROR(one_.front()->share(comm));
  if (const Status joined = one_.front()->join(comm); !joined.ok()) {
    stay_in_call(file, joined.message());
    return Status();
  }
  target.stage(*one_.front());
  plan_for_staging(file.environment.hints, file.capabilities);
  return Status();
}

std::shared_ptr<const BackgroundCommit> BackgroundStage::hand_over(const OpenFile& file, NewFile& target) {
  if (one_.empty() || target.staging() == nullptr) {
    return nullptr;
  }
  target.depart(file);
  std::shared_ptr<const BackgroundCommit> commit = one_.front();
  Background::instance().take(one_);
  return commit;
}

}  // namespace stria::file
