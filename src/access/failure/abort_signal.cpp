#include "access/failure/abort_signal.hpp"

namespace stria::access {

Status failure_elsewhere(AbortSignal* signal) {
  return signal != nullptr && signal->heard() ? Status(ErrorCode::kAborted, "another rank has failed") : Status();
}

void tell_failure(const Context& context) {
  if (context.signal != nullptr) {
    context.signal->tell();
  }
}

}  // namespace stria::access
