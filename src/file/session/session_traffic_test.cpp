// The messages that writing and reading a file takes, counted on simulated ranks, beside a table of
// what they are. Whoever changes what ranks say to each other sees here by how much, and writes the
// new figures down.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>

#include "file/session/session_case_test.hpp"

namespace stria::file::test {
namespace {

using access::Method;

struct Sent {
  int64_t messages = 0;
  int64_t bytes = 0;
  bool operator==(const Sent&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Sent& sent) {
  return out << "{" << sent.messages << ", " << sent.bytes << "}";
}

struct Row {
  int ranks;
  int ranks_per_node;
  Method method;
  bool in_chunks;  ///< through filters, and in two steps with a flush between them
  Sent written;
  Sent read;
};

constexpr Row kRows[] = {
    {2, 2, Method::kTwoPhase, false, {21, 4236}, {22, 13403}},
    {4, 2, Method::kTwoPhase, false, {68, 56726}, {79, 225001}},
    {7, 3, Method::kTwoPhase, false, {141, 93095}, {159, 290641}},
    {12, 12, Method::kTwoPhase, false, {275, 53795}, {308, 176378}},
    {12, 4, Method::kTwoPhase, false, {281, 147426}, {326, 409324}},
    {2, 2, Method::kListIo, false, {9, 3508}, {13, 12193}},
    {4, 2, Method::kListIo, false, {37, 12566}, {47, 41915}},
    {7, 3, Method::kListIo, false, {70, 22890}, {86, 81446}},
    {12, 12, Method::kListIo, false, {119, 46637}, {183, 169633}},
    {12, 4, Method::kListIo, false, {141, 46813}, {183, 169633}},
    {2, 2, Method::kTwoPhase, true, {65, 70628}, {22, 13756}},
    {4, 2, Method::kTwoPhase, true, {233, 272823}, {74, 46906}},
    {7, 3, Method::kTwoPhase, true, {527, 414164}, {146, 91556}},
    {12, 12, Method::kTwoPhase, true, {1061, 272725}, {278, 188732}},
    {12, 4, Method::kTwoPhase, true, {1094, 510835}, {302, 188924}},
    {2, 2, Method::kListIo, true, {47, 69319}, {13, 13622}},
    {4, 2, Method::kListIo, true, {178, 154059}, {47, 46676}},
    {7, 3, Method::kListIo, true, {399, 199489}, {86, 91166}},
    {12, 12, Method::kListIo, true, {818, 267584}, {183, 188278}},
    {12, 4, Method::kListIo, true, {840, 267760}, {183, 188278}},
};

/// Runs `body` on a row's ranks, under a schedule of its own, and returns what all of them sent.
template <typename Body>
Sent sent_by(const Row& row, uint64_t schedule, Body&& body) {
  SimulationOptions options;
  options.ranks = row.ranks;
  options.ranks_per_node = row.ranks_per_node;
  options.seed = schedule;
  options.stack_bytes = 2 << 20;
  const auto report = run_simulated(options, body);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? Sent{report->total().messages_sent, report->total().bytes_sent} : Sent();
}

TEST(SessionTraffic, IsThatOfTheTable) {
  for (const Row& row : kRows) {
    Setting setting;
    setting.ranks = row.ranks;
    setting.ranks_per_node = row.ranks_per_node;
    setting.hints.method = row.method;
    setting.flushes = row.in_chunks ? 1 : 0;
    setting.compressed = row.in_chunks;
    // What a compressor makes depends on its version, and ISA-L's on an address
    // (filter_pipeline.hpp).
    setting.filters = {.shuffle = true, .fletcher32 = true};
    for (uint64_t schedule = 1; schedule <= 3; ++schedule) {
      SCOPED_TRACE(std::to_string(row.ranks) + " ranks, " + std::to_string(row.ranks_per_node) + " of a node, " +
                   access::method_name(row.method) + (row.in_chunks ? ", in chunks" : "") + ", schedule " +
                   std::to_string(schedule));
      storage::MemoryDriver memory;
      const Sent written = sent_by(row, schedule, [&](Comm& comm) {
        const Status status = write_file(setting, comm, borrow(memory));
        EXPECT_TRUE(status.ok()) << status.message();
      });
      EXPECT_EQ(written, row.written);
      EXPECT_EQ(sent_by(row, schedule, [&](Comm& comm) { EXPECT_EQ(compare_file(setting, comm, borrow(memory), {}), ""); }),
                row.read);
    }
  }
}

}  // namespace
}  // namespace stria::file::test
