// A function with a stack of its own. It runs in turns with the thread that resumes it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <span>

#include "comm/private_memory.hpp"

namespace stria {

/// The C++ runtime's record of a thread's exceptions. It must be switched with the stack, since a
/// fiber may switch inside a catch block.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Only one thread may resume it. When it is destroyed it must have finished, or
/// never have started.
class Fiber {
 public:
  Fiber(std::span<std::byte> stack, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Runs the body until it suspends or ends. Called from outside.
  void resume();
  /// Goes back to the caller of resume(). Called from the body.
  void suspend();
  bool started() const { return started_; }
  bool finished() const { return finished_; }
  /// Returns the exception that left the body, if any.
  std::exception_ptr exception() const { return exception_; }

 private:
  static void enter(unsigned int low, unsigned int high);
  void run();
  void switch_stacks(ucontext_t* from, ucontext_t* to, bool into_fiber);

  std::span<std::byte> stack_;
  std::function<void()> body_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  ExceptionState other_exceptions_;  ///< those of the side that isn't running
  bool started_ = false;
  bool finished_ = false;
  std::exception_ptr exception_;
  // The sanitizers need the stack outside, and both sides' handles.
  const void* outside_stack_ = nullptr;
  size_t outside_stack_bytes_ = 0;
  void* inside_handle_ = nullptr;
  void* outside_handle_ = nullptr;
};

/// Stacks for many fibers in one mapping; only pages that are used take memory.
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
