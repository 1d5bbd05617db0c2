// A store of several servers within the test program, in a directory that is removed with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/server.hpp"

namespace stria::server::testing {

/// Returns where stores of tests go: in memory, if the machine has a place for that.
inline std::string scratch_directory() {
  return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : ::testing::TempDir();
}

/// Makes a new directory; empty where there can be none.
inline std::string make_directory(const std::string& parent) {
  std::string pattern = parent + "/stria-server-XXXXXX";
  return mkdtemp(pattern.data()) == nullptr ? "" : pattern;
}

class Cluster {
 public:
  using Change = std::function<void(ServerOptions&)>;

  explicit Cluster(int count) : Cluster(count, Change()) {}
  Cluster(int count, std::same_as<bool> auto over_unix) : Cluster(count, Change(), over_unix) {}
  /// Servers with options of their own.
  Cluster(int count, Change change, bool over_unix = false) : over_unix_(over_unix), change_(std::move(change)) {
    directory_ = make_directory(scratch_directory());
    for (int i = 0; i < count; ++i) {
      servers_.emplace_back();
      addresses_.push_back(over_unix ? "unix:" + directory_ + "/" + std::to_string(i) + ".socket" : "127.0.0.1:0");
      start(i);
    }
  }
  /// The servers speak over TCP, in a directory that stays.
  Cluster(int count, const std::string& directory) : over_unix_(false), keeps_(true), directory_(directory) {
    for (int i = 0; i < count; ++i) {
      servers_.emplace_back();
      addresses_.emplace_back("127.0.0.1:0");
      start(i);
    }
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() {
    while (!servers_.empty()) {
      servers_.pop_back();
    }
    if (!keeps_) {
      std::filesystem::remove_all(directory_);
    }
  }

  /// Starts the server again, at its old address.
  void start(int index) {
    const auto at = static_cast<size_t>(index);
    ServerOptions options;
    options.directory = directory(index);
    options.listen = addresses_[at];
    options.join = index == 0 ? "" : addresses_[0];
    if (change_) {
      change_(options);
    }
    auto server = Server::start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    servers_[at] = std::move(*server);
    addresses_[at] = servers_[at]->address();
  }
  void stop(int index) { servers_[static_cast<size_t>(index)].reset(); }

  const std::string& address(int index = 0) const { return addresses_[static_cast<size_t>(index)]; }
  std::string directory(int index) const { return directory_ + "/" + std::to_string(index); }
  std::string data(int index) const { return directory(index) + "/data"; }
  /// Exchanges where these start next.
  void exchange_addresses(int one, int other) {
    std::swap(addresses_[static_cast<size_t>(one)], addresses_[static_cast<size_t>(other)]);
  }
  /// Returns the store's root as a path; a Unix socket's ends with a colon.
  std::string url() const { return "stria://" + addresses_[0] + (over_unix_ ? ":" : ""); }

 private:
  bool over_unix_;
  bool keeps_ = false;
  Change change_;
  std::string directory_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace stria::server::testing
