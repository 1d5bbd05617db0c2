// Users of a store with a key: what owner, group and mode allow them, and what tickets are worth
// that are forged, stolen, or over.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/connections/tickets.hpp"
#include "storage/conformance_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_file.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;
using storage::StripedFile;
using testing::Cluster;
using testing::known_file;
using testing::noise;
using testing::read_all;
using testing::write_all;
using wire::OpenMode;

constexpr auto kDenied = ErrorCode::kPermissionDenied;

/// None of them runs this test.
const wire::User kAlice{71001, 500, {510}};
const wire::User kBob{71002, 500, {}};
const wire::User kCarol{71003, 600, {}};

std::shared_ptr<const wire::Key> cluster_key() {
  const std::string secret = "the key of the cluster, for tests";
  return std::make_shared<const wire::Key>(std::as_bytes(std::span(secret)));
}

std::shared_ptr<const wire::Key> key_of(const wire::User& user, int64_t good_for_s = 1000) {
  const auto until = static_cast<uint64_t>(std::time(nullptr) + good_for_s);
  return std::make_shared<const wire::Key>(cluster_key()->for_claim({wire::ClaimKind::kUserKey, user, until}));
}

Cluster::Change with_key(milliseconds ticket_life = milliseconds(300000)) {
  return [=](ServerOptions& options) {
    options.key = cluster_key();
    options.ticket_life = ticket_life;
  };
}

/// A client of a store.
class Client {
 public:
  Client(const Cluster& cluster, std::shared_ptr<const wire::Key> key)
      : store_(std::make_shared<storage::Store>(wire::parse_addresses(cluster.address()).value(), std::move(key))) {}
  Client(const Cluster& cluster, const wire::User& user) : Client(cluster, key_of(user)) {}

  Result<std::unique_ptr<StripedFile>> open(const std::string& path, OpenMode mode, uint32_t permissions = 0644) const {
    wire::Open request;
    request.path = path;
    request.mode = mode;
    request.permissions = permissions;
    return open(request);
  }
  Result<std::unique_ptr<StripedFile>> open(wire::Open request) const {
    STRIA_ASSIGN_OR_RETURN(const wire::Opened opened, store_->open(request));
    return std::make_unique<StripedFile>(store_, request.path, opened,
                                         StripedFile::Opening{request.handle, request.mode != OpenMode::kRead});
  }
  Status try_open(const std::string& path, OpenMode mode, uint32_t permissions = 0644) const {
    return open(path, mode, permissions).status();
  }
  Status make_directory(const std::string& path, uint32_t permissions) const {
    return ask(wire::Kind::kMakeDirectory, wire::NewDirectory{path, permissions});
  }
  Status remove(const std::string& path) const { return ask(wire::Kind::kRemove, wire::Path{path}); }
  Status rename(const std::string& from, const std::string& to) const {
    return ask(wire::Kind::kRename, wire::Rename{from, to});
  }
  Status list(const std::string& path) const { return ask(wire::Kind::kList, wire::List{path, ""}); }
  Status change_mode(const std::string& path, uint32_t mode) const {
    return ask(wire::Kind::kSetOwnership, wire::SetOwnership{path, {}, {}, mode});
  }
  Status give_to(const std::string& path, std::optional<uint32_t> uid, std::optional<uint32_t> gid) const {
    return ask(wire::Kind::kSetOwnership, wire::SetOwnership{path, uid, gid, {}});
  }
  Result<wire::Attributes> look(const std::string& path) const {
    STRIA_ASSIGN_OR_RETURN(const auto reply, store_->ask_manager(wire::Kind::kStat, wire::encode(wire::Path{path})));
    return wire::decode<wire::Attributes>(reply);
  }

 private:
  template <typename Message>
  Status ask(wire::Kind kind, const Message& message) const {
    return store_->ask_manager(kind, wire::encode(message)).status();
  }

  std::shared_ptr<storage::Store> store_;
};

TEST(Permissions, TheRightBitsCount) {
  const auto rights = [](const wire::User& user, uint32_t mode) {
    return rights_of({.user = user}, {kAlice.uid, kAlice.gid, mode});
  };
  EXPECT_EQ(rights(kAlice, 0640), 6);
  EXPECT_EQ(rights(kBob, 0640), 4);
  EXPECT_EQ(rights(kCarol, 0641), 1);
  EXPECT_EQ(rights(kAlice, 0077), 0) << "an owner's are the owner's bits";
  EXPECT_EQ(rights(kBob, 0707), 0) << "a member's are the group's";
  EXPECT_EQ(rights_of({.user = kAlice}, {1, 510, 0060}), 6) << "by a further group";
  EXPECT_EQ(rights_of({.user = kCarol, .is_super = true}, {1, 1, 0}), 7);
}

