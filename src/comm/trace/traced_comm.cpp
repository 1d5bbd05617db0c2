#include "comm/trace/traced_comm.hpp"

#include <utility>

#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria {

namespace {

using trace::BuiltIn;
using trace::Span;

/// The span of a call that ends when other ranks have done their part. Its time counts as waiting.
class WaitingSpan {
 public:
  explicit WaitingSpan(BuiltIn kind) : span_(trace::kind(kind)) {}
  Span* operator->() { return &span_; }

 private:
  Span span_;
  trace::WaitTimer timer_;
};

/// A message. Its span ends when it is seen to be sent or to have arrived.
class TracedRequest final : public CommRequest {
 public:
  TracedRequest(std::unique_ptr<CommRequest> request, const trace::LooseSpan& span)
      : request_(std::move(request)), span_(span) {}
  bool test() override {
    const bool done = request_->test();
    if (done) {
      span_.finish();
    }
    return done;
  }
  CommRequest& inside() { return *request_; }

 private:
  std::unique_ptr<CommRequest> request_;
  trace::LooseSpan span_;
};

class TracedComm final : public Comm {
 public:
  explicit TracedComm(std::unique_ptr<Comm> comm) : comm_(std::move(comm)) {}

  int rank() const override { return comm_->rank(); }
  int size() const override { return comm_->size(); }
  std::span<const int> node_of_rank() const override { return comm_->node_of_rank(); }
  int node_rank() const override { return comm_->node_rank(); }
  int node_size() const override { return comm_->node_size(); }

  void barrier() override {
    const WaitingSpan span(BuiltIn::kBarrier);
    comm_->barrier();
  }
  void broadcast(std::span<std::byte> data, int root) override {
    WaitingSpan span(BuiltIn::kBroadcast);
    span->set_bytes(static_cast<int64_t>(data.size()));
    span->set_detail(root);
    comm_->broadcast(data, root);
  }
  void all_reduce(std::span<int64_t> values, ReduceOp op) override {
    WaitingSpan span(BuiltIn::kReduce);
    span->set_bytes(static_cast<int64_t>(values.size_bytes()));
    comm_->all_reduce(values, op);
  }
  void exclusive_scan(std::span<int64_t> values) override {
    WaitingSpan span(BuiltIn::kReduce);
    span->set_bytes(static_cast<int64_t>(values.size_bytes()));
    comm_->exclusive_scan(values);
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    WaitingSpan span(BuiltIn::kGather);
    span->set_bytes(static_cast<int64_t>(mine.size()));
    comm_->all_gather(mine, all);
  }
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override {
    WaitingSpan span(BuiltIn::kGather);
    span->set_bytes(static_cast<int64_t>(mine.size()));
    comm_->gather(mine, root, take);
  }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override {
    Span span(trace::kind(BuiltIn::kShareMemory));
    span.set_bytes(wanted.bytes);
    return comm_->allocate_shared(wanted);
  }

  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    return traced(BuiltIn::kSend, data.size(), to, tag, [&] { return comm_->send(data, to, tag); });
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    return traced(BuiltIn::kReceive, data.size(), from, tag, [&] { return comm_->receive(data, from, tag); });
  }
  Messages sparse_exchange(const Messages& outgoing) override {
    WaitingSpan span(BuiltIn::kGather);
    if (span->recorded()) {
      int64_t bytes = 0;
      for (const auto& [to, message] : outgoing) {
        bytes += static_cast<int64_t>(message.size());
      }
      span->set_bytes(bytes);
    }
    return comm_->sparse_exchange(outgoing);
  }
  void wait(CommRequest& request) override {
    const WaitingSpan span(BuiltIn::kMessageWait);
    auto* traced_request = dynamic_cast<TracedRequest*>(&request);
    if (traced_request == nullptr) {
      comm_->wait(request);
      return;
    }
    comm_->wait(traced_request->inside());
    traced_request->test();
  }
  void pause(int attempt) override { comm_->pause(attempt); }
  void look_at_wait(bool begins) override { comm_->look_at_wait(begins); }
  Comm& innermost() override { return comm_->innermost(); }
  void wait_while(std::atomic<uint32_t>& word, uint32_t seen) override {
    const WaitingSpan span(BuiltIn::kMessageWait);
    comm_->wait_while(word, seen);
  }
  void wake(std::atomic<uint32_t>& word) override { comm_->wake(word); }

 private:
  template <typename Begin>
  static std::unique_ptr<CommRequest> traced(BuiltIn kind, size_t bytes, int peer, int tag, Begin begin) {
    if (!trace::is_recorded(trace::layer_of(kind))) {
      return begin();
    }
    trace::LooseSpan span(trace::kind(kind));
    span.set_bytes(static_cast<int64_t>(bytes));
    span.set_detail(peer);
    span.set_offset(tag);
    return std::make_unique<TracedRequest>(begin(), span);
  }

  std::unique_ptr<Comm> comm_;
};

}  // namespace

std::unique_ptr<Comm> make_traced_comm(std::unique_ptr<Comm> comm) {
  return std::make_unique<TracedComm>(std::move(comm));
}

}  // namespace stria
