#include "server/connections/resources/io_threads.hpp"

#include <algorithm>
#include <exception>

#include "base/check.hpp"

namespace stria::server {

IoThreads::IoThreads() {
  const unsigned count = std::clamp(4 * std::thread::hardware_concurrency(), 8u, 32u);
  for (unsigned i = 0; i < count; ++i) {
    loops_.push_back(std::make_unique<Loop>());
  }
}

void IoThreads::start() {
  STRIA_CHECK(!started());
  for (const auto& loop : loops_) {
    loop->thread = std::thread([&io = loop->io] { run(io); });
  }
}

// An exception, above all from lack of memory, ends its connection and not the server.
void IoThreads::run(asio::io_context& io) {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::exception&) {
      continue;
    }
  }
}

void IoThreads::join() {
  for (const auto& loop : loops_) {
    loop->stays.reset();
  }
  for (const auto& loop : loops_) {
    if (loop->thread.joinable()) {
      loop->thread.join();
    }
  }
}

}  // namespace stria::server