TEST(Permissions, FilesAreForWhomTheirModeSays) {
  const Cluster cluster(1, with_key());
  const Client alice(cluster, kAlice);
  const Client bob(cluster, kBob);
  const Client carol(cluster, kCarol);
  STRIA_EXPECT_OK(alice.try_open("/f", OpenMode::kCreateNew, 0640));
  const wire::Ownership owner = alice.look("/f").value().owner;
  EXPECT_EQ(owner.uid, kAlice.uid);
  EXPECT_EQ(owner.gid, kAlice.gid);
  EXPECT_EQ(owner.mode, 0640u);
  STRIA_EXPECT_OK(bob.try_open("/f", OpenMode::kRead));
  EXPECT_EQ(bob.try_open("/f", OpenMode::kReadWrite).code(), kDenied);
  EXPECT_EQ(bob.try_open("/f", OpenMode::kCreate).code(), kDenied);
  EXPECT_EQ(carol.try_open("/f", OpenMode::kRead).code(), kDenied);
  EXPECT_EQ(carol.look("/f").value().place.ticket.rights, 0) << "its size is no secret";
  EXPECT_EQ(bob.look("/f").value().place.ticket.rights, wire::kMayRead);
  EXPECT_NE(carol.try_open("/f", OpenMode::kRead).message().find("user 71003 may not read"), std::string::npos);
  // The root is sticky.
  EXPECT_EQ(bob.remove("/f").code(), kDenied);
  EXPECT_EQ(bob.rename("/f", "/g").code(), kDenied);
  STRIA_EXPECT_OK(bob.try_open("/b", OpenMode::kCreateNew));
  EXPECT_EQ(bob.rename("/b", "/f").code(), kDenied) << "it would replace another's";
  EXPECT_EQ(bob.change_mode("/f", 0666).code(), kDenied);
  STRIA_EXPECT_OK(alice.change_mode("/f", 0666));
  STRIA_EXPECT_OK(carol.try_open("/f", OpenMode::kReadWrite));
  STRIA_EXPECT_OK(alice.rename("/f", "/g"));
  STRIA_EXPECT_OK(alice.remove("/g"));
}

TEST(Permissions, DirectoriesAreForWhomTheirModeSays) {
  const Cluster cluster(1, with_key());
  const Client alice(cluster, kAlice);
  const Client bob(cluster, kBob);
  const Client carol(cluster, kCarol);
  STRIA_EXPECT_OK(alice.make_directory("/own", 0700));
  STRIA_EXPECT_OK(alice.try_open("/own/f", OpenMode::kCreateNew, 0666));
  EXPECT_EQ(bob.list("/own").code(), kDenied);
  EXPECT_EQ(bob.look("/own/f").status().code(), kDenied);
  EXPECT_EQ(bob.try_open("/own/f", OpenMode::kRead).code(), kDenied);
  EXPECT_EQ(bob.try_open("/own/new", OpenMode::kCreate).code(), kDenied);
  EXPECT_EQ(bob.make_directory("/own/below", 0777).code(), kDenied);
  EXPECT_EQ(bob.try_open("/own/below/new", OpenMode::kCreate).code(), kDenied);
  STRIA_EXPECT_OK(alice.change_mode("/own", 0711));
  STRIA_EXPECT_OK(bob.try_open("/own/f", OpenMode::kReadWrite));
  EXPECT_EQ(bob.list("/own").code(), kDenied) << "entering is not reading";
  EXPECT_EQ(bob.remove("/own/f").code(), kDenied);
  // What is made in a project has its group.
  STRIA_EXPECT_OK(alice.make_directory("/project", 02775));
  STRIA_EXPECT_OK(alice.give_to("/project", {}, 510));
  EXPECT_EQ(bob.try_open("/project/deep/f", OpenMode::kCreate).code(), kDenied);
  STRIA_EXPECT_OK(alice.try_open("/project/deep/f", OpenMode::kCreate, 0660));
  EXPECT_EQ(alice.look("/project/deep").value().owner.gid, 510u);
  EXPECT_EQ(alice.look("/project/deep").value().owner.mode, 02770u);
  EXPECT_EQ(alice.look("/project/deep/f").value().owner.gid, 510u);
  EXPECT_EQ(carol.list("/project/deep").code(), kDenied);
}

