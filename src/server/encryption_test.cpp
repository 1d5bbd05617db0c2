// Servers that encrypt: what is on its way can't be read, what is changed there is noticed, and a
// side that does not want to is told so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/unruly_proxy_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_file.hpp"
#include "wire/frame.hpp"

namespace stria::server {
namespace {

using storage::Encryption;
using storage::Store;
using storage::StripedFile;
using testing::Cluster;
using testing::noise;
using testing::read_all;
using testing::UnrulyProxy;
using testing::write_all;

std::shared_ptr<const wire::Key> cluster_key() {
  const std::string secret = "the key of the cluster, for tests";
  return std::make_shared<const wire::Key>(std::as_bytes(std::span(secret)));
}

std::shared_ptr<Store> store_at(const std::string& address, Encryption encryption,
                                std::shared_ptr<const wire::Key> key = cluster_key()) {
  return std::make_shared<Store>(wire::parse_addresses(address).value(), std::move(key), encryption);
}

Result<std::unique_ptr<StripedFile>> open(const std::shared_ptr<Store>& store, const std::string& path) {
  wire::Open request;
  request.path = path;
  request.mode = wire::OpenMode::kCreate;
  request.permissions = 0600;
  STRIA_ASSIGN_OR_RETURN(const wire::Opened opened, store->open(request));
  return std::make_unique<StripedFile>(store, path, opened, StripedFile::Opening{request.handle, true});
}

/// Writes the bytes and reads them back.
void work(const std::shared_ptr<Store>& store, const std::string& path, const std::vector<std::byte>& bytes) {
  const auto file = open(store, path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  STRIA_EXPECT_OK(write_all(**file, bytes));
  EXPECT_TRUE(read_all(**file) == bytes);
  STRIA_EXPECT_OK((*file)->close());
}

Cluster::Change with_key(bool encrypts) {
  return [=](ServerOptions& options) {
    options.key = cluster_key();
    options.encrypts = encrypts;
  };
}

/// A store of one server, whose bytes pass a proxy.
class Watched {
 public:
  explicit Watched(bool encrypts) {
    directory_ = testing::make_directory(testing::scratch_directory());
    ServerOptions options;
    options.directory = directory_;
    options.advertise = proxy.address();
    with_key(encrypts)(options);
    server_ = Server::start(options).value();
    proxy.connect_to(server_->listens_on());
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  UnrulyProxy proxy;

 private:
  std::string directory_;
  std::unique_ptr<Server> server_;
};

TEST(Encryption, WhatIsOnItsWayCantBeRead) {
  const std::string words = "these words stand in a file of the store";
  std::vector<std::byte> bytes;
  while (bytes.size() < 600000) {
    const auto more = std::as_bytes(std::span(words));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  for (const bool encrypts : {false, true}) {
    Watched watched(encrypts);
    watched.proxy.keep_all();
    work(store_at(watched.proxy.address(), Encryption::kAsServerWants), "/name-of-the-file", bytes);
    const std::string kept = watched.proxy.kept();
    EXPECT_GT(kept.size(), 2 * bytes.size());
    const std::string header = {'S', 'T', 'R', '1', static_cast<char>(wire::kVersion), '\0', '\x20'};
    for (const std::string& plain : {words.substr(0, 16), std::string("name-of-the-file"), header}) {
      EXPECT_EQ(kept.find(plain) == kept.npos, encrypts) << plain;
    }
  }
}

// The change lies behind the greetings. The sums of messages and data are sealed with them: only a
// seal can notice.
TEST(Encryption, WhatIsChangedOnItsWayIsNoticed) {
  Watched watched(true);
  const auto bytes = noise(300001, 6);
  int met = 0;
  for (const bool from_server : {false, true}) {
    const int64_t before = watched.proxy.bytes(from_server);
    work(store_at(watched.proxy.address(), Encryption::kAlways), "/quiet", bytes);
    const int64_t total = watched.proxy.bytes(from_server) - before;
    for (const int64_t at : {int64_t{1300}, int64_t{5000}, total / 5, total / 3, total / 2, total - 300, total - 20}) {
      SCOPED_TRACE("after " + std::to_string(at) + " of " + std::to_string(total) + " bytes");
      watched.proxy.plan(UnrulyProxy::Mischief::kFlip, from_server, at);
      work(store_at(watched.proxy.address(), Encryption::kAlways), "/changed" + std::to_string(at), bytes);
      met += watched.proxy.done() ? 1 : 0;
      watched.proxy.plan(UnrulyProxy::Mischief::kNone, from_server, 0);
    }
  }
  EXPECT_GE(met, 12);
}

TEST(Encryption, AStoreWorksAsWithout) {
  const Cluster cluster(3, with_key(true));
  const wire::Claim claim{wire::ClaimKind::kUserKey, {71001, 500, {}}, static_cast<uint64_t>(std::time(nullptr)) + 100};
  const auto users = std::make_shared<const wire::Key>(cluster_key()->for_claim(claim));
  const auto bytes = noise(5000003, 7);
  work(store_at(cluster.address(), Encryption::kAlways), "/by-the-cluster's", bytes);
  work(store_at(cluster.address(), Encryption::kAsServerWants, users), "/by-a-user's", bytes);
}

void expect_refused(const Status& outcome, const std::string& why) {
  EXPECT_EQ(outcome.code(), ErrorCode::kPermissionDenied);
  EXPECT_NE(outcome.message().find(why), std::string::npos) << outcome.message();
}

TEST(Encryption, WhereOneSideDoesNotWantToItIsToldSo) {
  const Cluster sealed(1, with_key(true));
  const Cluster plain(1, with_key(false));
  expect_refused(open(store_at(sealed.address(), Encryption::kNever), "/f").status(), "the server encrypts");
  expect_refused(open(store_at(sealed.address(), Encryption::kAsServerWants, nullptr), "/f").status(),
                 "the server wants the cluster's key");
  expect_refused(open(store_at(plain.address(), Encryption::kAlways), "/f").status(), "the server does not encrypt");
  work(store_at(plain.address(), Encryption::kAsServerWants), "/f", noise(100, 1));
  work(store_at(plain.address(), Encryption::kNever), "/f", noise(100, 1));
}

TEST(Encryption, AllServersOfAStoreEncryptOrNone) {
  for (const bool manager_encrypts : {false, true}) {
    const Cluster cluster(1, with_key(manager_encrypts));
    ServerOptions options;
    options.directory = cluster.data(0) + "-of-another";
    options.join = cluster.address();
    with_key(!manager_encrypts)(options);
    expect_refused(Server::start(options).status(), manager_encrypts ? "another server needs --encrypt" : "does not encrypt");
  }
}

TEST(Encryption, AServerNeedsAKeyForIt) {
  const Cluster cluster(1);
  ServerOptions keyless;
  keyless.directory = cluster.data(0) + "-of-another";
  keyless.encrypts = true;
  EXPECT_EQ(Server::start(keyless).status().code(), ErrorCode::kInvalidArgument);
}

// What goes through a Unix socket stays on the machine.
TEST(Encryption, AUnixSocketNeedsNone) {
  const Cluster cluster(1, with_key(true), true);
  work(store_at(cluster.address(), Encryption::kNever, nullptr), "/by-word", noise(1000, 2));
  work(store_at(cluster.address(), Encryption::kAlways), "/by-key", noise(1000, 3));
}

TEST(Encryption, TheEnvironmentSaysWhatAClientWants) {
  const auto wanted = [](const char* value) {
    setenv("STRIA_ENCRYPT", value, 1);
    const auto found = storage::encryption_from_environment();
    unsetenv("STRIA_ENCRYPT");
    return found;
  };
  EXPECT_EQ(wanted("1").value(), Encryption::kAlways);
  EXPECT_EQ(wanted("0").value(), Encryption::kNever);
  EXPECT_EQ(wanted("").value(), Encryption::kAsServerWants);
  EXPECT_EQ(storage::encryption_from_environment().value(), Encryption::kAsServerWants);
  for (const char* value : {"yes", "2", "10"}) {
    EXPECT_EQ(wanted(value).status().code(), ErrorCode::kInvalidArgument) << value;
  }
}

}  // namespace
}  // namespace stria::server
