#include "access/together/node/kept_windows.hpp"

#include "base/check.hpp"

namespace stria::access {

bool KeptWindows::may_pass(bool write, int64_t bytes) const {
  return windows != nullptr && windows->short_calls().may_pass(write, bytes);
}

void KeptWindows::pass(Comm& comm, bool write, int64_t bytes) const {
  STRIA_CHECK(windows != nullptr);
  windows->short_calls().pass(comm, write, bytes);
}

void KeptWindows::stop_passing() const {
  if (windows != nullptr) {
    windows->short_calls().stop();
  }
}

}  // namespace stria::access
