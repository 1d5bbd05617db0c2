// Clients and servers that say what no honest one of this version does.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "storage/conformance_test.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/standby.hpp"
#include "wire/tree.hpp"

namespace stria::server {
namespace {

using storage::StripedDriver;
using testing::Cluster;
using testing::noise;
using testing::raw_connection;

/// A real server answers malformed bodies of each kind with an error, and the connection goes on.
TEST(StrangeMessages, GreetedClientsThatSendNonsenseGetErrors) {
  Cluster cluster(1);
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), nullptr);
  const auto soon = [] { return storage::Clock::now() + std::chrono::seconds(10); };
  STRIA_EXPECT_OK(link.connect(soon()));
  for (uint16_t kind = 0x10; kind < 0x60; ++kind) {
    if (kind == 0x18 || kind == 0x19 || kind == 0x2a || kind == 0x31 || kind == 0x49) {
      continue;  // their body is empty, or not read
    }
    for (const size_t bytes : {0, 3, 40, 1000}) {
      const Status answer = link.ask(static_cast<wire::Kind>(kind), noise(bytes, kind), soon()).status();
      EXPECT_FALSE(answer.ok()) << kind;
      EXPECT_NE(answer.code(), ErrorCode::kIo) << kind << ": " << answer.message();
    }
  }
}

