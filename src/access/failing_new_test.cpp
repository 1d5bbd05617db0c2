#include "access/failing_new_test.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

// Threads that write in the background allocate too.
std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> first_failing{-1};
std::atomic<int64_t> last_failing{-1};

void* allocate(std::size_t bytes) {
  if (counting) {
    const int64_t number = allocations++;
    if (first_failing <= number && number <= last_failing) {
      throw std::bad_alloc();
    }
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
// std::stable_sort calls this for its temporary buffers, and does without one if there is none.
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

void fail_allocation(int64_t number) {
  allocations = 0;
  first_failing = number;
  last_failing = number;
}

void fail_allocations_from(int64_t number) {
  fail_allocation(number);
  last_failing = std::numeric_limits<int64_t>::max();
}

int64_t allocation_count() {
  return allocations;
}

Counting::Counting(bool on) : before_(counting.exchange(on)) {}

Counting::~Counting() {
  counting = before_;
}

}  // namespace stria::access::test
