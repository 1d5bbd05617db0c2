#include "comm/simulated/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/byte_range.hpp"
#include "base/checked.hpp"

#if defined(__has_feature)
#define STRIA_HAS_FEATURE(x) __has_feature(x)
#else
#define STRIA_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || STRIA_HAS_FEATURE(address_sanitizer)
#define STRIA_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || STRIA_HAS_FEATURE(thread_sanitizer)
#define STRIA_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

namespace stria {

namespace {

/// Returns the running thread's record. The runtime doesn't publish its layout, but the ABI fixes
/// it.
ExceptionState& thread_exceptions() {
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

}  // namespace

Fiber::Fiber(std::span<std::byte> stack, std::function<void()> body) : stack_(stack), body_(std::move(body)) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.data();
  inside_.uc_stack.ss_size = stack_.size();
  inside_.uc_link = nullptr;
  const uintptr_t self = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned int>(self),
              static_cast<unsigned int>(static_cast<uint64_t>(self) >> 32));
#ifdef STRIA_TSAN
  inside_handle_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef STRIA_TSAN
  __tsan_destroy_fiber(inside_handle_);
#endif
}

void Fiber::enter(unsigned int low, unsigned int high) {
  const uint64_t self = (static_cast<uint64_t>(high) << 32) | low;
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(self))->run();
}

void Fiber::run() {
#ifdef STRIA_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &outside_stack_, &outside_stack_bytes_);
#endif
  try {
    body_();
  } catch (...) {
    exception_ = std::current_exception();
  }
  body_ = nullptr;
  finished_ = true;
  switch_stacks(&inside_, &outside_, false);
}

/// Switches stacks, with everything that the runtime and the sanitizers tie to a stack.
void Fiber::switch_stacks(ucontext_t* from, ucontext_t* to, [[maybe_unused]] bool into_fiber) {
  std::swap(thread_exceptions(), other_exceptions_);
#ifdef STRIA_ASAN
  void* fake_stack = nullptr;
  const bool leaves_for_good = !into_fiber && finished_;
  __sanitizer_start_switch_fiber(leaves_for_good ? nullptr : &fake_stack, into_fiber ? stack_.data() : outside_stack_,
                                 into_fiber ? stack_.size() : outside_stack_bytes_);
#endif
#ifdef STRIA_TSAN
  if (into_fiber) {
    outside_handle_ = __tsan_get_current_fiber();
  }
  __tsan_switch_to_fiber(into_fiber ? inside_handle_ : outside_handle_, 0);
#endif
  swapcontext(from, to);
#ifdef STRIA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, into_fiber ? nullptr : &outside_stack_,
                                  into_fiber ? nullptr : &outside_stack_bytes_);
#endif
}

void Fiber::resume() {
  started_ = true;
  switch_stacks(&outside_, &inside_, true);
}

void Fiber::suspend() {
  switch_stacks(&inside_, &outside_, false);
}

Result<FiberStacks> FiberStacks::allocate(int count, int64_t stack_bytes, bool guard_pages) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  FiberStacks stacks;
  int64_t each = 0;
  int64_t total = 0;
  if (!checked_add(stack_bytes, 2 * page, &each) || !checked_multiply(each, count, &total)) {
    return Status(ErrorCode::kInvalidArgument, "stacks of " + std::to_string(stack_bytes) + " bytes");
  }
  stacks.stack_bytes_ = static_cast<size_t>(align_up(stack_bytes, page));
  stacks.guard_bytes_ = guard_pages ? static_cast<size_t>(page) : 0;
  const size_t step = stacks.stack_bytes_ + stacks.guard_bytes_;
  STRIA_ASSIGN_OR_RETURN(stacks.memory_, PrivateMemory::allocate(static_cast<int64_t>(step) * count));
  for (int i = 0; guard_pages && i < count; ++i) {
    // Stacks grow downwards, so that the guard lies below each.
    if (mprotect(stacks.memory_.bytes().data() + step * static_cast<size_t>(i), stacks.guard_bytes_, PROT_NONE) != 0) {
      return Status::from_errno(errno, "guard pages of " + std::to_string(count) + " stacks");
    }
  }
  return stacks;
}

std::span<std::byte> FiberStacks::stack(int index) const {
  const size_t step = stack_bytes_ + guard_bytes_;
  return memory_.bytes().subspan(step * static_cast<size_t>(index) + guard_bytes_, stack_bytes_);
}

}  // namespace stria
