// Stores of which parts move in tests: clients that write to files beside copies in memory, servers
// in processes of their own, and commands that can be killed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/server_processes_test.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::tool::testing {

using storage::OpenOptions;
using storage::StripedDriver;
using Mode = OpenOptions::Mode;
using Bytes = std::vector<std::byte>;

inline constexpr std::pair<int64_t, int64_t> kSame{-1, 0};
inline constexpr int64_t kMostBytes = int64_t{6} << 20;

/// Returns where they begin to differ, and how many bytes of that 64 KiB do; -1 where they are the
/// same.
inline std::pair<int64_t, int64_t> difference(const Bytes& got, const Bytes& expected) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  if (a == got.end() && b == expected.end()) {
    return {-1, 0};
  }
  const auto begin = static_cast<size_t>(a - got.begin());
  const size_t end = std::min({got.size(), expected.size(), begin + (64 << 10)});
  int64_t differ = 0;
  for (size_t i = begin; i < end; ++i) {
    differ += got[i] != expected[i] ? 1 : 0;
  }
  return {static_cast<int64_t>(begin), differ};
}

/// Writes to a file, cuts it and reads it, beside a copy in memory.
class Writer {
 public:
  Writer(const std::string& url, uint64_t seed, OpenOptions options = {.mode = Mode::kCreate}) : url_(url), random_(seed) {
    options.striping.unit_bytes = 64 << 10;
    file_ = driver_.open(url, options).value();
  }
  /// Runs until the flag is set, and at least so many times.
  void run(const std::atomic<bool>& ends, int least) {
    for (int i = 0; (!ends || i < least) && !::testing::Test::HasFailure(); ++i) {
      step();
    }
    check();
  }
  void step() {
    const auto kind = random_() % 16;
    if (kind == 0) {
      model_.resize(random_() % kMostBytes);
      STRIA_EXPECT_OK(file_->resize(static_cast<int64_t>(model_.size())));
    } else if (kind == 1) {
      check();
    } else if (kind == 2) {
      STRIA_EXPECT_OK(file_->sync());
    } else {
      write();
    }
  }
  void check() {
    ASSERT_EQ(file_->size().value(), static_cast<int64_t>(model_.size())) << url_;
    ASSERT_EQ(difference(server::testing::read_all(*file_), model_), kSame) << url_;
  }
  const Bytes& model() const { return model_; }
  const std::string& url() const { return url_; }

 private:
  void write() {
    std::vector<storage::WriteSegment> segments;
    const size_t piece_bytes = 1 + random_() % (random_() % 2 == 0 ? 300 : 200000);
    const Bytes data = server::testing::noise(piece_bytes, random_());
    auto at = static_cast<int64_t>(random_() % (kMostBytes - 200000));
    for (size_t left = 1 + random_() % 12; left > 0 && at + 200000 < kMostBytes; --left) {
      segments.push_back({at, data.data(), static_cast<int64_t>(piece_bytes)});
      at += static_cast<int64_t>(piece_bytes + random_() % 100000);
    }
    const Status written = file_->write(segments);
    STRIA_EXPECT_OK(written);
    for (const auto& segment : segments) {
      model_.resize(std::max(model_.size(), static_cast<size_t>(segment.offset + segment.bytes)));
      std::memcpy(model_.data() + segment.offset, segment.data, static_cast<size_t>(segment.bytes));
    }
  }

  std::string url_;
  std::mt19937_64 random_;
  StripedDriver driver_;
  std::unique_ptr<storage::File> file_;
  Bytes model_;
};

inline std::string program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/stria";
}

/// A command of the program, which can be killed.
class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    words.insert(words.begin(), program());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { end(); }
  void end() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      wait();
    }
  }
  pid_t process() const { return process_; }
  int wait() {
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
};

inline int run(const std::vector<std::string>& words) {
  return Program(words).wait();
}

/// Servers in processes of their own, the first of them the manager at first.
class ProcessStore {
 public:
  /// `standby`: the second one is a standby.
  explicit ProcessStore(int count, bool standby = false)
      : directory_(server::testing::make_directory(server::testing::scratch_directory())) {
    for (int i = 0; i < count; ++i) {
      const std::string directory = directory_ + "/" + std::to_string(i);
      servers_.push_back(std::make_unique<server::testing::ServerProcess>(directory));
    }
    for (int i = 0; i < count; ++i) {
      start(i, standby && i == 1);
    }
  }
  ProcessStore(const ProcessStore&) = delete;
  ProcessStore& operator=(const ProcessStore&) = delete;
  ~ProcessStore() {
    // The later ones have the channels of those before them, too, and would keep these waiting.
    while (!servers_.empty()) {
      servers_.pop_back();
    }
    std::filesystem::remove_all(directory_);
  }
  std::string url() const { return "stria://" + address(); }
  /// One of the first two is the manager.
  std::string both() const { return url() + "," + address(1); }
  const std::string& address(int server = 0) const { return servers_[static_cast<size_t>(server)]->address(); }
  void start(int server, bool standby = false) {
    servers_[static_cast<size_t>(server)]->start(server == manager_ ? "" : address(manager_), standby);
  }
  void kill_server(int server) { servers_[static_cast<size_t>(server)]->kill_server(); }
  int manager() const { return manager_; }
  void set_manager(int server) { manager_ = server; }

 private:
  int manager_ = 0;
  std::string directory_;
  std::vector<std::unique_ptr<server::testing::ServerProcess>> servers_;
};

/// Cuts about half of the process's connections over TCP, whatever is on its way over them. What
/// was sent arrives, and answers do not.
inline void cut_connections(pid_t process, std::mt19937_64& random) {
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  std::error_code gone;
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(process) + "/fd", gone);
  for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    const int theirs = std::stoi(entry->path().filename().string());
    const auto socket = static_cast<int>(syscall(SYS_pidfd_getfd, handle, theirs, 0));
    sockaddr_storage peer = {};
    socklen_t bytes = sizeof peer;
    const bool is_connected = getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0;
    if (is_connected && peer.ss_family == AF_INET && random() % 2 == 0) {
      shutdown(socket, SHUT_RDWR);
    }
    ::close(socket);
  }
  ::close(handle);
}

}  // namespace stria::tool::testing
