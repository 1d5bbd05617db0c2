// The bounds of a server, however many clients there are and however rude: memory, connections,
// locks, open files and processor time. Others are served meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "storage/striped/striped_driver.hpp"
#include "stria/datatype.hpp"
#include "support/sanitized.hpp"
#include "wire/region.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;
using storage::LockMode;
using storage::OpenOptions;
using storage::ServerLink;
using storage::StripedDriver;
using testing::Cluster;
using testing::greeted_connection;
using testing::known_file;
using testing::noise;
using testing::raw_connection;
using testing::read_all;
using testing::was_cut_before;
using testing::write_all;
using Mode = OpenOptions::Mode;
using Link = std::unique_ptr<ServerLink>;

storage::Clock::time_point soon() {
  return storage::Clock::now() + std::chrono::seconds(20);
}

void close_all(const std::vector<int>& sockets) {
  for (const int each : sockets) {
    ::close(each);
  }
}

Link greeted_link(const std::string& address) {
  auto link = std::make_unique<ServerLink>(wire::Address::parse(address).value(), nullptr);
  STRIA_EXPECT_OK(link->connect(soon()));
  return link;
}

/// Bytes of this process that are in memory.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Sends as much as the sockets take.
void send_some(int socket, std::span<const std::byte> bytes) {
  const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  EXPECT_TRUE(sent >= 0 || errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
}

/// Writes and reads a file, as an honest client does.
void work(Cluster& cluster, size_t bytes) {
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/honest", {.mode = Mode::kCreate}).value();
  const auto content = noise(bytes, 4);
  STRIA_EXPECT_OK(write_all(*file, content));
  EXPECT_EQ(read_all(*file), content);
  STRIA_EXPECT_OK(file->close());
}

/// Each of these clients can hold one buffer; others must get theirs in time.
TEST(Bounds, SlowClientsHoldNothingForLong) {
  Cluster cluster(1, [](ServerOptions& options) {
    options.bounds.buffers = 4;
    options.patience = {milliseconds(400), milliseconds(400)};
  });
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto bytes = noise(4 << 20, 9);
  STRIA_EXPECT_OK(write_all(*file, bytes));
  const uint64_t number = file->identity().value().number;
  std::vector<std::byte> body;
  wire::Writer writer(body);
  const wire::Ticket ticket = known_file(cluster.address(), "/f").ticket;
  wire::Transfer{number, ticket, {256 << 10, 1}, 0}.put(writer);
  const std::vector<ByteRange> often(16, {0, 4 << 20});  // more than the sockets' own buffers take
  wire::encode_list(writer, often);
  std::vector<int> sockets;
  for (int i = 0; i < 12; ++i) {
    sockets.push_back(greeted_connection(cluster.address()));
    wire::Header header;
    // Never reads; drips; stalls.
    header.kind = i % 3 == 0 ? wire::Kind::kRead : wire::Kind::kWrite;
    header.request = 1000;
    header.payload_bytes = i % 3 == 0 ? 0 : wire::kMaxPayloadBytes;
    const auto head = wire::encode_head(header, body);
    EXPECT_EQ(send(sockets.back(), head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
  }
  sockets.push_back(raw_connection(cluster.address()));  // greets never
  std::atomic<bool> ending = false;
  std::thread drip([&] {
    while (!ending) {
      for (size_t i = 1; i < 12; i += 3) {
        send(sockets[i], "x", 1, MSG_NOSIGNAL);
      }
      std::this_thread::sleep_for(milliseconds(100));
    }
  });
  EXPECT_EQ(read_all(*file), bytes) << "there is a buffer after a while";
  std::this_thread::sleep_for(milliseconds(1500));
  for (size_t i = 0; i < sockets.size(); ++i) {
    EXPECT_TRUE(was_cut_before(sockets[i], 60 << 20)) << "client " << i;
  }
  ending = true;
  drip.join();
  STRIA_EXPECT_OK(file->close());
  close_all(sockets);
}

TEST(Bounds, AThousandConnectionsLeaveRoomForAnother) {
  Cluster cluster(1);
  std::vector<int> sockets;
  for (int i = 0; i < 1000; ++i) {
    sockets.push_back(greeted_connection(cluster.address()));
  }
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto bytes = noise(300000, 4);
  STRIA_EXPECT_OK(write_all(*file, bytes));
  EXPECT_EQ(read_all(*file), bytes);
  close_all(sockets);
}

/// Each announces the longest message and sends all of it but its last byte.
TEST(Bounds, LongMessagesOfManyClientsTakeNoMoreMemoryThanThereIs) {
  Cluster cluster(1, [](ServerOptions& options) {
    options.bounds.message_bytes = 4 << 20;
    options.patience.message = milliseconds(1000);
  });
  work(cluster, 300000);
  const int64_t before = resident_bytes();
  const std::vector<std::byte> body(wire::kMaxBodyBytes);
  wire::Header header;
  header.kind = wire::Kind::kWrite;
  header.request = 1000;
  const auto head = wire::encode_head(header, body);
  std::vector<int> sockets;
  std::vector<size_t> sent;
  for (int i = 0; i < 32; ++i) {
    sockets.push_back(greeted_connection(cluster.address()));
    sent.push_back(0);
  }
  int64_t most = 0;
  bool worked = false;
  const auto end = storage::Clock::now() + milliseconds(1500);
  while (storage::Clock::now() < end) {
    for (size_t i = 0; i < sockets.size(); ++i) {
      const auto left = std::span(head).subspan(sent[i], head.size() - 1 - sent[i]);
      const ssize_t now = left.empty() ? 0 : send(sockets[i], left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      sent[i] += static_cast<size_t>(std::max<ssize_t>(now, 0));
    }
    most = std::max(most, resident_bytes() - before);
    if (!worked) {
      work(cluster, 300000);  // small messages need not wait
      worked = true;
    }
  }
  if (!kSanitized) {  // sanitizers' allocators keep what was freed
    EXPECT_LT(most, 14 << 20) << "32 messages of 1 MiB, of which 4 have room";
  }
  // A long message of an honest client has its turn.
  const Link link = greeted_link(cluster.address());
  const std::vector<std::byte> nonsense(100000);
  const Status answer = link->ask(wire::Kind::kStat, nonsense, soon()).status();
  EXPECT_EQ(answer.code(), ErrorCode::kFormat);
  EXPECT_NE(answer.message().find("malformed"), std::string::npos) << answer.message();
  close_all(sockets);
}

TEST(Bounds, WhoHoldsNothingMakesRoomForOthers) {
  Cluster cluster(1, [](ServerOptions& options) { options.bounds.connections = 12; });
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/held", {.mode = Mode::kCreate, .exclusive_lock = true}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(100, 1)));
  auto lock = file->lock({0, 10}, LockMode::kExclusive);
  ASSERT_TRUE(lock.ok()) << lock.status().message();
  std::vector<int> sockets;
  for (int i = 0; i < 30; ++i) {
    sockets.push_back(raw_connection(cluster.address()));
  }
  std::this_thread::sleep_for(milliseconds(400));
  for (int i = 0; i < 10; ++i) {
    sockets.push_back(greeted_connection(cluster.address()));
  }
  std::this_thread::sleep_for(milliseconds(400));
  work(cluster, 300000);
  *lock = nullptr;
  STRIA_EXPECT_OK(write_all(*file, noise(100, 2)));  // this would report a lost lock
  STRIA_EXPECT_OK(file->close());
  close_all(sockets);
}

/// A user whose connections are all in use leaves some for others.
TEST(Bounds, OneUserDoesNotHaveAllConnections) {
  const auto cluster_key = std::make_shared<const wire::Key>(noise(32, 1));
  Cluster cluster(1, [&](ServerOptions& options) {
    options.bounds.connections = 16;
    options.key = cluster_key;
  });
  const auto key_of = [&](uint32_t uid) {
    const wire::Claim claim{wire::ClaimKind::kUserKey, wire::User{uid, uid, {}}, UINT32_MAX};
    return std::make_shared<const wire::Key>(cluster_key->for_claim(claim));
  };
  const auto address = wire::Address::parse(cluster.address()).value();
  std::vector<Link> links;
  const auto come_in = [&](uint32_t uid) {
    links.push_back(std::make_unique<ServerLink>(address, key_of(uid)));
    STRIA_RETURN_IF_ERROR(links.back()->connect(soon()));
    wire::Open request;
    request.path = "/of" + std::to_string(uid);
    request.mode = wire::OpenMode::kCreate;
    request.permissions = 0600;
    request.handle = 1;
    return links.back()->ask(wire::Kind::kOpen, wire::encode(request), soon()).status();
  };
  for (int i = 0; i < 14; ++i) {
    STRIA_EXPECT_OK(come_in(71001));
  }
  const Status refused = come_in(71001);
  EXPECT_EQ(refused.code(), ErrorCode::kResourceExhausted) << refused.message();
  EXPECT_NE(refused.message().find("user 71001 has 14"), std::string::npos) << refused.message();
  STRIA_EXPECT_OK(come_in(71002));
  links.front()->disconnect();
  Status again = come_in(71001);
  for (int i = 0; i < 100 && !again.ok(); ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    again = come_in(71001);
  }
  STRIA_EXPECT_OK(again);
}

TEST(Bounds, LocksAreCounted) {
  Cluster cluster(1);
  work(cluster, 10);
  const wire::Opened file = known_file(cluster.address(), "/honest");
  const Link greedy = greeted_link(cluster.address());
  const auto lock = [&](const Link& link, int64_t at) {
    const wire::LockRange range{file.file, file.ticket, {at, at + 1}, true, 5};
    return link->ask(wire::Kind::kLock, wire::encode(range), soon()).status();
  };
  Status outcome;
  int count = 0;
  for (; outcome.ok() && count < 40000; ++count) {
    outcome = lock(greedy, 2 * count);
  }
  EXPECT_EQ(outcome.code(), ErrorCode::kResourceExhausted) << outcome.message();
  EXPECT_EQ(count, 16385);
  const Link modest = greeted_link(cluster.address());
  STRIA_EXPECT_OK(lock(modest, 100001));
  greedy->disconnect();
  const Link again = greeted_link(cluster.address());
  for (int i = 0; i < 100; ++i) {
    STRIA_EXPECT_OK(lock(again, 2 * i));
  }
}

TEST(Bounds, OpenFilesAreCounted) {
  Cluster cluster(1);
  work(cluster, 10);
  const Link greedy = greeted_link(cluster.address());
  Status outcome;
  uint64_t count = 0;
  for (; outcome.ok() && count < 40000; ++count) {
    wire::Open request;
    request.path = "/honest";
    request.handle = count + 1;
    outcome = greedy->ask(wire::Kind::kOpen, wire::encode(request), soon()).status();
  }
  EXPECT_EQ(outcome.code(), ErrorCode::kResourceExhausted) << outcome.message();
  EXPECT_NE(outcome.message().find("close some"), std::string::npos) << outcome.message();
  EXPECT_EQ(count, 16385u);
  work(cluster, 1000);
}

/// 2^29 pieces, backwards, of which the server has none. A few such requests would keep a server
/// with few threads busy for a long time.
TEST(Bounds, EndlessWalksLetOthersWork) {
  Cluster cluster(1);
  work(cluster, 10);
  const wire::Opened file = known_file(cluster.address(), "/honest");
  std::vector<std::byte> body;
  wire::Writer writer(body);
  wire::Transfer transfer{file.file, file.ticket, {int64_t{1} << 30, 2}, 1};
  transfer.put(writer);
  const int64_t count = int64_t{1} << 29;
  const auto backwards = Datatype::hvector(count, 1, -2, Datatype::bytes(1)).value();
  wire::encode_type(writer, backwards, 2 * count - 2, {0, count});
  wire::Header header;
  header.kind = wire::Kind::kRead;
  header.request = 1000;
  const auto head = wire::encode_head(header, body);
  std::vector<int> sockets;
  for (int i = 0; i < (kSanitized ? 6 : 24); ++i) {
    sockets.push_back(greeted_connection(cluster.address()));
    send_some(sockets.back(), head);
  }
  std::this_thread::sleep_for(milliseconds(100));
  work(cluster, 300000);
  for (const int each : sockets) {
    char byte = 0;
    EXPECT_EQ(recv(each, &byte, 1, MSG_DONTWAIT), -1) << "it isn't done yet: otherwise this test shows nothing";
    EXPECT_EQ(errno, EAGAIN);
  }
  close_all(sockets);
}

}  // namespace
}  // namespace stria::server
