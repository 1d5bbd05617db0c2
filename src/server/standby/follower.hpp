// A standby's following of the manager: a copy of the names, and then each change, applied before
// the manager is told that it is there.
//
// Where the connection is lost for a moment, it goes on where it was. Where the manager has given
// it up meanwhile, or was started again, it takes another copy; the one before is kept until then.
// A thread of its own; what is public may be called from any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/manager/succession/change_recorder.hpp"
#include "server/standby/names_copy.hpp"
#include "server/standby/role_calls.hpp"
#include "wire/standby.hpp"

namespace stria::server {

class Follower {
 public:
  struct Options {
    wire::Identity server{};
    /// A link to the manager, wherever it is now.
    std::function<std::unique_ptr<storage::ServerLink>()> connect;
    std::function<void(bool good, const std::string& text)> tell;  ///< hears of what changes
  };
  Follower(NamesCopy& copy, Options options) : copy_(copy), options_(std::move(options)) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() { stop(); }

  void start();
  void stop();
  /// It has a whole copy, and all that the manager has told it since.
  bool follows() const { return follows_; }
  /// Fetches what a manager that was replaced still has, and ends. False when it didn't answer to
  /// the end.
  bool finish();

 private:
  void run();
  Status ask_once();
  Status take_piece_of_copy(const wire::Followed& told);
  Status take_changes(wire::Followed& told);
  Result<wire::Followed> ask(const wire::Follow& what);
  void begin_anew();
  /// Any thread may end it.
  void join();

  NamesCopy& copy_;
  Options options_;
  std::unique_ptr<storage::ServerLink> link_;
  uint64_t number_ = 0;
  bool whole_ = false;
  int64_t offset_ = 0;
  uint64_t applied_ = 0;
  Change partial_;
  std::atomic<bool> follows_ = false;
  std::atomic<bool> finishing_ = false;
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace stria::server
