// A relay between a client and a server that does, once, what a network may do: it cuts the
// connection after so many bytes, flips a bit, or brings what the client sends later, after the
// client has gone. Otherwise it passes everything on, in odd portions. It may keep what it passes
// on.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace stria::server::testing {

class UnrulyProxy {
 public:
  enum class Mischief { kNone, kCut, kFlip, kDelay };

  /// Listens on a port of loopback; connect_to() says where to.
  UnrulyProxy() {
    door_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = loopback(0);
    bind(door_, reinterpret_cast<sockaddr*>(&place), sizeof place);
    listen(door_, 64);
    socklen_t bytes = sizeof place;
    getsockname(door_, reinterpret_cast<sockaddr*>(&place), &bytes);
    port_ = ntohs(place.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  UnrulyProxy(const UnrulyProxy&) = delete;
  UnrulyProxy& operator=(const UnrulyProxy&) = delete;
  ~UnrulyProxy() {
    ending_ = true;
    thread_.join();
    ::close(door_);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void connect_to(const std::string& address) { target_ = std::stoi(address.substr(address.rfind(':') + 1)); }
  /// Plans mischief after `bytes` from the server (or else the client), counted from now over
  /// all connections.
  void plan(Mischief mischief, bool from_server, int64_t bytes) {
    from_server_ = from_server;
    left_ = bytes;
    mischief_ = mischief;
  }
  /// True when what was planned has happened.
  bool done() const { return mischief_ == Mischief::kNone; }
  /// Brings what was delayed, of a client that has gone, and waits for the server.
  void bring_delayed() {
    const std::lock_guard lock(mutex_);
    send(delayed_server_, delayed_.data(), delayed_.size(), MSG_NOSIGNAL);
    std::array<char, 7001> answer{};
    pollfd entry{delayed_server_, POLLIN, 0};
    poll(&entry, 1, 10000);
    recv(delayed_server_, answer.data(), answer.size(), MSG_DONTWAIT);
    ::close(delayed_server_);
  }
  /// It keeps all that it passes on from now on, in both directions.
  void keep_all() { keeps_ = true; }
  std::string kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }
  int64_t bytes(bool from_server) const { return from_server ? from_server_bytes_ : from_client_bytes_; }

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    bool is_delayed = false;
  };

  static sockaddr_in loopback(int port) {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return place;
  }

  void serve() {
    while (!ending_) {
      std::vector<pollfd> entries{{door_, POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        entries.push_back({pair.client, POLLIN, 0});
        entries.push_back({pair.is_delayed ? -1 : pair.server, POLLIN, 0});
      }
      poll(entries.data(), entries.size(), 20);
      for (size_t i = 1; i < entries.size(); ++i) {
        Pair& pair = pairs_[(i - 1) / 2];
        if (entries[i].revents != 0 && pair.client >= 0 && !pass(pair, i % 2 == 0)) {
          close_pair(pair);
        }
      }
      std::erase_if(pairs_, [](const Pair& pair) { return pair.client < 0; });
      if (entries[0].revents != 0) {
        accept_one();
      }
    }
    for (Pair& pair : pairs_) {
      close_pair(pair);
    }
  }

  void accept_one() {
    Pair pair;
    pair.client = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC);
    pair.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = loopback(target_);
    if (connect(pair.server, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0) {
      pairs_.push_back(pair);
    } else {
      close_pair(pair);
    }
  }

  static void close_pair(Pair& pair) {
    ::close(pair.client);
    if (!pair.is_delayed) {
      ::close(pair.server);
    }
    pair.client = -1;
  }

  /// Passes one odd portion on; false when the connection is over.
  bool pass(Pair& pair, bool from_server) {
    std::array<char, 7001> bytes;
    const ssize_t now = recv(from_server ? pair.server : pair.client, bytes.data(), bytes.size(), 0);
    if (now <= 0) {
      return false;
    }
    (from_server ? from_server_bytes_ : from_client_bytes_) += now;
    if (keeps_) {
      const std::lock_guard lock(mutex_);
      kept_.append(bytes.data(), static_cast<size_t>(now));
    }
    if (pair.is_delayed) {
      const std::lock_guard lock(mutex_);
      delayed_.append(bytes.data(), static_cast<size_t>(now));
      return true;
    }
    int64_t passed = now;
    bool goes_on = true;
    if (mischief_ != Mischief::kNone && from_server == from_server_) {
      if (left_ < now) {
        if (mischief_ == Mischief::kFlip) {
          bytes[static_cast<size_t>(left_)] ^= 16;
        } else if (mischief_ == Mischief::kDelay) {
          passed = left_;
          const std::lock_guard lock(mutex_);
          delayed_.assign(bytes.data() + passed, static_cast<size_t>(now - passed));
          delayed_server_ = pair.server;
          pair.is_delayed = true;
        } else {
          passed = left_;
          goes_on = false;
        }
        mischief_ = Mischief::kNone;
      }
      left_ -= now;
    }
    for (int64_t sent = 0; sent < passed;) {
      const ssize_t step =
          send(from_server ? pair.client : pair.server, bytes.data() + sent, static_cast<size_t>(passed - sent), MSG_NOSIGNAL);
      if (step <= 0) {
        return false;
      }
      sent += step;
    }
    return goes_on;
  }

  int door_ = -1;
  int port_ = 0;
  std::atomic<int> target_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<Mischief> mischief_ = Mischief::kNone;
  std::atomic<bool> from_server_ = false;
  std::atomic<int64_t> left_ = 0;
  std::atomic<int64_t> from_server_bytes_ = 0;
  std::atomic<int64_t> from_client_bytes_ = 0;
  std::atomic<bool> keeps_ = false;
  std::mutex mutex_;
  std::string kept_;
  std::string delayed_;
  int delayed_server_ = -1;
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace stria::server::testing
