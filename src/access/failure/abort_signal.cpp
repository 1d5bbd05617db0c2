#include "access/failure/abort_signal.hpp"

namespace stria::access {

Status failure_elsewhere(AbortSignal* signal) {
  return signal != nullptr && signal->heard() ? Status(ErrorCode::kAborted, "another rank has failed") : Status();
}

}  // namespace stria::access
