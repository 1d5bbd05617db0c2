// Describes what a server notices about itself and its clients: it tells the log, counts for the
// metrics, and judges its disk.
// Cost: for a request that goes well two comparisons.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "server/events/event_log.hpp"
#include "server/objects/disk_health.hpp"
#include "stria/status.hpp"
#include "wire/frame.hpp"

namespace stria::server {

/// This is thread-safe.
class Watch {
 public:
  struct Options {
    std::shared_ptr<EventLog> log;  ///< null: nothing is told
    int64_t reserve_bytes = -1;     ///< the reserve that DiskHealth has
    std::chrono::milliseconds slow{10000};
  };
  explicit Watch(const Options& options) : log_(options.log), slow_(options.slow), disk_(options.reserve_bytes) {}

  void tell(const Event& event) const;
  /// Looks at the disk below the directory, and tells when its condition is another one.
  DiskHealth::Judgement judge(const std::string& directory);
  /// Must be called now and then.
  void tidy();

  // What a connection tells; `client` is its address.

  /// A request was answered with an error.
  void failed(wire::Kind kind, const Status& why, const std::string& client);
  /// A client was not let in.
  void turned_away(const Status& why, const std::string& client);
  /// Notes that a connection ended, because what came was none of the protocol, or changed on its
  /// way.
  void broken(const Error& why, const std::string& client) const;
  /// A client was too slow to send or to take, and was cut off.
  void cut_off(const std::string& client) const;
  void answered(wire::Kind kind, std::chrono::nanoseconds time, const std::string& client);

  wire::Condition condition() const { return condition_; }
  int64_t disk_errors() const { return disk_.errors(); }
  int64_t clients_refused() const { return clients_refused_; }
  int64_t slow_requests() const { return slow_requests_; }
  /// Returns the log; null: there is none.
  const EventLog* log() const { return log_.get(); }

 private:
  std::shared_ptr<EventLog> log_;
  std::chrono::milliseconds slow_;
  DiskHealth disk_;
  std::atomic<wire::Condition> condition_ = wire::Condition::kGood;
  std::atomic<int64_t> clients_refused_ = 0;
  std::atomic<int64_t> slow_requests_ = 0;
};

}  // namespace stria::server
