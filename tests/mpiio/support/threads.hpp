// Several threads of a rank that call MPI at once.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace mpiio {

/// Calls body(number) in `count` threads, which begin together, and waits for them.
template <typename Body>
void in_threads(int count, Body&& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (++ready; ready.load() < count;) {
        std::this_thread::yield();
      }
      body(i);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace mpiio
