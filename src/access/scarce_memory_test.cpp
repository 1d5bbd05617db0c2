// Memory that runs out on one rank in the middle of a collective operation: every rank ends, with the same outcome.
//
// The program's operator new fails once, at a chosen allocation of the engine. Allocations of the simulated ranks themselves
// and of the tests don't count.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "access/random_case_test.hpp"
#include "access/two_phase.hpp"
#include "storage/memory/memory_driver.hpp"

namespace {

bool counting = false;
int64_t allocations = 0;
int64_t failing_allocation = -1;

void* allocate(std::size_t bytes) {
  if (counting && allocations++ == failing_allocation) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
// The temporary buffers of std::stable_sort; nobody minds when there is none.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace stria::access::test {
namespace {

constexpr const char* kPath = "data";

/// Counts allocations, or not, while it lives.
class Counting {
 public:
  explicit Counting(bool on) : before_(std::exchange(counting, on)) {}
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() { counting = before_; }

 private:
  bool before_;
};

template <typename Call>
auto quietly(Call&& call) {
  Counting off(false);
  return call();
}

/// A communicator whose own allocations never fail.
class SureComm : public Comm {
 public:
  explicit SureComm(Comm& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::span<const int> node_of_rank() const override { return inner_.node_of_rank(); }
  int node_rank() const override { return inner_.node_rank(); }
  int node_size() const override { return inner_.node_size(); }
  void barrier() override {
    quietly([&] { inner_.barrier(); });
  }
  void broadcast(std::span<std::byte> data, int root) override {
    quietly([&] { inner_.broadcast(data, root); });
  }
  void all_reduce(std::span<int64_t> values, ReduceOp op) override {
    quietly([&] { inner_.all_reduce(values, op); });
  }
  void all_reduce(std::span<double> values, ReduceOp op) override {
    quietly([&] { inner_.all_reduce(values, op); });
  }
  void exclusive_scan(std::span<int64_t> values) override {
    quietly([&] { inner_.exclusive_scan(values); });
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    quietly([&] { inner_.all_gather(mine, all); });
  }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine, int root) override {
    return quietly([&] { return inner_.gather(mine, root); });
  }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(int64_t bytes) override {
    return quietly([&] { return inner_.allocate_shared(bytes); });
  }
  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    return quietly([&] { return inner_.send(data, to, tag); });
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    return quietly([&] { return inner_.receive(data, from, tag); });
  }
  void wait(CommRequest& request) override {
    quietly([&] { inner_.wait(request); });
  }
  void pause(int attempt) override {
    quietly([&] { inner_.pause(attempt); });
  }
  Messages sparse_exchange(const Messages& outgoing) override {
    return quietly([&] { return inner_.sparse_exchange(outgoing); });
  }

 private:
  Comm& inner_;
};

struct Outcome {
  Status run;
  std::vector<Status> agreed;
  std::vector<std::vector<Bytes>> received;
  int64_t allocations = 0;
};

/// Writes, or reads, a case; the engine's allocation number `failing` fails, none if negative.
Outcome run_case(const Case& c, bool write, storage::MemoryDriver& memory, int64_t failing) {
  Outcome outcome;
  outcome.agreed.resize(c.ranks.size());
  outcome.received.resize(c.ranks.size());
  set_content(memory, kPath, write ? c.before : c.after);
  allocations = 0;
  failing_allocation = failing;
  auto report = run_simulated(c.simulation, [&](Comm& inner) {
    SureComm comm(inner);
    auto rank = static_cast<size_t>(comm.rank());
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    StrictFile cached(memory.open(kPath, open).value(), false);
    PhaseTimes times;
    Context context{comm, &cached, nullptr, c.hints, times};
    CaseSource source(c.ranks[rank]);
    CaseSink sink(c.ranks[rank]);
    Status own;
    {
      Counting on(true);
      own = write ? write_two_phase(context, c.plan, c.ranks[rank].lanes, source)
                  : read_two_phase(context, c.plan, c.ranks[rank].lanes, sink).status;
    }
    outcome.agreed[rank] = comm.agree(own);
    outcome.received[rank] = sink.received();
  });
  outcome.run = report.status();
  outcome.allocations = allocations;
  return outcome;
}

void check_all_know(const Outcome& outcome) {
  ASSERT_TRUE(outcome.run.ok()) << outcome.run.message();  // a deadlock, else
  for (const Status& status : outcome.agreed) {
    ASSERT_EQ(status.code(), ErrorCode::kResourceExhausted) << status.message();
    ASSERT_EQ(status.message(), outcome.agreed[0].message());
  }
}

void check_every_moment(bool write, uint64_t first_seed, int cases) {
  int failures = 0;
  for (int i = 0; i < cases; ++i) {
    Case c = make_case(first_seed + static_cast<uint64_t>(i));
    storage::MemoryDriver memory;
    Outcome whole = run_case(c, write, memory, -1);
    ASSERT_TRUE(whole.run.ok() && whole.agreed[0].ok()) << whole.run.message() << whole.agreed[0].message();
    const int64_t step = std::max<int64_t>(whole.allocations / 12, 1);
    for (int64_t failing = i % step; failing < whole.allocations; failing += step) {
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed) + ", allocation " + std::to_string(failing) + " of " +
                   std::to_string(whole.allocations) + ", " + std::to_string(c.ranks.size()) + " ranks");
      ASSERT_NO_FATAL_FAILURE(check_all_know(run_case(c, write, memory, failing)));
      ++failures;
    }
  }
  EXPECT_GT(failures, 5 * cases);
}

TEST(ScarceMemory, EndsAWriteEverywhere) {
  check_every_moment(true, first_seed() + 5'000'000, case_count(25));
}

TEST(ScarceMemory, EndsAReadEverywhere) {
  check_every_moment(false, first_seed() + 6'000'000, case_count(25));
}

}  // namespace
}  // namespace stria::access::test
