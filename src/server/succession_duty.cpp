#include "server/succession_duty.hpp"

#include <future>
#include <utility>

namespace stria::server {

namespace {

/// Returns what work() returns, done by the manager's thread.
template <typename Work>
auto on_manager_thread(SharedState& shared, Work work) {
  const auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
  auto outcome = task->get_future();
  shared.manager_thread.post([task] { (*task)(); });
  return outcome.get();
}

}  // namespace

SuccessionDuty::SuccessionDuty(SharedState& shared, Connect connect, const std::string& address)
    : shared_(shared),
      address_(address),
      marks_(RoleCalls(std::move(connect)), manager_thread(), *shared.stream, *shared.role, shared.identity) {}

Marks::Manager SuccessionDuty::manager_thread() {
  return {[this](const wire::Identity& in_step, uint64_t newest) {
            return on_manager_thread(
                shared_, [this, in_step, newest] { return shared_.manager->succession().next_mark(in_step, newest); });
          },
          [this](const wire::Identity& standby) {
            return on_manager_thread(shared_, [this, standby] { return shared_.manager->succession().voters(standby); });
          }};
}

void SuccessionDuty::tell_log() {
  using State = ChangeStream::State;
  const State state = shared_.stream->state();
  if (state == told_state_) {
    return;
  }
  told_state_ = state;
  if (state == State::kInStep) {
    shared_.watch.tell({Level::kInfo, "standby_in_step", "the standby has every change"});
  } else if (state == State::kUnsure) {
    shared_.watch.tell({Level::kWarning, "standby_lost",
                        "the standby doesn't answer: changes wait until the other servers know that it is behind"});
  } else {
    shared_.watch.tell({Level::kWarning, "standby_behind", "the manager goes on alone: the standby is behind"});
  }
}

void SuccessionDuty::tend() {
  if (shared_.was_replaced() && !told_replaced_) {
    told_replaced_ = true;
    shared_.watch.tell(
        {Level::kWarning, "manager_replaced",
         "this manager was replaced by the one at " + shared_.role->manager() + ", and changes no names any more"});
  }
  if (!shared_.manages()) {
    return;
  }
  static_cast<void>(shared_.stream->tidy());
  tell_log();
  if (telling_ || !marks_.is_due()) {
    return;
  }
  telling_ = true;
  // However it ends; what fails is tried again.
  const std::shared_ptr<void> ends(nullptr, [this](void*) { telling_ = false; });
  shared_.standby_thread.post([this, ends] {
    if (shared_.manages()) {
      static_cast<void>(marks_.tell(shared_.manager->epoch(), address_));
    }
  });
}

}  // namespace stria::server
