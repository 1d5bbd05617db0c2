#include "file/session/accounts.hpp"

#include <fmt/format.h>

#include "access/plan/facts.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

Accounts::Accounts(const std::string& path)
    : trace_id_(trace::Recorder::instance().file(path)), counters_(trace::Recorder::instance().counters(trace_id_)) {}

void Accounts::count_transfer(bool put, int64_t bytes) {
  counters_.call(put ? trace::Direction::kWrite : trace::Direction::kRead, bytes);
}

void Accounts::note_time() {
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  counters_.add_phases(report_.phases, counted_phases_);
  counted_phases_ = report_.phases;
}

void Accounts::note_method(const access::Plan& plan) {
  report_.method = access::method_name(plan.method());
  report_.reason = plan.reason;
}

void Accounts::note_choice(access::Method method, const std::string& reason) {
  report_.method = access::method_name(method);
  report_.reason += "; " + reason;
}

void Accounts::note_choice(const access::Plan& plan, const std::string& choice, const Environment& environment) {
  if (choice.empty()) {
    return;
  }
  report_.reason += "; " + choice;
  if (environment.comm->rank() == 0) {
    access::state_method(trace_id_, plan.method(), report_.reason, plan.aggregators());
  }
}

void Accounts::count_move(const access::Plan& plan, const Environment& environment) {
  const int rank = environment.comm->rank();
  counters_.add(trace::Counter::kCommits);
  access::count_transfer(counters_, plan.method(), plan.aggregators(), rank);
  if (rank != 0 || !trace::is_counting()) {
    return;  // the same is true on every rank
  }
  access::state_method(trace_id_, plan.method(), report_.reason, plan.aggregators());
  access::state_hints(trace_id_, environment.hints);
  if (!environment.hint_warnings.empty()) {
    trace::Recorder::instance().set_fact(trace_id_, "hint warnings",
                                         fmt::format("{}", fmt::join(environment.hint_warnings, "; ")));
  }
}

}  // namespace stria::file
