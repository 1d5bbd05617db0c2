#include "access/failure/abort_signal.hpp"

namespace stria::access {

Status failure_elsewhere(const Context& context) {
  return context.signal != nullptr && context.signal->heard() ? Status(ErrorCode::kAborted, "another rank has failed")
                                                              : Status();
}

void tell_failure(const Context& context) {
  if (context.signal != nullptr) {
    context.signal->tell();
  }
}

}  // namespace stria::access
