// The time in which a rank waits for another is counted, and no other time, for the file that its
// call is about.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <memory>
#include <thread>

#include "comm/mpi/mpi_comm.hpp"
#include "comm/node_locks.hpp"
#include "comm/node_turn.hpp"
#include "comm/self/self_comm.hpp"
#include "comm/trace/traced_comm.hpp"
#include "trace/record/levels.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria {
namespace {

constexpr auto kLate = std::chrono::milliseconds(100);
constexpr int64_t kTolerance = 1'000'000;  // ns
constexpr int kTag = 7;

int64_t waited_ns(uint16_t file) {
  return trace::Recorder::instance().counters(file).values()[static_cast<size_t>(trace::Counter::kWaitNs)];
}

/// Says how long a stretch took, and how much of it was counted as waiting.
struct Stretch {
  int64_t took_ns = 0;
  int64_t waited_ns = 0;
};

template <typename Call>
Stretch measure(uint16_t file, Call call) {
  const trace::FileScope scope(file);
  const int64_t begin = trace::monotonic_ns();
  call();
  return {trace::monotonic_ns() - begin, waited_ns(file)};
}

/// Almost all of the stretch is waiting, however late the others are.
void expect_all_waiting(const char* name, const Stretch& stretch) {
  EXPECT_LE(stretch.waited_ns, stretch.took_ns + kTolerance) << name;
  EXPECT_GE(stretch.waited_ns, stretch.took_ns - stretch.took_ns / 10 - kTolerance) << name;
}

/// Makes `call(comm)` on every rank. The last rank comes late; its own delay isn't counted there.
template <typename Call>
Stretch call_late(const char* name, Call call) {
  auto made = make_mpi_comm(MPI_COMM_WORLD);
  if (!made.ok()) {
    ADD_FAILURE() << made.status().message();
    return {};
  }
  const std::unique_ptr<Comm> comm = make_traced_comm(std::move(*made));
  const uint16_t file = trace::Recorder::instance().file(name);
  comm->barrier();  // belongs to no file
  EXPECT_EQ(waited_ns(file), 0);
  if (comm->rank() == comm->size() - 1) {
    std::this_thread::sleep_for(kLate);
  }
  return measure(file, [&] { call(*comm); });
}

TEST(WaitCounter, CountsCollectiveOperations) {
  trace::apply_level(trace::Level::kCounters);
  expect_all_waiting("barrier", call_late("barrier", [](Comm& comm) { comm.barrier(); }));
  expect_all_waiting("reduce", call_late("reduce", [](Comm& comm) {
                       int64_t one = 1;
                       comm.all_reduce(std::span(&one, 1), ReduceOp::kSum);
                       EXPECT_EQ(one, comm.size());
                     }));
  // A wait inside a wait counts once.
  expect_all_waiting("nested", call_late("nested", [](Comm& comm) {
                       const trace::WaitTimer around;
                       comm.barrier();
                     }));
  expect_all_waiting("agree", call_late("agree", [](Comm& comm) { EXPECT_TRUE(comm.agree(Status()).ok()); }));
}

TEST(WaitCounter, CountsMessages) {
  trace::apply_level(trace::Level::kCounters);
  const Stretch stretch = call_late("message", [](Comm& comm) {
    int64_t value = comm.rank();
    if (comm.rank() == comm.size() - 1) {
      for (int to = 0; to + 1 < comm.size(); ++to) {
        auto request = comm.send(std::as_bytes(std::span(&value, 1)), to, kTag);
        comm.wait(*request);
      }
      return;
    }
    auto request = comm.receive(std::as_writable_bytes(std::span(&value, 1)), comm.size() - 1, kTag);
    comm.wait(*request);
    EXPECT_EQ(value, comm.size() - 1);
  });
  expect_all_waiting("message", stretch);
}

TEST(WaitCounter, CountsNothingWhenOff) {
  trace::apply_level(trace::Level::kOff);
  EXPECT_EQ(call_late("off", [](Comm& comm) { comm.barrier(); }).waited_ns, 0);
  trace::apply_level(trace::Level::kCounters);
}

/// A thread waits for what this one holds; this one gives it back after a while.
template <typename Held, typename Take>
Stretch take_in_a_thread(const char* name, Held held, Take take) {
  const uint16_t file = trace::Recorder::instance().file(name);
  Stretch stretch;
  std::thread other([&] { stretch = measure(file, take); });
  std::this_thread::sleep_for(kLate);
  EXPECT_EQ(waited_ns(file), 0) << name;  // the wait is not over yet
  held.reset();
  other.join();
  return stretch;
}

TEST(WaitCounter, CountsTurnsAndLocks) {
  trace::apply_level(trace::Level::kCounters);
  const std::unique_ptr<Comm> comm = make_self_comm();
  const std::unique_ptr<NodeTurn> turn = NodeTurn::create(*comm).value();
  auto held = [&turn] { return std::make_unique<NodeTurn::Guard>(turn.get()); };
  expect_all_waiting("turn", take_in_a_thread("turn", held(), [&] { const NodeTurn::Guard guard(turn.get()); }));
  const std::unique_ptr<NodeLocks> locks = NodeLocks::create(*comm).value();
  expect_all_waiting("lock", take_in_a_thread("lock", std::make_unique<NodeLocks::Guard>(locks->lock({0, 100})), [&] {
                       const auto guard = locks->enter_plain({10, 20});
                     }));
}

}  // namespace
}  // namespace stria
