// A store as a file system: times, links, several names of a file, attributes, and many files'
// sizes at once.
#include "wire/tree.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <utility>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "storage/striped/file_states.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using storage::OpenOptions;
using storage::StripedDriver;
using testing::Cluster;
using testing::noise;
using testing::read_all;
using testing::write_all;
using wire::Kind;
using Mode = OpenOptions::Mode;

class TreeTest : public ::testing::Test {
 protected:
  void put(const std::string& name, size_t bytes) {
    const auto file = driver_.open(cluster_.url() + name, {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(write_all(*file, noise(bytes, bytes)));
  }
  std::vector<std::byte> content(const std::string& name) {
    return read_all(*driver_.open(cluster_.url() + name, {.mode = Mode::kRead}).value());
  }
  Status open_status(const std::string& name) { return driver_.open(cluster_.url() + name, {.mode = Mode::kRead}).status(); }
  template <typename Request>
  Status ask(Kind kind, const Request& request) {
    return store_->ask_manager(kind, wire::encode(request)).status();
  }
  wire::NameState look(const std::string& name, bool follow = false) {
    return storage::look(*store_, {name, follow}).value().state;
  }
  storage::FileState servers_state(const std::string& name) {
    const auto looked = storage::look(*store_, {name, true}).value();
    const wire::Opened place = wire::place_of(looked.state, looked.places);
    storage::StatesAsker asker;
    return states_of_files(store_, {&place, 1}, asker).front();
  }
  int64_t format_of_names() {
    cluster_.stop(0);
    sqlite3* database = nullptr;
    sqlite3_stmt* query = nullptr;
    sqlite3_open((cluster_.directory(0) + "/names.sqlite").c_str(), &database);
    sqlite3_prepare_v2(database, "SELECT value FROM meta WHERE key = 'format'", -1, &query, nullptr);
    const int64_t format = sqlite3_step(query) == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    sqlite3_close(database);
    cluster_.start(0);
    return format;
  }

  Cluster cluster_{3};
  StripedDriver driver_;
  std::shared_ptr<storage::Store> store_ = storage::Store::at(cluster_.address()).value();
};

TEST_F(TreeTest, SymbolicLinksAreFollowedWhereverTheyStand) {
  put("/real/below/file", 100'000);
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/one", "real"}));
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/real/two", "../one/below/./file"}));
  EXPECT_EQ(content("/one/two"), noise(100'000, 100'000));
  EXPECT_EQ(look("/one/two").kind, wire::NameKind::kLink);
  EXPECT_EQ(look("/one/two").target, "../one/below/./file");
  EXPECT_EQ(look("/one/two", true).number, look("/real/below/file").number);
  const auto resolved = store_->ask_manager(Kind::kResolve, wire::encode(wire::Path{"/one/two"}));
  EXPECT_EQ(wire::decode<wire::Path>(*resolved)->path, "/real/below/file");
  EXPECT_EQ(ask(Kind::kMakeLink, wire::NewLink{"/one", "again"}).code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(ask(Kind::kMakeLink, wire::NewLink{"/none", ""}).code(), ErrorCode::kInvalidArgument);
}

TEST_F(TreeTest, LinksThatLeadNowhereAreErrors) {
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/loop", "loop"}));
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/machine", "/etc/hostname"}));
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/out", "../etc"}));
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/dangling", "later"}));
  EXPECT_NE(open_status("/loop").message().find("too many levels"), std::string::npos);
  EXPECT_NE(open_status("/machine").message().find("a path of a machine"), std::string::npos);
  EXPECT_NE(open_status("/out").message().find("out of the store"), std::string::npos);
  EXPECT_EQ(open_status("/dangling").code(), ErrorCode::kNotFound);
  EXPECT_EQ(driver_.open(cluster_.url() + "/dangling", {.mode = Mode::kCreateNew}).status().code(), ErrorCode::kAlreadyExists);
  put("/dangling", 5000);
  EXPECT_EQ(content("/later"), noise(5000, 5000)) << "made through the link";
  EXPECT_EQ(look("/dangling").kind, wire::NameKind::kLink);
}

TEST_F(TreeTest, WhatReplacesALinkedFileLeavesTheLink) {
  put("/real", 100);
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/link", "real"}));
  EXPECT_EQ(driver_.find_destination(cluster_.url() + "/link")->path, cluster_.url() + "/real");
  EXPECT_EQ(driver_.find_destination(cluster_.url() + "/real")->path, cluster_.url() + "/real");
  STRIA_EXPECT_OK(driver_.rename(cluster_.url() + "/link", cluster_.url() + "/moved"));
  EXPECT_EQ(look("/moved").kind, wire::NameKind::kLink);
  STRIA_EXPECT_OK(driver_.remove(cluster_.url() + "/moved"));
  EXPECT_EQ(content("/real").size(), 100U);
}

TEST_F(TreeTest, AFileLivesAsLongAsItHasAName) {
  put("/first", 200'000);
  STRIA_EXPECT_OK(ask(Kind::kLinkName, wire::NewLink{"/second", "/first"}));
  EXPECT_EQ(look("/first").names, 2U);
  EXPECT_EQ(look("/first").number, look("/second").number);
  STRIA_EXPECT_OK(driver_.rename(cluster_.url() + "/first", cluster_.url() + "/second"));
  EXPECT_EQ(look("/first").names, 2U) << "two names of one file stay";
  STRIA_EXPECT_OK(driver_.remove(cluster_.url() + "/first"));
  cluster_.stop(0);
  cluster_.start(0);
  EXPECT_EQ(look("/second").names, 1U);
  EXPECT_EQ(content("/second"), noise(200'000, 200'000));
  put("/other", 10);
  STRIA_EXPECT_OK(ask(Kind::kLinkName, wire::NewLink{"/third", "/second"}));
  STRIA_EXPECT_OK(driver_.rename(cluster_.url() + "/other", cluster_.url() + "/second"));
  EXPECT_EQ(content("/third").size(), 200'000U) << "replacing one of its names leaves the file";
  EXPECT_EQ(ask(Kind::kLinkName, wire::NewLink{"/new", "/"}).code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(ask(Kind::kLinkName, wire::NewLink{"/new", "/none"}).code(), ErrorCode::kNotFound);
}

// The manager knows the way to the names that were asked for last, until it changes.
TEST_F(TreeTest, AWayThatHasChangedIsGoneAnew) {
  const auto is_missing = [&](const std::string& name) {
    return storage::look(*store_, {name, false}).status().code() == ErrorCode::kNotFound;
  };
  put("/a/b/one", 100);
  EXPECT_TRUE(is_missing("/a/b/none"));
  STRIA_EXPECT_OK(ask(Kind::kRename, wire::Rename{"/a/b", "/a/c"}));
  EXPECT_TRUE(is_missing("/a/b/one"));
  EXPECT_EQ(content("/a/c/one").size(), 100U);
  EXPECT_TRUE(is_missing("/a/c/none"));
  STRIA_EXPECT_OK(ask(Kind::kRename, wire::Rename{"/a", "/z"}));
  EXPECT_TRUE(is_missing("/a/c/one")) << "a directory above has another name";
  put("/a/c/two", 200);
  EXPECT_TRUE(is_missing("/z/c/two"));
  EXPECT_TRUE(is_missing("/a/c/one"));
  STRIA_EXPECT_OK(ask(Kind::kRemove, wire::Path{"/a/c/two"}));
  EXPECT_TRUE(is_missing("/a/c/two"));
  STRIA_EXPECT_OK(ask(Kind::kRemove, wire::Path{"/a/c"}));
  EXPECT_TRUE(is_missing("/a/c/three"));
  EXPECT_EQ(driver_.open(cluster_.url() + "/a/c", {.mode = Mode::kRead}).status().code(), ErrorCode::kNotFound);
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/a/c", "../z/c"}));
  EXPECT_EQ(content("/a/c/one").size(), 100U) << "where the directory was, a link is";
  // What a request made on its way, and undid as it failed.
  EXPECT_EQ(ask(Kind::kRename, wire::Rename{"/z/c/one", "/new/" + std::string(5, 'x') + "/z/../q"}).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(is_missing("/new/xxxxx/none"));
  EXPECT_TRUE(is_missing("/new"));
  put("//a/./c//four", 300);
  EXPECT_EQ(content("/z/c/four").size(), 300U);
}

TEST_F(TreeTest, EarlierManagersRefuseNamesWithLinks) {
  EXPECT_EQ(format_of_names(), 2);
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/link", "anywhere"}));
  EXPECT_EQ(format_of_names(), 3);
  EXPECT_EQ(look("/link").target, "anywhere") << "this one takes it";
}

TEST_F(TreeTest, TimesThatAreSetHoldUntilTheNextWrite) {
  put("/file", 300'000);
  const auto set = [&](int64_t ns) {
    wire::Change change;
    change.what = {"/file", true};
    change.modified = {wire::TimeChange::How::kGiven, ns};
    change.accessed = {wire::TimeChange::How::kGiven, -5};
    change.written_ns = servers_state("/file").modified_ns;
    return ask(Kind::kChange, change);
  };
  const int64_t written = servers_state("/file").modified_ns;
  EXPECT_EQ(look("/file").times.modified(written), written);
  STRIA_EXPECT_OK(set(1'000'000'007));
  EXPECT_EQ(look("/file").times.modified(servers_state("/file").modified_ns), 1'000'000'007);
  EXPECT_EQ(look("/file").times.accessed(written), -5);
  EXPECT_GE(look("/file").times.changed(0), written);
  put("/file", 300'000);
  const int64_t later = servers_state("/file").modified_ns;
  EXPECT_GT(later, written);
  EXPECT_EQ(look("/file").times.modified(later), later);
}

TEST_F(TreeTest, DirectoriesHaveTheTimeOfTheirNames) {
  STRIA_EXPECT_OK(ask(Kind::kMakeDirectory, wire::NewDirectory{"/directory", 0755}));
  int64_t before = look("/directory").times.modified(0);
  const auto moves_on = [&] {
    const int64_t now = look("/directory").times.modified(0);
    return std::exchange(before, now) < now;
  };
  put("/directory/file", 10);
  EXPECT_TRUE(moves_on());
  put("/directory/file", 20);
  EXPECT_FALSE(moves_on()) << "its content is no name";
  STRIA_EXPECT_OK(driver_.rename(cluster_.url() + "/directory/file", cluster_.url() + "/directory/moved"));
  EXPECT_TRUE(moves_on());
  STRIA_EXPECT_OK(driver_.remove(cluster_.url() + "/directory/moved"));
  EXPECT_TRUE(moves_on());
}

TEST_F(TreeTest, AttributesStayWithTheirFile) {
  using How = wire::SetAttribute::How;
  put("/file", 10);
  const auto set = [&](How how, const std::string& name, const std::string& value) {
    return ask(Kind::kSetAttribute, wire::SetAttribute{{"/file", true}, how, name, value});
  };
  const auto get = [&](const std::string& name) {
    const auto reply = store_->ask_manager(Kind::kGetAttribute, wire::encode(wire::GetAttribute{{"/file", true}, name}));
    return wire::decode<wire::UserAttributes>(reply.value()).value().entries;
  };
  STRIA_EXPECT_OK(set(How::kCreate, "user.one", "1"));
  EXPECT_EQ(set(How::kCreate, "user.one", "2").code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(set(How::kReplace, "user.two", "2").code(), ErrorCode::kNotFound);
  STRIA_EXPECT_OK(set(How::kAny, "user.two", std::string(60'000, 'v')));
  EXPECT_EQ(set(How::kAny, "user.three", std::string(6'000, 'v')).code(), ErrorCode::kNoSpace);
  STRIA_EXPECT_OK(set(How::kReplace, "user.two", "small"));
  EXPECT_EQ(get("").size(), 2U);
  EXPECT_EQ(get("user.two").at(0).value, "small");
  STRIA_EXPECT_OK(set(How::kRemove, "user.two", ""));
  EXPECT_EQ(set(How::kRemove, "user.two", "").code(), ErrorCode::kNotFound);
  STRIA_EXPECT_OK(driver_.remove(cluster_.url() + "/file"));
  put("/file", 10);
  EXPECT_TRUE(get("").empty()) << "of another file";
}

TEST_F(TreeTest, ADirectoryIsLookedAtAsAWhole) {
  constexpr int kFiles = 300;
  for (int i = 0; i < kFiles; ++i) {
    put("/many/" + std::to_string(i), static_cast<size_t>(i) * 1000);
  }
  STRIA_EXPECT_OK(ask(Kind::kMakeLink, wire::NewLink{"/many/link", "0"}));
  const auto page = storage::look_all(*store_, {"/many", ""}).value();
  ASSERT_EQ(page.entries.size(), kFiles + 1U);
  EXPECT_FALSE(page.more);
  std::vector<wire::Opened> places;
  for (const auto& entry : page.entries) {
    places.push_back(wire::place_of(entry.state, page.places));
  }
  storage::StatesAsker asker;
  const auto states = states_of_files(store_, places, asker);
  for (size_t i = 0; i < states.size(); ++i) {
    const bool is_link = page.entries[i].state.kind == wire::NameKind::kLink;
    const int64_t expected = is_link ? 0 : std::stoll(page.entries[i].name) * 1000;
    STRIA_EXPECT_OK(states[i].trouble);
    EXPECT_EQ(states[i].bytes, expected) << page.entries[i].name;
    EXPECT_GE(states[i].allocated_bytes, expected);
  }
  EXPECT_EQ(storage::look_all(*store_, {"/many", "link"})->entries.size(), 0U);
}

TEST_F(TreeTest, HolesTakeNoSpace) {
  {
    const auto file = driver_.open(cluster_.url() + "/sparse", {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(file->resize(50'000'000));
  }
  EXPECT_EQ(servers_state("/sparse").bytes, 50'000'000);
  EXPECT_LT(servers_state("/sparse").allocated_bytes, 1'000'000);
}

TEST_F(TreeTest, OtherServersTellWhatTheyKnow) {
  put("/file", 1'000'000);
  const auto looked = storage::look(*store_, {"/file", true}).value();
  const wire::Opened place = wire::place_of(looked.state, looked.places);
  cluster_.stop(2);
  storage::StatesAsker asker{std::chrono::milliseconds(500)};
  const auto state = states_of_files(store_, {&place, 1}, asker).front();
  EXPECT_EQ(state.trouble.code(), ErrorCode::kIo);
  EXPECT_GT(state.bytes, 0);
  EXPECT_LE(state.bytes, 1'000'000);
  EXPECT_EQ(asker.silent.size(), 1U);
  const auto begin = storage::Clock::now();
  EXPECT_FALSE(states_of_files(store_, {&place, 1}, asker).front().trouble.ok());
  EXPECT_LT(storage::Clock::now() - begin, std::chrono::seconds(5)) << "the silent one isn't asked again";
}

}  // namespace
}  // namespace stria::server