/// A client of another version reads the server's version in the head of its answer.
TEST(StrangeMessages, AClientOfAnotherVersionIsToldWhichTheServerSpeaks) {
  Cluster cluster(1);
  const int socket = raw_connection(cluster.address());
  wire::Header header;
  header.kind = wire::Kind::kHello;
  std::vector<std::byte> head = wire::encode_head(header, noise(40, 1));
  constexpr size_t kVersionPlace = 4;
  head[kVersionPlace] = std::byte{wire::kVersion + 1};
  ASSERT_EQ(send(socket, head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
  std::array<std::byte, wire::kHeaderBytes> answer{};
  ASSERT_EQ(recv(socket, answer.data(), answer.size(), MSG_WAITALL), static_cast<ssize_t>(answer.size()));
  EXPECT_EQ(wire::decode_header(answer).value().kind, wire::Kind::kError);
  ::close(socket);
}

/// Answers every client as a server of another version does.
class LaterServer {
 public:
  LaterServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof place;
    auto* address = reinterpret_cast<sockaddr*>(&place);
    EXPECT_EQ(bind(socket_, address, bytes) + listen(socket_, 1), 0);
    EXPECT_EQ(getsockname(socket_, address, &bytes), 0);
    port_ = ntohs(place.sin_port);
    thread_ = std::thread([this] {
      const int client = accept(socket_, nullptr, nullptr);
      std::vector<std::byte> head = wire::encode_head({}, {});
      head[4] = std::byte{9};
      EXPECT_EQ(send(client, head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
      std::array<char, 1024> rest{};
      while (recv(client, rest.data(), rest.size(), 0) > 0) {
      }
      ::close(client);
    });
  }
  LaterServer(const LaterServer&) = delete;
  LaterServer& operator=(const LaterServer&) = delete;
  ~LaterServer() {
    shutdown(socket_, SHUT_RDWR);  // if nobody came
    thread_.join();
    ::close(socket_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Tells whether a second connection waits, which nobody accepts.
  bool was_asked_again() const {
    pollfd waiting{socket_, POLLIN, 0};
    return poll(&waiting, 1, 0) > 0;
  }

 private:
  int socket_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST(StrangeMessages, AServerOfAnotherVersionIsNamedAtOnce) {
  const LaterServer server;
  StripedDriver driver;
  const Status told = driver.open("stria://" + server.address() + "/f", {}).status();
  EXPECT_FALSE(server.was_asked_again()) << "waiting would not help";
  for (const std::string& part : {server.address(), std::string("version 9"), std::to_string(wire::kVersion)}) {
    EXPECT_NE(told.message().find(part), std::string::npos) << told.message();
  }
}

/// While it lives, this process speaks no newer version of the protocol.
class SpeaksAtMost {
 public:
  explicit SpeaksAtMost(uint16_t version) { setenv("STRIA_WIRE_VERSION", std::to_string(version).c_str(), 1); }
  SpeaksAtMost(const SpeaksAtMost&) = delete;
  SpeaksAtMost& operator=(const SpeaksAtMost&) = delete;
  ~SpeaksAtMost() { unsetenv("STRIA_WIRE_VERSION"); }
};

std::unique_ptr<storage::ServerLink> linked(const Cluster& cluster) {
  auto link = std::make_unique<storage::ServerLink>(wire::Address::parse(cluster.address()).value(), nullptr);
  STRIA_EXPECT_OK(link->connect(storage::Clock::now() + std::chrono::seconds(10)));
  return link;
}

Status ask_to_close(storage::ServerLink& link) {
  const auto body = wire::encode(wire::Handles{{1}});
  return link.ask(wire::Kind::kCloseAll, body, storage::Clock::now() + std::chrono::seconds(10)).status();
}

TEST(StrangeMessages, TheOlderOfTwoVersionsIsSpoken) {
  std::unique_ptr<Cluster> old_cluster;
  std::unique_ptr<storage::ServerLink> old_client;
  const Cluster cluster(1);
  {
    const SpeaksAtMost older(wire::kOldestVersion);
    old_cluster = std::make_unique<Cluster>(1);
    old_client = linked(cluster);
  }
  const auto new_client = linked(cluster);
  EXPECT_EQ(new_client->version(), wire::kVersion);
  STRIA_EXPECT_OK(ask_to_close(*new_client));
  const auto client_of_old = linked(*old_cluster);
  for (storage::ServerLink* const link : {old_client.get(), client_of_old.get()}) {
    EXPECT_EQ(link->version(), wire::kOldestVersion);
    const Status refused = ask_to_close(*link);
    EXPECT_EQ(refused.code(), ErrorCode::kUnsupported);
    for (const std::string& part : {"the server at " + link->server(), std::string("speaks version 3"),
                                    std::string("needs version 4"), std::string("upgrade the server first")}) {
      EXPECT_NE(refused.message().find(part), std::string::npos) << refused.message();
    }
  }
}

/// Each of the two versions is spoken by servers and by clients.
TEST(StrangeMessages, ReasonsReachEveryClient) {
  std::unique_ptr<Cluster> old_cluster;
  const Cluster cluster(2);
  {
    const SpeaksAtMost older(wire::kOldestVersion);
    old_cluster = std::make_unique<Cluster>(2);
  }
  const auto ask_a_server = [](const Cluster& asked) {
    storage::ServerLink link(wire::Address::parse(asked.address(1)).value(), nullptr);
    const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
    STRIA_EXPECT_OK(link.connect(deadline));
    return link.ask(wire::Kind::kStat, wire::encode(wire::Path{"/f"}), deadline).status();
  };
  for (const Cluster* const asked : {&cluster, static_cast<const Cluster*>(old_cluster.get())}) {
    EXPECT_TRUE(wire::is_no_manager(ask_a_server(*asked)));
    const SpeaksAtMost older(wire::kOldestVersion);
    EXPECT_TRUE(wire::is_no_manager(ask_a_server(*asked)));
  }
}

/// A client that says it speaks the older version, and asks what only the newer one has.
TEST(StrangeMessages, AConnectionKeepsTheVersionOfItsGreeting) {
  const Cluster cluster(1);
  std::unique_ptr<storage::ServerLink> link;
  {
    const SpeaksAtMost older(wire::kOldestVersion);
    link = linked(cluster);
  }
  const auto answer_to = [&](uint16_t version) {
    wire::Header header;
    header.version = version;
    header.kind = wire::Kind::kCloseAll;
    header.request = 99;
    const auto frame = wire::encode_head(header, wire::encode(wire::Handles()));
    const int socket = link->socket();
    EXPECT_EQ(send(socket, frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
    std::array<std::byte, wire::kHeaderBytes> head{};
    pollfd waiting{socket, POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 10000), 1);
    return recv(socket, head.data(), head.size(), 0) == static_cast<ssize_t>(head.size())
               ? wire::decode_header(head)
               : Result<wire::Header>(Status(ErrorCode::kIo, "it ended the connection"));
  };
  const auto refused = answer_to(wire::kOldestVersion);
  STRIA_EXPECT_OK(refused.status());
  EXPECT_EQ(refused->kind, wire::Kind::kError);
  EXPECT_EQ(refused->version, wire::kOldestVersion);
  STRIA_EXPECT_OK(linked(cluster)->connect(storage::Clock::now() + std::chrono::seconds(10)));
  {
    const SpeaksAtMost older(wire::kOldestVersion);
    link = linked(cluster);
  }
  EXPECT_EQ(answer_to(wire::kVersion).status().code(), ErrorCode::kIo);
}

/// Two ways to write the names of one directory: it would become its own parent, and be lost.
TEST(StrangeMessages, ADirectoryDoesNotMoveIntoItself) {
  Cluster cluster(1);
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), nullptr);
  const auto soon = [] { return storage::Clock::now() + std::chrono::seconds(10); };
  STRIA_EXPECT_OK(link.connect(soon()));
  STRIA_EXPECT_OK(link.ask(wire::Kind::kMakeDirectory, wire::encode(wire::NewDirectory{"/a/b", 0755}), soon()).status());
  for (const auto& [from, to] : {std::pair("/a", "/a/c"), {"/a/", "/a/c"}, {"//a", "/./a/b/c"}, {"/a/.", "/a/b/c/d"}}) {
    const Status told = link.ask(wire::Kind::kRename, wire::encode(wire::Rename{from, to}), soon()).status();
    EXPECT_EQ(told.code(), ErrorCode::kInvalidArgument) << from << " to " << to << ": " << told.message();
  }
  STRIA_EXPECT_OK(link.ask(wire::Kind::kRename, wire::encode(wire::Rename{"/a/", "/ab"}), soon()).status());
  STRIA_EXPECT_OK(link.ask(wire::Kind::kStat, wire::encode(wire::Path{"/ab/b"}), soon()).status());
}

/// Names of clients are keys of a table, and never names in the server's file system.
TEST(StrangeMessages, PathsStayInTheStore) {
  Cluster cluster(1);
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), nullptr);
  const auto soon = [] { return storage::Clock::now() + std::chrono::seconds(10); };
  STRIA_EXPECT_OK(link.connect(soon()));
  for (const std::string path : {"/..", "/../x", "../../x", "/a/../../x", "/a/b/..", "/a/../a"}) {
    SCOPED_TRACE(path);
    wire::Open request;
    request.path = path;
    request.mode = wire::OpenMode::kCreate;
    request.handle = 1;
    for (const auto& [kind, body] : {std::pair(wire::Kind::kOpen, wire::encode(request)),
                                     {wire::Kind::kMakeDirectory, wire::encode(wire::NewDirectory{path, 0777})},
                                     {wire::Kind::kRename, wire::encode(wire::Rename{"/", path})},
                                     {wire::Kind::kList, wire::encode(wire::List{path, ""})}}) {
      EXPECT_FALSE(link.ask(kind, body, soon()).ok());
    }
  }
  STRIA_EXPECT_OK(link.ask(wire::Kind::kMakeDirectory, wire::encode(wire::NewDirectory{"/etc/x", 0777}), soon()).status());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster.data(0))) {
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
  }
}

}  // namespace
}  // namespace stria::server
