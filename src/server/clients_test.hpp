// Clients of servers in tests: whole files as bytes, and connections by hand, for what no honest
// client does.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "storage/conformance_test.hpp"
#include "storage/driver.hpp"
#include "storage/striped/server_link.hpp"
#include "wire/address.hpp"

namespace stria::server::testing {

inline std::vector<std::byte> noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random() >> 20);
  }
  return bytes;
}

inline Status write_all(storage::File& file, const std::vector<std::byte>& bytes) {
  return file.write(std::vector<storage::WriteSegment>{{0, bytes.data(), static_cast<int64_t>(bytes.size())}});
}

inline std::vector<std::byte> read_all(storage::File& file) {
  std::vector<std::byte> bytes(static_cast<size_t>(file.size().value()));
  EXPECT_EQ(file.read(std::vector<storage::ReadSegment>{{0, bytes.data(), static_cast<int64_t>(bytes.size())}}).value(),
            static_cast<int64_t>(bytes.size()));
  return bytes;
}

inline int raw_connection(const std::string& address) {
  const auto places = wire::resolve(wire::Address::parse(address).value()).value();
  const int made = socket(places[0].family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(made, places[0].get(), places[0].bytes), 0);
  return made;
}

/// Returns a connection that has greeted, for what no honest client does.
inline int greeted_connection(const std::string& address) {
  storage::ServerLink link(wire::Address::parse(address).value(), nullptr);
  STRIA_EXPECT_OK(link.connect(storage::Clock::now() + std::chrono::seconds(10)));
  return dup(link.socket());
}

/// Returns what the manager tells of a file, with a ticket for it.
inline wire::Opened known_file(const std::string& address, const std::string& path,
                               std::shared_ptr<const wire::Key> key = nullptr) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
  storage::ServerLink link(wire::Address::parse(address).value(), std::move(key));
  STRIA_EXPECT_OK(link.connect(deadline));
  const auto reply = link.ask(wire::Kind::kStat, wire::encode(wire::Path{path}), deadline);
  return wire::decode<wire::Attributes>(reply.value()).value().place;
}

/// Takes what has come; true when the server ended the connection before it had sent `bytes`.
inline bool was_cut_before(int socket, int64_t bytes) {
  std::vector<char> sink(1 << 20);
  int64_t taken = 0;
  pollfd entry{socket, POLLIN, 0};
  while (taken < bytes && poll(&entry, 1, 3000) > 0) {
    const ssize_t now = recv(socket, sink.data(), sink.size(), 0);
    if (now <= 0) {
      return true;
    }
    taken += now;
  }
  return false;
}

}  // namespace stria::server::testing
