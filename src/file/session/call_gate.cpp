#include "file/session/call_gate.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "base/check.hpp"

namespace stria::file {

CallGate::Entry CallGate::enter() noexcept {
  if (!one_thread_.enter()) {
    one_thread_.note_refusal();
    return Entry::kOtherThread;
  }
  if (in_report_) {
    one_thread_.leave();
    return Entry::kInReport;
  }
  return Entry::kInside;
}

void CallGate::await_turn() noexcept {
  while (!one_thread_.enter()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void CallGate::leave() noexcept {
  if (ending_ == nullptr || !one_thread_.is_last()) {
    one_thread_.leave();
    return;
  }
  const std::shared_ptr<Session> session = std::move(ending_);  // This object may end with it.
  end_(*session);
  one_thread_.leave();
}

void CallGate::run(const std::function<void(const Progress&)>& report, const Progress& progress) {
  struct Mark {
    explicit Mark(bool& is_in) : in(is_in) { in = true; }
    ~Mark() { in = false; }
    bool& in;
  } const mark(in_report_);
  report(progress);
}

void CallGate::end_after_report(std::shared_ptr<Session> session, void (*end)(Session&) noexcept) noexcept {
  STRIA_ASSERT(is_in_report());
  ending_ = std::move(session);
  end_ = end;
}

}  // namespace stria::file
