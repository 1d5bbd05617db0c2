// A function with a stack of its own, run in turns with the thread that resumes it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <span>

#include "comm/private_memory.hpp"

namespace stria {

/// The C++ runtime's per-thread record of exceptions, which must change hands with the stack: a fiber may switch inside a catch
/// block.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Resumed by one thread only. Must have finished, or never have started, when it goes.
class Fiber {
 public:
  Fiber(std::span<std::byte> stack, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Runs the body until it suspends or ends. Called from outside.
  void resume();
  /// Goes back to whoever resumed. Called from the body.
  void suspend();
  bool started() const { return started_; }
  bool finished() const { return finished_; }
  /// What the body let out, if anything.
  std::exception_ptr exception() const { return exception_; }

 private:
  static void enter(unsigned int low, unsigned int high);
  void run();
  void switch_stacks(ucontext_t* from, ucontext_t* to, bool into_fiber);

  std::span<std::byte> stack_;
  std::function<void()> body_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  ExceptionState other_exceptions_;  ///< of the side that isn't running
  bool started_ = false;
  bool finished_ = false;
  std::exception_ptr exception_;
  // For the sanitizers: the stack outside, and both sides' handles.
  const void* outside_stack_ = nullptr;
  size_t outside_stack_bytes_ = 0;
  void* inside_handle_ = nullptr;
  void* outside_handle_ = nullptr;
};

/// Stacks for many fibers in one mapping, touched as they are used.
class FiberStacks {
 public:
  /// kResourceExhausted when the system has no room, or no room for the guard pages.
  static Result<FiberStacks> allocate(int count, int64_t stack_bytes, bool guard_pages);
  std::span<std::byte> stack(int index) const;

 private:
  PrivateMemory memory_;
  size_t stack_bytes_ = 0;
  size_t guard_bytes_ = 0;
};

}  // namespace stria
