// A store with a standby manager in tests: questions to its servers, and one whose servers are
// processes that can be killed.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "server/cluster_test.hpp"
#include "server/server_processes_test.hpp"
#include "storage/striped/server_link.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/standby.hpp"
#include "wire/upkeep.hpp"

namespace stria::server::testing {

inline Result<std::vector<std::byte>> ask(const std::string& address, wire::Kind kind, std::vector<std::byte> body = {}) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(30);
  storage::ServerLink link(wire::Address::parse(address).value(), nullptr);
  STRIA_RETURN_IF_ERROR(link.connect(deadline));
  return link.ask(kind, body, deadline);
}

/// -1: the server doesn't answer.
inline int64_t figure(const std::string& address, const std::string& name) {
  const auto reply = ask(address, wire::Kind::kStatus);
  const auto figures = reply.ok() ? wire::decode<wire::Figures>(*reply) : Result<wire::Figures>(reply.status());
  for (const auto& entry : figures.ok() ? figures->entries : std::vector<wire::Figures::Entry>()) {
    if (entry.name == name) {
      return entry.value;
    }
  }
  return -1;
}

/// Waits as long as a standby may take for it.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(40);
  while (!condition()) {
    if (storage::Clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

inline bool comes_in_step(const std::string& manager) {
  return comes_true([&] { return figure(manager, "standby_in_step") == 1; });
}

inline Result<wire::Promoted> promote(const std::string& standby, bool even_if_behind = false) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask(standby, wire::Kind::kPromote, wire::encode(wire::Promote{even_if_behind})));
  return wire::decode<wire::Promoted>(reply);
}

/// The servers know that the standby has all. A moment after it is so.
inline Status promote_soon(const std::string& standby) {
  Status outcome;
  static_cast<void>(comes_true([&] {
    outcome = promote(standby).status();
    return outcome.code() != ErrorCode::kAborted;
  }));
  return outcome;
}

/// A manager, its standby and two servers, each in a process that can be killed.
class StandbyProcesses : public ::testing::Test {
 protected:
  ~StandbyProcesses() override { std::filesystem::remove_all(directory_); }

  /// Returns when the standby may be promoted.
  void start_all() {
    manager_.start();
    standby_.start(manager_.address(), true);
    one_.start(manager_.address());
    other_.start(manager_.address());
    ASSERT_TRUE(comes_in_step(manager_.address()));
    for (const ServerProcess* server : {&one_, &other_}) {
      ASSERT_TRUE(comes_true([&] { return figure(server->address(), "standby_marks_in_step") == 1; }));
    }
  }
  std::string both() const { return "stria://" + manager_.address() + "," + standby_.address(); }
  Status make(const std::string& name) {
    return driver_.open(both() + name, {.mode = storage::OpenOptions::Mode::kCreateNew}).status();
  }

  std::string directory_ = make_directory(scratch_directory());
  ServerProcess manager_{directory_ + "/manager"};
  ServerProcess standby_{directory_ + "/standby"};
  ServerProcess one_{directory_ + "/one"};
  ServerProcess other_{directory_ + "/other"};
  storage::StripedDriver driver_;
};

}  // namespace stria::server::testing
