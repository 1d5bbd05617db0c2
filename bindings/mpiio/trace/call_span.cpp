#include "mpiio/trace/call_span.hpp"

#include <unordered_map>

#include "trace/record/recorder.hpp"

namespace stria::mpiio {

namespace {

constinit thread_local CallSpan* innermost_call __attribute__((tls_model("initial-exec"))) = nullptr;

struct CallKinds {
  trace::Kind by_program, by_library;
};

// Looks it up by the address of the name: there is one for each call.
trace::Kind kind_of(const char* name) {
  if (!trace::is_recorded(trace::Layer::kApp)) {
    return {0, trace::Layer::kApp};
  }
  static thread_local std::unordered_map<const char*, CallKinds> known;
  auto found = known.find(name);
  if (found == known.end()) {
    trace::Recorder& recorder = trace::Recorder::instance();
    const CallKinds kinds{recorder.define_kind(name, trace::Layer::kApp), recorder.define_kind(name, trace::Layer::kLibrary)};
    found = known.emplace(name, kinds).first;
  }
  return trace::ring().open_span == 0 ? found->second.by_program : found->second.by_library;
}

}  // namespace

CallSpan::CallSpan(const char* name, uint16_t file) : span_(kind_of(name), file), outer_(innermost_call) {
  innermost_call = this;
}

CallSpan::~CallSpan() {
  innermost_call = outer_;
}

CallSpan* CallSpan::innermost() {
  return innermost_call != nullptr && innermost_call->span_->recorded() ? innermost_call : nullptr;
}

void CallSpan::describe(int64_t bytes, int64_t offset) {
  span_->set_bytes(bytes);
  span_->set_offset(offset);
}

void describe_transfer(trace::FileCounters& counters, bool writes, int64_t bytes, int64_t offset) {
  if (trace::is_counting()) {
    counters.call(writes ? trace::Direction::kWrite : trace::Direction::kRead, bytes);
  }
  if (CallSpan* call = CallSpan::innermost()) {
    call->describe(bytes, offset);
  }
}

}  // namespace stria::mpiio
