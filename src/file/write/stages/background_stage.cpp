#include "file/write/stages/background_stage.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/staging_pool.hpp"

namespace stria::file {

Status BackgroundStage::prepare(BackgroundCommit::About about) {
  STRIA_RETURN_IF_ERROR(Background::instance().start());
  Comm& comm = *means_.environment.comm;
  int64_t limit_bytes = means_.environment.hints.staging_limit_bytes;
  if (limit_bytes < 0) {
    limit_bytes = default_staging_bytes();
  }
  one_.push_back(std::make_shared<BackgroundCommit>(std::move(about), limit_bytes / comm.node_size(), comm));
  return Status();
}

void BackgroundStage::stay_in_call(const std::string& why) {
  means_.reserve.attempt([&] {
    means_.environment.hint_warnings.push_back(
        fmt::format("commit_async() of '{}' does the whole commit before it returns: {}", means_.path, why));
  });
  one_.clear();
}

Status BackgroundStage::begin() {
  if (one_.empty()) {
    return Status();
  }
  Comm& comm = *means_.environment.comm;
  STRIA_RETURN_IF_ERROR(one_.front()->share(comm));
  if (const Status joined = one_.front()->join(comm); !joined.ok()) {
    stay_in_call(joined.message());
    return Status();
  }
  means_.file.stage(*one_.front());
  plan_for_staging();
  return Status();
}

// Nothing is read of the file: what is staged couldn't be seen.
void BackgroundStage::plan_for_staging() {
  means_.capabilities = staged_capabilities(means_.capabilities);
  access::ResolvedHints& hints = means_.environment.hints;
  hints.sieve_writes = access::Switch::kDisable;
  hints.direct = access::Switch::kDisable;
  if (hints.method != access::Method::kTwoPhase && hints.method != access::Method::kAutomatic) {
    hints.method = access::Method::kListIo;
  }
}

std::shared_ptr<const BackgroundCommit> BackgroundStage::hand_over() {
  if (one_.empty() || means_.file.staging() == nullptr) {
    return nullptr;
  }
  means_.file.depart();
  std::shared_ptr<const BackgroundCommit> commit = one_.front();
  Background::instance().take(one_);
  return commit;
}

}  // namespace stria::file
