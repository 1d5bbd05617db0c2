// Programs that make files notice nothing but a wait when a standby takes over, or when the manager
// is started again: also where no part of a new file lies on the manager's own server.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/standby_processes_test.hpp"
#include "storage/striped/file_states.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;
using testing::ask;
using testing::comes_in_step;
using testing::comes_true;
using testing::noise;
using testing::promote_soon;
using testing::read_all;
using testing::StandbyProcesses;
using testing::write_all;
using Mode = storage::OpenOptions::Mode;

/// Makes files, one after another, until it ends; nothing of that may fail.
class Maker {
 public:
  /// Each file has to lie on so many servers at least.
  Maker(std::string url, int64_t servers) : url_(std::move(url)), servers_(servers), thread_([this] { work(); }) {}
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
  ~Maker() { end(); }

  void end() {
    ends_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  bool makes_more(int files = 20) {
    const int before = made_;
    return comes_true([&] { return made_ > before + files; });
  }
  void check() {
    end();
    EXPECT_EQ(failures_, std::vector<std::string>());
    EXPECT_EQ(driver_.list_directory(url_).value().size(), static_cast<size_t>(made_));
    for (int i = 0; i < made_; ++i) {
      EXPECT_EQ(read_all(*driver_.open(name_of(i), {}).value()), content_of(i)) << i;
    }
  }

 private:
  std::string name_of(int i) const { return url_ + "f" + std::to_string(i); }
  static std::vector<std::byte> content_of(int i) { return noise(40000, static_cast<uint64_t>(i)); }

  void work() {
    while (!ends_) {
      if (const Status made = make_one(); !made.ok()) {
        failures_.push_back(name_of(made_) + ": " + made.message());
      }
      ++made_;
    }
  }
  Status make_one() {
    const std::string name = name_of(made_);
    storage::OpenOptions options{.mode = Mode::kCreateNew};
    options.striping.unit_bytes = 4096;
    STRIA_ASSIGN_OR_RETURN(const auto file, driver_.open(name, options));
    const std::vector<std::byte> content = content_of(made_);
    STRIA_RETURN_IF_ERROR(write_all(*file, content));
    if (file->capabilities().stripe_count < servers_) {
      return Status(ErrorCode::kInternal, "it is on " + std::to_string(file->capabilities().stripe_count) + " servers");
    }
    STRIA_RETURN_IF_ERROR(made_ % 8 == 0 ? file->sync() : Status());
    STRIA_RETURN_IF_ERROR(check_size(name, static_cast<int64_t>(content.size())));
    return file->close();
  }
  /// Checks as `ls -l` does, here and in a mount.
  Status check_size(const std::string& name, int64_t bytes) {
    const std::string address = url_.substr(8, url_.size() - 9);  // without stria:// and the slash
    STRIA_ASSIGN_OR_RETURN(const auto store, storage::Store::at(address));
    STRIA_ASSIGN_OR_RETURN(const auto looked, storage::look(*store, {name.substr(url_.size() - 1), true}));
    const wire::Opened place = wire::place_of(looked.state, looked.places);
    storage::StatesAsker asker;
    const storage::FileState state = storage::states_of_files(store, {&place, 1}, asker).front();
    STRIA_RETURN_IF_ERROR(state.trouble.with_context("its size"));
    return state.bytes == bytes ? Status() : Status(ErrorCode::kInternal, "its size is " + std::to_string(state.bytes));
  }

  std::string url_;
  int64_t servers_;
  storage::StripedDriver driver_;
  std::vector<std::string> failures_;
  std::atomic<int> made_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

class Takeover : public StandbyProcesses {
 protected:
  /// New files go to the other servers alone.
  void close_to_new_files() {
    for (const int64_t server : {0, 1}) {
      STRIA_EXPECT_OK(ask(manager_.address(), wire::Kind::kNewFiles, wire::encode(wire::NewFiles{server, false})).status());
    }
  }
  void restart_manager(int times) {
    for (int i = 0; i < times; ++i) {
      manager_.kill_server();
      std::this_thread::sleep_for(milliseconds(200 + 700 * i));
      manager_.start();
      EXPECT_TRUE(maker_->makes_more());
    }
  }
  void make_files(int64_t servers) { maker_ = std::make_unique<Maker>(both() + "/", servers); }

  std::unique_ptr<Maker> maker_;
};

TEST_F(Takeover, FilesElsewhereAreMadeWhenTheManagerIsStartedAgain) {
  start_all();
  close_to_new_files();
  make_files(2);
  EXPECT_TRUE(maker_->makes_more());
  restart_manager(3);
  maker_->check();
}

TEST_F(Takeover, FilesLieOnAllServersWhenTheManagerIsStartedAgain) {
  start_all();
  make_files(4);
  EXPECT_TRUE(maker_->makes_more());
  restart_manager(2);
  maker_->check();
}

TEST_F(Takeover, FilesElsewhereAreMadeWhenAStandbyTakesOver) {
  start_all();
  close_to_new_files();
  make_files(2);
  EXPECT_TRUE(maker_->makes_more());
  STRIA_EXPECT_OK(promote_soon(standby_.address()));
  EXPECT_TRUE(maker_->makes_more(50));
  maker_->check();
}

TEST_F(Takeover, FilesElsewhereAreMadeWhenTheManagerIsLost) {
  start_all();
  close_to_new_files();
  make_files(2);
  EXPECT_TRUE(maker_->makes_more());
  manager_.kill_server();
  STRIA_EXPECT_OK(promote_soon(standby_.address()));
  EXPECT_TRUE(maker_->makes_more(50));
  maker_->check();
}

TEST_F(Takeover, WhatWasLookedUpBeforeIsKnownAfterwards) {
  start_all();
  const auto file = driver_.open(both() + "/before", {.mode = Mode::kCreateNew}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(5000, 1)));
  const auto store = storage::Store::at(both().substr(8)).value();
  const wire::Looked looked = storage::look(*store, {"/before", true}).value();
  STRIA_EXPECT_OK(promote_soon(standby_.address()));
  const wire::Opened place = wire::place_of(looked.state, looked.places);
  storage::StatesAsker asker;
  const storage::FileState state = storage::states_of_files(store, {&place, 1}, asker).front();
  STRIA_EXPECT_OK(state.trouble);
  EXPECT_EQ(state.bytes, 5000);
  EXPECT_EQ(storage::state_of_file(store, place)->bytes, 5000);
  wire::Opened forged = place;
  ++forged.file;
  EXPECT_FALSE(storage::state_of_file(store, forged).ok()) << "there is no such file";
}

/// Returns how long it takes.
std::chrono::milliseconds time_of(const std::function<void()>& work) {
  const auto begin = storage::Clock::now();
  work();
  return std::chrono::duration_cast<milliseconds>(storage::Clock::now() - begin);
}

TEST(ManagerThatStarts, DoesntWaitLongForServersThatAreGone) {
  testing::Cluster cluster(3);
  storage::StripedDriver driver;
  storage::OpenOptions there{.mode = Mode::kCreate};
  there.striping = {.server_count = 1, .first_server = 0};
  STRIA_EXPECT_OK(driver.open(cluster.url() + "/f", there).status());
  STRIA_EXPECT_OK(ask(cluster.address(), wire::Kind::kNewFiles, wire::encode(wire::NewFiles{0, false})).status());
  const auto make = [&](const char* name) { return driver.open(cluster.url() + name, {.mode = Mode::kCreateNew}); };
  cluster.stop(1);
  cluster.stop(0);
  cluster.start(0);
  EXPECT_LT(time_of([&] { STRIA_EXPECT_OK(driver.open(cluster.url() + "/f", there).status()); }), milliseconds(1500))
      << "it is there already";
  EXPECT_LT(time_of([&] { EXPECT_EQ(make("/g").value()->capabilities().stripe_count, 1); }), milliseconds(8000));
  EXPECT_LT(time_of([&] { STRIA_EXPECT_OK(make("/h").status()); }), milliseconds(1500)) << "once is enough";
  cluster.stop(2);
  cluster.stop(0);
  cluster.start(0);
  EXPECT_LT(time_of([&] {
              const Status refused = make("/i").status();
              EXPECT_NE(refused.message().find("no server of this store takes new files"), std::string::npos)
                  << refused.message();
            }),
            milliseconds(20000));
}

}  // namespace
}  // namespace stria::server
