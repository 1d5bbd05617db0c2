// A server of a store: an I/O daemon, and the store's manager unless it joins another's.
//
// Threads: some for the connections, which also copy and read what is cached; one for the names;
// some for what waits for a device; one that tells the manager every second that the server lives.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "server/connections/shared_state.hpp"
#include "stria/status.hpp"
#include "wire/trust/key.hpp"
#include "wire/trust/munge.hpp"

namespace stria::server {

struct ServerOptions {
  std::string directory;
  std::string listen = "127.0.0.1:0";  ///< port 0: one that is free
  /// The manager's address, or a list with its standby's; empty: this server is the manager.
  std::string join;
  /// It joins, keeps every change of the names as well, and can become the manager.
  bool standby = false;
  /// Asked while it waits for the manager: true ends that, with kAborted. Empty: it waits on.
  std::function<bool()> gives_up;
  /// The manager's: how long clients wait for a standby that doesn't answer, before it goes on
  /// alone.
  std::chrono::milliseconds standby_patience{5000};
  std::string metrics;  ///< where Prometheus finds the figures; empty: nowhere
  /// The address that clients are told; empty: the one listened on.
  std::string advertise;
  std::shared_ptr<const wire::Key> key;
  /// Clients that claim nothing by a key prove by MUNGE who they are. Where this and the key are
  /// null clients need no proof, and the server listens on loopback only.
  std::shared_ptr<const wire::Munge> munge;
  /// Encrypts what goes through TCP; clients that don't are refused. Needs a key or MUNGE.
  bool encrypts = false;
  Bounds bounds;
  Patience patience;
  /// What is told of events, when a disk is nearly full, and what a slow request is.
  Watch::Options watch;
  /// The manager's: how long rights last that were taken away.
  std::chrono::milliseconds ticket_life{300000};
};

class Server {
 public:
  /// Returns when clients may connect; for a server that joins, when the manager knows it. It waits
  /// for one that doesn't answer, unless it is a standby that could take its place.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Ends each connection after its present request. What was written is then on its
  /// way to the disk.
  ~Server();

  /// Returns where clients reach it: "host:port" or "unix:/path".
  const std::string& address() const;
  /// Returns where it really listens, whatever it advertises.
  const std::string& listens_on() const;
  /// Returns where the figures are, as "host:port"; empty: nowhere.
  const std::string& metrics_address() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stria::server
