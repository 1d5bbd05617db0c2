// A server in a process of its own, which can be killed and started again at its address. A helper
// process without threads starts it, because forking is safe there.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "server/server.hpp"

namespace stria::server::testing {

class ServerProcess {
 public:
  /// Forks the helper, while the process has no threads yet.
  explicit ServerProcess(const std::string& directory) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    helper_ = fork();
    if (helper_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      help(directory, ends[1]);
    }
    ::close(ends[1]);
    channel_ = ends[0];
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    kill_server();
    ::close(channel_);
    waitpid(helper_, nullptr, 0);
  }

  /// `join`: the manager's address; empty: this is the manager.
  void start(const std::string& join = "", bool standby = false) {
    address_ = ask((standby ? "b" : "s") + address_ + " " + join);
  }
  void kill_server() { ask("k"); }
  const std::string& address() const { return address_; }

 private:
  std::string ask(const std::string& command) const {
    std::string answer(256, '\0');
    EXPECT_EQ(send(channel_, command.data(), command.size(), MSG_NOSIGNAL), static_cast<ssize_t>(command.size()));
    const ssize_t bytes = recv(channel_, answer.data(), answer.size(), 0);
    EXPECT_GT(bytes, 0);
    answer.resize(static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
    return answer;
  }

  [[noreturn]] static void help(const std::string& directory, int channel) {
    pid_t server = -1;
    std::string command(256, '\0');
    ssize_t bytes = 0;
    while ((bytes = recv(channel, command.data(), command.size(), 0)) > 0) {
      if (command[0] == 's' || command[0] == 'b') {
        const std::string words(command.data() + 1, static_cast<size_t>(bytes - 1));
        const size_t space = words.find(' ');
        const Start start{directory, words.substr(0, space), words.substr(space + 1), command[0] == 'b'};
        server = fork();
        if (server == 0) {
          prctl(PR_SET_PDEATHSIG, SIGKILL);
          serve(start, channel);
        }
        continue;  // the server itself answers
      }
      if (server > 0) {
        ::kill(server, SIGKILL);
        waitpid(server, nullptr, 0);
        server = -1;
      }
      send(channel, "k", 1, MSG_NOSIGNAL);
    }
    _exit(0);
  }

  struct Start {
    std::string directory;
    std::string address;
    std::string join;
    bool standby = false;
  };
  [[noreturn]] static void serve(const Start& start, int channel) {
    ServerOptions options;
    options.directory = start.directory;
    options.listen = start.address.empty() ? "127.0.0.1:0" : start.address;
    options.join = start.join;
    options.standby = start.standby;
    options.standby_patience = std::chrono::milliseconds(1500);
    const auto server = Server::start(options);
    const std::string answer = server.ok() ? (*server)->address() : server.status().message();
    send(channel, answer.data(), answer.size(), MSG_NOSIGNAL);
    while (true) {
      pause();
    }
  }

  pid_t helper_ = -1;
  int channel_ = -1;
  std::string address_;
};

}  // namespace stria::server::testing
