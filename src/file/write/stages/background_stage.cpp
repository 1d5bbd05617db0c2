#include "file/write/stages/background_stage.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/staging_pool.hpp"

namespace stria::file {

Status BackgroundStage::prepare(BackgroundCommit::About about, Comm& comm, int64_t limit_bytes) {
  STRIA_RETURN_IF_ERROR(Background::instance().start());
  if (limit_bytes < 0) {
    limit_bytes = default_staging_bytes();
  }
  one_.push_back(std::make_shared<BackgroundCommit>(std::move(about), limit_bytes / comm.node_size(), comm));
  return Status();
}

Status BackgroundStage::share(Comm& comm) {
  STRIA_ASSERT(is_prepared());
  return one_.front()->share(comm);
}

Status BackgroundStage::join(Comm& comm) {
  STRIA_ASSERT(is_prepared());
  return one_.front()->join(comm);
}

void BackgroundStage::receive(NewFile& file) {
  STRIA_ASSERT(is_prepared());
  file.stage(*one_.front());
}

std::shared_ptr<const BackgroundCommit> BackgroundStage::hand_over(NewFile& file) {
  if (one_.empty() || file.staging() == nullptr) {
    return nullptr;
  }
  file.depart();
  std::shared_ptr<const BackgroundCommit> commit = one_.front();
  Background::instance().take(one_);
  return commit;
}

// Nothing is read of the file: what is staged couldn't be seen.
void plan_for_staging(access::ResolvedHints& hints, storage::Capabilities& capabilities) {
  capabilities = staged_capabilities(capabilities);
  hints.sieve_writes = access::Switch::kDisable;
  hints.direct = access::Switch::kDisable;
  if (hints.method != access::Method::kTwoPhase && hints.method != access::Method::kAutomatic) {
    hints.method = access::Method::kListIo;
  }
}

}  // namespace stria::file
