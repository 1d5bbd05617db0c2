// Memory that runs out at a chosen allocation, for tests.
//
// This replaces operator new in programs that link it. Allocations of the simulated ranks
// themselves and of the tests don't count.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/comm.hpp"

namespace stria::access::test {

/// The allocation of that number from now on, counted from 0, fails once; none if negative.
void fail_allocation(int64_t number);
/// The same, and all that follow it fail too.
void fail_allocations_from(int64_t number);
/// Returns how many allocations were counted since.
int64_t allocation_count();

/// Counts allocations, or not, while it lives.
class Counting {
 public:
  explicit Counting(bool on);
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting();

 private:
  bool before_;
};

template <typename Call>
auto quietly(Call&& call) {
  Counting off(false);
  return call();
}

/// A message whose own allocations never fail, and neither do those of ranks that run
/// while it is tested.
class SureRequest : public CommRequest {
 public:
  explicit SureRequest(std::unique_ptr<CommRequest> inner) : inner_(std::move(inner)) {}
  bool test() override {
    return quietly([&] { return inner_->test(); });
  }
  CommRequest& inner() { return *inner_; }

 private:
  std::unique_ptr<CommRequest> inner_;
};

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
  void exclusive_scan(std::span<int64_t> values) override {
    quietly([&] { inner_.exclusive_scan(values); });
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    quietly([&] { inner_.all_gather(mine, all); });
  }
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override {
    const PieceTaker counted = [&take](int rank, std::span<const std::byte> piece) {
      Counting on(true);  // the caller's allocations count
      take(rank, piece);
    };
    quietly([&] { inner_.gather(mine, root, counted); });
  }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override {
    return quietly([&] { return inner_.allocate_shared(wanted); });
  }
  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    return quietly([&] { return std::make_unique<SureRequest>(inner_.send(data, to, tag)); });
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    return quietly([&] { return std::make_unique<SureRequest>(inner_.receive(data, from, tag)); });
  }
  void wait(CommRequest& request) override {
    quietly([&] { inner_.wait(static_cast<SureRequest&>(request).inner()); });
  }
  void pause(int attempt) override {
    quietly([&] { inner_.pause(attempt); });
  }
  Comm& innermost() override { return inner_.innermost(); }
  Messages sparse_exchange(const Messages& outgoing) override {
    return quietly([&] { return inner_.sparse_exchange(outgoing); });
  }

 private:
  Comm& inner_;
};

}  // namespace stria::access::test