// The manager knows the way to the names that were asked for last.
TEST(Permissions, CountOnAWayThatAnotherHasJustGone) {
  const Cluster cluster(1, with_key());
  const Client alice(cluster, kAlice);
  const Client bob(cluster, kBob);
  STRIA_EXPECT_OK(alice.make_directory("/way", 0755));
  STRIA_EXPECT_OK(alice.make_directory("/way/on", 0755));
  STRIA_EXPECT_OK(alice.try_open("/way/on/f", OpenMode::kCreateNew, 0666));
  STRIA_EXPECT_OK(bob.try_open("/way/on/f", OpenMode::kReadWrite));
  for (const std::string directory : {"/way", "/way/on"}) {
    STRIA_EXPECT_OK(alice.change_mode(directory, 0700));
    STRIA_EXPECT_OK(alice.look("/way/on/f").status());
    EXPECT_EQ(bob.try_open("/way/on/f", OpenMode::kRead).code(), kDenied) << directory;
    EXPECT_EQ(bob.look("/way/on/none").status().code(), kDenied) << directory;
    STRIA_EXPECT_OK(alice.change_mode(directory, 0755));
    STRIA_EXPECT_OK(bob.try_open("/way/on/f", OpenMode::kRead));
  }
  EXPECT_EQ(bob.try_open("/way/on/new", OpenMode::kCreate).code(), kDenied);
}

TEST(Permissions, OwnersMayNotGiveFilesAwayAndRootMay) {
  const Cluster cluster(1, with_key());
  const Client root(cluster, cluster_key());  // this test's user runs the servers
  const Client alice(cluster, kAlice);
  const Client bob(cluster, kBob);
  STRIA_EXPECT_OK(alice.try_open("/f", OpenMode::kCreateNew, 0600));
  EXPECT_EQ(alice.give_to("/f", kBob.uid, {}).code(), kDenied);
  EXPECT_EQ(alice.give_to("/f", {}, kCarol.gid).code(), kDenied) << "she is no member";
  STRIA_EXPECT_OK(alice.give_to("/f", {}, 510));
  STRIA_EXPECT_OK(root.try_open("/f", OpenMode::kReadWrite));
  STRIA_EXPECT_OK(root.give_to("/f", kBob.uid, kBob.gid));
  STRIA_EXPECT_OK(bob.try_open("/f", OpenMode::kReadWrite));
  EXPECT_EQ(alice.try_open("/f", OpenMode::kRead).code(), kDenied);
}

TEST(Permissions, NobodyIsWhomAKeyDoesNotName) {
  const Cluster cluster(1, with_key());
  STRIA_EXPECT_OK(Client(cluster, kAlice).list("/"));
  EXPECT_EQ(Client(cluster, key_of(kAlice, -10)).list("/").code(), kDenied) << "her key is over";
  EXPECT_EQ(Client(cluster, std::shared_ptr<const wire::Key>()).list("/").code(), kDenied);
  // Alice's key with another's number in it.
  const std::string directory = testing::scratch_directory() + "/stria-keys-" + std::to_string(getpid());
  std::filesystem::create_directory(directory);
  const auto load = [&](const std::string& text) {
    const std::string path = directory + "/key";
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return wire::Key::load(path);
  };
  std::string text = key_of(kAlice)->user_key_text();
  STRIA_EXPECT_OK(Client(cluster, load(text).value()).list("/"));
  text.replace(text.find("71001"), 5, "00000");
  EXPECT_EQ(Client(cluster, load(text).value()).list("/").code(), kDenied);
  EXPECT_EQ(load(text.substr(0, text.size() - 9)).status().code(), ErrorCode::kInvalidArgument);
  // Nobody is a server with a user's key.
  ServerOptions options;
  options.directory = directory + "/store";
  options.join = cluster.address();
  options.key = key_of(kAlice);
  EXPECT_EQ(Server::start(options).status().code(), ErrorCode::kInvalidArgument);
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), key_of(kAlice));
  const auto soon = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_EXPECT_OK(link.connect(soon));
  EXPECT_EQ(link.ask(wire::Kind::kPulse, wire::encode(wire::Pulse()), soon).status().code(), kDenied);
  std::filesystem::remove_all(directory);
}

