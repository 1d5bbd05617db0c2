#include "server/objects/blocks/guarded_copy.hpp"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <mutex>

namespace stria::server {

namespace {

thread_local sigjmp_buf* way_out = nullptr;
struct sigaction handler_before;

void on_bus_error(int number, siginfo_t* info, void* context) {
  if (way_out != nullptr) {
    // What the thread had blocked before is all that stays so.
    pthread_sigmask(SIG_SETMASK, &static_cast<const ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(*way_out, 1);
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(number, info, context);
    return;
  }
  // The instruction runs again, under the handler that was there before.
  sigaction(number, &handler_before, nullptr);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, &handler_before);
}

}  // namespace

bool guarded(void (*copy)(void* context), void* context) {
  static std::once_flag installed;
  std::call_once(installed, install);
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    way_out = nullptr;
    return false;
  }
  way_out = &here;
  copy(context);
  way_out = nullptr;
  return true;
}

}  // namespace stria::server
