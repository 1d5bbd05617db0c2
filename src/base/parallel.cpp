#include "base/parallel.hpp"

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/out_of_memory.hpp"

namespace stria {

Status share_work(int threads, size_t count, const std::function<Status(int thread, size_t number)>& work) {
  std::atomic<size_t> next{0};
  std::mutex guard;
  Status outcome;
  const auto run = [&](int thread) {
    for (size_t number = next++; number < count; number = next++) {
      const Status done = or_out_of_memory([&] { return work(thread, number); });
      if (!done.ok()) {
        const std::lock_guard lock(guard);
        outcome.update(done);
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  try {
    others.reserve(static_cast<size_t>(threads));
    for (int thread = 1; thread < threads && static_cast<size_t>(thread) < count; ++thread) {
      others.emplace_back(run, thread);
    }
  } catch (const std::system_error&) {
    // Those that there are suffice.
  } catch (const std::bad_alloc&) {
    // Those threads suffice here too.
  }
  run(0);
  others.clear();  // waits for them
  return outcome;
}

}  // namespace stria