/// Asks an I/O server about the first bytes of a file, with any ticket.
Status read_with(const Cluster& cluster, const wire::User& user, uint64_t file, const wire::Ticket& ticket) {
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), key_of(user));
  const auto soon = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_RETURN_IF_ERROR(link.connect(soon));
  std::vector<std::byte> body;
  wire::Writer writer(body);
  wire::Transfer{file, ticket, {256 << 10, 1}, 0}.put(writer);
  wire::encode_range(writer, {0, 0});  // no byte: the answer is a small one
  return link.ask(wire::Kind::kRead, body, soon).status();
}

Status cut_with(const Cluster& cluster, uint64_t file, const wire::Ticket& ticket) {
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), key_of(kBob));
  const auto soon = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_RETURN_IF_ERROR(link.connect(soon));
  return link.ask(wire::Kind::kResize, wire::encode(wire::LocalFile{file, ticket, 0}), soon).status();
}

TEST(Tickets, OnlyTheManagersCount) {
  const Cluster cluster(1, with_key());
  const Client alice(cluster, kAlice);
  const auto content = noise(10000, 1);
  const auto file = alice.open("/f", OpenMode::kCreateNew, 0644).value();
  STRIA_EXPECT_OK(write_all(*file, content));
  STRIA_EXPECT_OK(alice.try_open("/other", OpenMode::kCreateNew, 0666));
  const wire::Opened known = known_file(cluster.address(), "/f", key_of(kBob));
  const wire::Opened other = known_file(cluster.address(), "/other", key_of(kBob));
  const auto read = [&](const wire::Ticket& ticket) { return read_with(cluster, kBob, known.file, ticket).code(); };
  EXPECT_EQ(read(known.ticket), ErrorCode::kOk);
  EXPECT_EQ(read({}), kDenied);
  EXPECT_EQ(read(other.ticket), kDenied) << "another file's";
  EXPECT_EQ(cut_with(cluster, known.file, known.ticket).code(), kDenied) << "it is for reading";
  wire::Ticket forged = known.ticket;
  forged.rights |= wire::kMayWrite;
  EXPECT_EQ(cut_with(cluster, known.file, forged).code(), kDenied);
  EXPECT_EQ(read(forged), kDenied);
  forged = known.ticket;
  forged.expires_ms += 1;
  EXPECT_EQ(read(forged), kDenied);
  for (size_t i = 0; i < forged.seal.size(); ++i) {
    forged = known.ticket;
    forged.seal[i] ^= std::byte{1};
    EXPECT_EQ(read(forged), kDenied);
  }
  STRIA_EXPECT_OK(cut_with(cluster, other.file, other.ticket));
  EXPECT_EQ(read_all(*file), content);
}

TEST(Tickets, ThatAConnectionKnowsAreLookedAtAgain) {
  constexpr uint64_t kNow = 1000000;
  constexpr uint64_t kLife = 3600000;
  Tickets tickets;
  Tickets::Known known;
  const auto check = [&](uint64_t file, const wire::Ticket& ticket, uint8_t rights) {
    return tickets.check(file, ticket, rights, known).code();
  };
  EXPECT_EQ(check(0, {}, 0), kDenied) << "without a secret none is genuine";
  wire::StoreSecret secret{std::byte{7}};
  tickets.learn(secret, 0, kNow);
  const wire::Ticket ticket = wire::issue_ticket(secret, 5, wire::kMayRead, kNow + kLife);
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(check(5, ticket, wire::kMayRead), ErrorCode::kOk);
    EXPECT_EQ(check(5, ticket, wire::kMayWrite), kDenied);
    EXPECT_EQ(check(6, ticket, wire::kMayRead), kDenied) << "another file's";
    wire::Ticket forged = ticket;
    forged.rights |= wire::kMayWrite;
    EXPECT_EQ(check(5, forged, wire::kMayWrite), kDenied);
    forged = ticket;
    ++forged.expires_ms;
    EXPECT_EQ(check(5, forged, wire::kMayRead), kDenied);
    forged = ticket;
    forged.seal.back() ^= std::byte{1};
    EXPECT_EQ(check(5, forged, wire::kMayRead), kDenied);
  }
  for (uint64_t file = 10; file < 40; ++file) {
    EXPECT_EQ(check(file, wire::issue_ticket(secret, file, wire::kMayRead, kNow + kLife), wire::kMayRead), ErrorCode::kOk);
  }
  EXPECT_EQ(check(5, ticket, wire::kMayRead), ErrorCode::kOk) << "forgotten, and found genuine again";
  tickets.learn(secret, 0, kNow + kLife + 1);
  EXPECT_EQ(check(5, ticket, wire::kMayRead), kDenied) << "it has expired";
  tickets.learn(secret, 0, kNow);
  EXPECT_EQ(check(5, ticket, wire::kMayRead), ErrorCode::kOk);
  secret[0] = std::byte{8};
  tickets.learn(secret, 0, kNow);
  EXPECT_EQ(check(5, ticket, wire::kMayRead), kDenied) << "the store has another secret";
  const wire::Ticket before = wire::issue_ticket(secret, 5, wire::kMayRead, kNow + kLife);
  const wire::Ticket after = wire::issue_ticket(wire::ticket_secret(secret, 3), 5, wire::kMayRead, kNow + kLife);
  EXPECT_EQ(check(5, before, wire::kMayRead), ErrorCode::kOk);
  EXPECT_EQ(check(5, after, wire::kMayRead), kDenied);
  tickets.fence(3);
  EXPECT_EQ(check(5, before, wire::kMayRead), kDenied) << "another manager has taken over";
  EXPECT_EQ(check(5, after, wire::kMayRead), ErrorCode::kOk);
}

