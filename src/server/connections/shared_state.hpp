// Holds what all connections of a server share.
#pragma once

#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/check.hpp"
#include "server/connections/counters.hpp"
#include "server/connections/resources/buffers.hpp"
#include "server/connections/resources/range_locks.hpp"
#include "server/connections/resources/user_counts.hpp"
#include "server/connections/tickets.hpp"
#include "server/connections/watch.hpp"
#include "server/manager/manager.hpp"
#include "server/objects/growth.hpp"
#include "server/objects/moving_parts.hpp"
#include "server/objects/objects.hpp"
#include "server/objects/role_record.hpp"
#include "wire/trust/key.hpp"
#include "wire/trust/munge.hpp"

namespace stria::server {

struct Client;

/// Says how long clients may keep a server waiting.
struct Patience {
  std::chrono::milliseconds greeting{10000};
  std::chrono::milliseconds message{30000};  ///< for all of a message, or of 256 KiB of data
};

/// Says how much all clients together may make a server hold.
struct Bounds {
  size_t connections = 4096;
  /// Returns one user's: some are left for the others.
  size_t connections_of_user() const { return connections - connections / 8; }
  size_t buffers = 256;                            ///< buffers of 256 KiB: data on their way
  int64_t message_bytes = int64_t{64} << 20;       ///< the bytes of requests, and of long replies
  int64_t description_bytes = int64_t{128} << 20;  ///< the bytes of datatypes, taken apart
};

/// The manager's place in its process: it may come later, when a standby is promoted, and stays.
class ManagerSeat {
 public:
  /// Tells whether it has come. Another one elsewhere may have replaced it since.
  bool is_here() const { return now_ != nullptr; }
  /// \pre is_here()
  Manager* operator->() const {
    STRIA_ASSERT(is_here());
    return now_;
  }
  /// \pre none has come
  void take(std::unique_ptr<Manager> manager) {
    STRIA_CHECK(!is_here() && manager != nullptr);
    owner_ = std::move(manager);
    now_ = owner_.get();
  }

 private:
  std::unique_ptr<Manager> owner_;
  std::atomic<Manager*> now_ = nullptr;
};

struct SharedState {
  explicit SharedState(const Bounds& given, const Watch::Options& watched = {},
                       std::chrono::milliseconds standby_patience = std::chrono::seconds(5))
      : bounds(given),
        watch(watched),
        stream(std::make_shared<ChangeStream>(standby_patience)),
        messages(given.message_bytes),
        descriptions(given.description_bytes),
        buffers(given.buffers) {}

  wire::Identity identity{};
  uint16_t newest_version = wire::kVersion;  ///< the newest of the protocol that it speaks
  std::shared_ptr<const wire::Key> key;      ///< null: there is none
  std::shared_ptr<const wire::Munge> munge;  ///< null: clients can't prove by MUNGE who they are
  bool encrypts = false;                     ///< all that doesn't stay on this machine
  ManagerSeat manager;                       ///< not here: this server has no such role
  std::unique_ptr<RoleRecord> role;          ///< who is the store's manager
  std::unique_ptr<Objects> objects;
  ObjectPaths paths;  ///< the paths of the objects
  RangeLocks locks;
  MovingParts moving;
  Growth growth;
  Tickets tickets;
  UserCounts users;  ///< those that are not super
  const Bounds bounds;
  Counters counters;
  Watch watch;
  const std::shared_ptr<ChangeStream> stream;  ///< the stream of the manager's changes
  /// Makes this server the manager; null: it is no standby. Waits for others.
  std::function<Result<wire::Promoted>(const wire::Promote& request)> promote;
  std::function<bool()> in_step;  ///< the standby's: it has all that the manager has told it
  /// Another has taken over from the manager here.
  bool was_replaced() const { return manager.is_here() && role->epoch() > manager->epoch(); }
  bool manages() const { return manager.is_here() && !was_replaced(); }
  Patience patience;
  Budget messages;
  Budget descriptions;
  Buffers buffers;
  OneAtATime manager_thread;  ///< for the manager's requests
  Workers disk_threads{4};    ///< for what waits for a device: sync, removal
  Workers standby_thread{1};  ///< for what asks other servers who is the manager
  Workers munge_threads{2};   ///< for what waits for munged
  std::atomic<bool> stopping = false;
  std::atomic<bool> resting = false;  ///< the objects are being checked

  std::mutex sessions_mutex;
  std::map<wire::Identity, std::shared_ptr<Client>> sessions;  ///< those greeted
};

}  // namespace stria::server
