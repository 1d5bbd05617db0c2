// What all connections of a server share.
#pragma once

#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/connections/buffers.hpp"
#include "server/connections/range_locks.hpp"
#include "server/manager/manager.hpp"
#include "server/objects/objects.hpp"
#include "wire/key.hpp"

namespace stria::server {

class Connection;

/// How long clients may let a server wait.
struct Patience {
  std::chrono::milliseconds greeting{10000};
  std::chrono::milliseconds message{30000};  ///< for all of a message, or of 256 KiB of data
};

struct SharedState {
  explicit SharedState(size_t buffer_count) : buffers(buffer_count) {}

  wire::Identity identity{};
  std::shared_ptr<const wire::Key> key;  ///< null: everybody who reaches the server may speak
  std::unique_ptr<Manager> manager;      ///< null: this server has no such role
  std::unique_ptr<Objects> objects;
  RangeLocks locks;
  Patience patience;
  Buffers buffers;
  asio::thread_pool manager_thread{1};
  asio::thread_pool disk_threads{4};  ///< for what waits for a device: sync, removal
  std::atomic<bool> stopping = false;
  std::atomic<bool> resting = false;  ///< objects are being looked through

  std::mutex sessions_mutex;
  std::map<wire::Identity, std::shared_ptr<Connection>> sessions;  ///< those greeted
};

}  // namespace stria::server