TEST(Tickets, EndAndAreRenewedWhileTheModeAllowsIt) {
  const Cluster cluster(2, with_key(milliseconds(400)));
  const Client alice(cluster, kAlice);
  const Client bob(cluster, kBob);
  const auto own = alice.open("/f", OpenMode::kCreateNew, 0640).value();
  const auto content = noise(700000, 3);
  STRIA_EXPECT_OK(write_all(*own, content));
  const auto shared = bob.open("/f", OpenMode::kRead).value();
  const wire::Opened stolen = known_file(cluster.address(), "/f", key_of(kBob));
  const auto end = storage::Clock::now() + milliseconds(900);
  while (storage::Clock::now() < end) {
    EXPECT_EQ(read_all(*shared), content);
    STRIA_EXPECT_OK(write_all(*own, content));
    std::this_thread::sleep_for(milliseconds(30));
  }
  EXPECT_EQ(read_with(cluster, kBob, stolen.file, stolen.ticket).code(), kDenied) << "it has expired";
  STRIA_EXPECT_OK(alice.change_mode("/f", 0400));
  // What Bob has is good for a moment yet; Alice's own goes on, as her mode of her file lets her.
  std::this_thread::sleep_for(milliseconds(450));
  EXPECT_EQ(shared->size().status().code(), kDenied);
  std::byte byte{};
  EXPECT_EQ(shared->read(std::vector<storage::ReadSegment>{{0, &byte, 1}}).status().code(), kDenied);
  STRIA_EXPECT_OK(write_all(*own, content));
  EXPECT_EQ(read_all(*own), content);
  STRIA_EXPECT_OK(own->close());
}

TEST(Tickets, AreUsedToTheirEndWhileTheManagerIsAway) {
  constexpr milliseconds kLife{6000};
  Cluster cluster(2, with_key(kLife));
  const Client alice(cluster, kAlice);
  wire::Open request;
  request.path = "/f";
  request.mode = OpenMode::kCreateNew;
  request.permissions = 0600;
  request.server_count = 1;
  request.first_server = 1;
  const auto file = alice.open(request).value();
  const auto content = noise(70000, 5);
  STRIA_EXPECT_OK(write_all(*file, content));
  cluster.stop(0);
  std::this_thread::sleep_for(kLife / 2 + milliseconds(50));
  STRIA_EXPECT_OK(write_all(*file, content));
  std::byte byte{};
  STRIA_EXPECT_OK(file->read(std::vector<storage::ReadSegment>{{0, &byte, 1}}).status());
  cluster.start(0);
  std::this_thread::sleep_for(kLife / 2);
  STRIA_EXPECT_OK(write_all(*file, content));  // by a new ticket
}

TEST(Tickets, OutliveTheManagersRestart) {
  Cluster cluster(2, with_key());
  const Client alice(cluster, kAlice);
  const auto file = alice.open("/f", OpenMode::kCreateNew, 0600).value();
  cluster.stop(0);
  cluster.start(0);
  const auto content = noise(700000, 5);
  STRIA_EXPECT_OK(write_all(*file, content));
  EXPECT_EQ(read_all(*file), content);
}

}  // namespace
}  // namespace stria::server
