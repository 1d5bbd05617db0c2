// Credentials of a munged that the test starts. Skipped where none is installed.
#include "wire/trust/munge.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace stria::wire {
namespace {

constexpr const char* kProgram = "/usr/sbin/munged";

class Munged {
 public:
  Munged() {
    std::string pattern = ::testing::TempDir() + "/stria-munge-XXXXXX";
    directory_ = mkdtemp(pattern.data()) == nullptr ? "" : pattern;
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    Nonce key;
    randomise(key);
    std::ofstream(at("key"), std::ios::binary).write(reinterpret_cast<const char*>(key.data()), sizeof key);
    std::filesystem::permissions(at("key"), std::filesystem::perms(0600));
    process_ = fork();
    if (process_ == 0) {
      run();
    }
    for (int i = 0; i < 1000 && !std::filesystem::exists(at("socket")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    setenv("STRIA_MUNGE_SOCKET", at("socket").c_str(), 1);
  }
  Munged(const Munged&) = delete;
  Munged& operator=(const Munged&) = delete;
  ~Munged() {
    unsetenv("STRIA_MUNGE_SOCKET");
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(directory_);
  }

 private:
  std::string at(const std::string& name) const { return directory_ + "/" + name; }
  [[noreturn]] void run() const {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int output = open(at("output").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    const std::string key = "--key-file=" + at("key");
    const std::string log = "--log-file=" + at("log");
    const std::string pid = "--pid-file=" + at("pid");
    const std::string seed = "--seed-file=" + at("seed");
    const std::string socket = "--socket=" + at("socket");
    execl(kProgram, kProgram, "--foreground", key.c_str(), log.c_str(), pid.c_str(), seed.c_str(), socket.c_str(), nullptr);
    _exit(1);
  }

  std::string directory_;
  pid_t process_ = -1;
};

TEST(Munge, ACredentialIsGoodOnceForOneProof) {
  if (access(kProgram, X_OK) != 0 || !Munge::load().ok()) {
    GTEST_SKIP() << "no munged here (Debian: munge)";
  }
  const Munged daemon;
  const auto munge = Munge::load().value();
  const Status works = munge->check();
  ASSERT_TRUE(works.ok()) << works.message();
  Proof proof;
  randomise(proof);
  const std::string credential = munge->seal(proof).value();
  const auto user = munge->open(credential, proof);
  ASSERT_TRUE(user.ok()) << user.status().message();
  EXPECT_EQ(user->uid, geteuid());
  EXPECT_EQ(user->gid, getegid());
  EXPECT_EQ(munge->open(credential, proof).status().code(), ErrorCode::kPermissionDenied) << "it was opened before";
  Proof other = proof;
  other[0] ^= std::byte{1};
  EXPECT_EQ(munge->open(munge->seal(proof).value(), other).status().code(), ErrorCode::kPermissionDenied);
  std::string forged = munge->seal(proof).value();
  forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(munge->open(forged, proof).status().code(), ErrorCode::kPermissionDenied);
  for (const char* none : {"", "MUNGE:", "MUNGE:AwQ=:", "word"}) {
    EXPECT_EQ(munge->open(none, proof).status().code(), ErrorCode::kPermissionDenied) << none;
  }
}

TEST(Munge, WithoutTheDaemonItSaysSo) {
  if (!Munge::load().ok()) {
    GTEST_SKIP() << "no libmunge here (Debian: libmunge2)";
  }
  setenv("STRIA_MUNGE_SOCKET", "/nowhere/socket", 1);
  const auto munge = Munge::load().value();
  unsetenv("STRIA_MUNGE_SOCKET");
  const Status refused = munge->check();
  EXPECT_EQ(refused.code(), ErrorCode::kUnsupported);
  EXPECT_NE(refused.message().find("munged doesn't answer"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("/nowhere/socket"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace stria::wire
