// Holds what the tests of sessions that run out of memory on one rank share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "access/failing_new_test.hpp"
#include "access/random_case_test.hpp"
#include "file/session/session_case_test.hpp"

namespace stria::file::test {

inline Setting lists_of_each_node() {
  Setting setting;
  setting.ranks = 3;
  setting.hints.method = access::Method::kListIo;
  return setting;
}

inline Setting two_phase_on_two_nodes() {
  Setting setting;
  setting.ranks = 3;
  setting.ranks_per_node = 2;
  setting.hints.method = access::Method::kTwoPhase;
  return setting;
}

struct Outcome {
  std::vector<Status> statuses;
  int64_t allocations = 0;
};

/// Runs `body`, which counts its allocations, on all ranks; allocation number `failing` fails,
/// none if negative.
template <typename Body>
Outcome run_once(const Setting& setting, int64_t failing, Body&& body) {
  Outcome outcome;
  outcome.statuses.resize(static_cast<size_t>(setting.ranks));
  access::test::fail_allocation(failing);
  on_ranks(setting, [&](Comm& inner) {
    access::test::SureComm comm(inner);
    outcome.statuses[static_cast<size_t>(comm.rank())] = body(comm);
  });
  outcome.allocations = access::test::allocation_count();
  return outcome;
}

/// Returns how far apart those of `all` moments are that a test tries, at most `most`.
inline int64_t step_between(int64_t all, int64_t most) {
  const int64_t tried = access::test::case_count(static_cast<int>(std::min(all, most)));
  return std::max<int64_t>(all / std::max<int64_t>(tried, 1), 1);
}

/// Lets so many allocations of `once`, which ends with `code` by itself, fail in turn. Every rank
/// must end with the same kind of outcome; `check` looks at each.
template <typename Once, typename Check>
void fail_at_moments(int64_t moments, ErrorCode code, Once&& once, Check&& check) {
  const Outcome whole = once(-1);
  ASSERT_EQ(whole.statuses[0].code(), code) << whole.statuses[0].message();
  const int64_t step = step_between(whole.allocations, moments);
  for (int64_t failing = 0; failing < whole.allocations; failing += step) {
    SCOPED_TRACE("allocation " + std::to_string(failing) + " of " + std::to_string(whole.allocations));
    const Outcome outcome = once(failing);
    ASSERT_FALSE(testing::Test::HasFailure());  // a deadlock
    for (const Status& status : outcome.statuses) {
      ASSERT_EQ(status.code(), outcome.statuses[0].code()) << status.message();
    }
    check(outcome);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

/// Lets allocations of `once` fail in turn. Every rank must end with the same outcome, in the same
/// words; `check_failure` looks at each failure.
template <typename Once, typename Check>
void fail_at_every_moment(Once&& once, Check&& check_failure) {
  int64_t ends = 0;
  int64_t failures = 0;
  fail_at_moments(60, ErrorCode::kOk, once, [&](const Outcome& outcome) {
    ++ends;
    for (const Status& status : outcome.statuses) {
      ASSERT_EQ(status.message(), outcome.statuses[0].message());
    }
    if (!outcome.statuses[0].ok()) {
      check_failure(outcome.statuses[0]);
      ++failures;
    }
  });
  EXPECT_GT(failures, ends / 2);
}

/// The same for what fails with `code` by itself, and must always fail.
template <typename Once>
void fail_while_failing(int64_t moments, ErrorCode code, Once&& once) {
  fail_at_moments(moments, code, once, [](const Outcome& outcome) { ASSERT_FALSE(outcome.statuses[0].ok()); });
}

}  // namespace stria::file::test
