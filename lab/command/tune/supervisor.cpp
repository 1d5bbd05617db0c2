#include "tune/supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>

#include "stria/status.hpp"
#include "tune/past.hpp"

namespace stria::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// A launcher has so long to end its ranks, and to do something else than wait for them.
constexpr int kGraceMs = 5000;
constexpr int kPollMs = 20;
/// A candidate may take so many times as long as the defaults, and at least so long, where the user
/// has set no limit.
constexpr double kLimitTimes = 4;
constexpr double kLeastLimitS = 1;
/// The defaults get this time beyond the budget, because they must end.
constexpr double kDefaultsS = 60;

/// A process whose output is read here.
class Job {
 public:
  explicit Job(std::vector<std::string> words) {
    std::vector<char*> raw;
    for (std::string& word : words) {
      raw.push_back(word.data());
    }
    raw.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      Status::from_errno(errno, "make a pipe").throw_if_error();
    }
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      ::dup2(ends[1], STDOUT_FILENO);
      ::execvp(raw[0], raw.data());
      _exit(127);
    }
    const int error = errno;
    ::close(ends[1]);
    output_ = ends[0];
    if (process_ < 0) {
      ::close(output_);
      Status::from_errno(error, "start the ranks").throw_if_error();
    }
  }
  ~Job() {
    end();
    ::close(output_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Returns the next line without its end; nothing at the end of the output, or when it is late.
  std::optional<std::string> line(std::optional<Clock::time_point> deadline, bool& late) {
    late = false;
    for (;;) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      int wait_ms = -1;
      if (deadline) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
        late = left <= 0;
        wait_ms = static_cast<int>(std::min<int64_t>(left, 60'000));
      }
      pollfd ready{output_, POLLIN, 0};
      if (late || (::poll(&ready, 1, wait_ms) > 0 && !take())) {
        return std::nullopt;
      }
    }
  }

  /// Waits; the exit status.
  int wait() {
    int state = 0;
    while (process_ > 0 && ::waitpid(process_, &state, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  }

  /// Ends it, whatever it does.
  void end() {
    if (process_ <= 0) {
      return;
    }
    ::kill(process_, SIGTERM);
    for (int waited_ms = 0; waited_ms < kGraceMs; waited_ms += kPollMs) {
      if (::waitpid(process_, nullptr, WNOHANG) == process_) {
        process_ = -1;
        return;
      }
      ::usleep(kPollMs * 1000);
    }
    ::kill(process_, SIGKILL);
    wait();
  }

 private:
  bool take() {
    std::array<char, 4096> some{};
    const ssize_t got = ::read(output_, some.data(), some.size());
    text_.append(some.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return got > 0 || (got < 0 && errno == EINTR);
  }

  pid_t process_ = -1;
  int output_ = -1;
  std::string text_;
};

/// A run under way.
struct Run {
  std::string key;
  std::string hints;
  double limit_s = 0;
  Clock::time_point begin;
};

class Supervisor {
 public:
  Supervisor(const std::vector<std::string>& command, const TimeLimits& limits) : command_(command), limits_(limits) {}

  int run() {
    for (;;) {
      std::vector<std::string> words = command_;
      words.push_back(std::string(kPastOption) + "=" + in_a_word(past_, elapsed()));
      Job job(std::move(words));
      if (watch(job)) {
        return job.wait();
      }
      job.end();
      give_up();
    }
  }

 private:
  double limit_s(const std::string& key) const {
    if (key == kDefaultsKey) {
      return limits_.budget_s + kDefaultsS;
    }
    return limits_.candidate_s > 0 ? limits_.candidate_s : std::max(kLeastLimitS, kLimitTimes * slowest_default_s_);
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  // True when the job has ended by itself, false when a run is late.
  bool watch(Job& job) {
    for (;;) {
      std::optional<Clock::time_point> deadline;
      if (run_) {
        deadline = run_->begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(run_->limit_s));
      }
      bool late = false;
      const auto line = job.line(deadline, late);
      if (!line) {
        return !late;
      }
      if (line->rfind(kToWatcher, 0) == 0) {
        take(line->substr(std::string(kToWatcher).size()));
      } else {
        fmt::print("{}\n", *line);
        std::fflush(stdout);
      }
    }
  }

  // Takes "place PATH", "begin KEY HINTS" or "done SECONDS".
  void take(const std::string& message) {
    std::istringstream words(message);
    std::string what;
    words >> what;
    if (what == "place") {
      std::getline(words >> std::ws, place_);
    } else if (what == "begin") {
      run_.emplace();
      words >> run_->key;
      std::getline(words >> std::ws, run_->hints);
      run_->limit_s = limit_s(run_->key);
      run_->begin = Clock::now();
    } else if (what == "done" && run_) {
      std::string seconds;
      words >> seconds;
      if (run_->key == kDefaultsKey) {
        const std::chrono::duration<double> took = Clock::now() - run_->begin;
        slowest_default_s_ = std::max(slowest_default_s_, took.count());
      }
      past_.push_back({run_->key, std::stod(seconds), elapsed()});
      run_.reset();
    }
  }

  void give_up() {
    // The ranks made the directory for their files.
    std::error_code ignored;
    if (!place_.empty()) {
      std::filesystem::remove_all(place_, ignored);
    }
    if (run_->key == kDefaultsKey) {
      throw Error(ErrorCode::kIo, fmt::format("a run with the default hints isn't over after {:.1f} s", run_->limit_s));
    }
    fmt::print("  {:5.1f} s: given up after {:.1f} s: {}\n", elapsed(), run_->limit_s, run_->hints);
    std::fflush(stdout);
    past_.push_back({run_->key, std::numeric_limits<double>::infinity(), elapsed()});
    run_.reset();
  }

  const std::vector<std::string>& command_;
  const TimeLimits& limits_;
  double slowest_default_s_ = 0;
  const Clock::time_point begin_ = Clock::now();
  std::vector<PastRun> past_;
  std::optional<Run> run_;
  std::string place_;
};

}  // namespace

int supervise(const std::vector<std::string>& command, const TimeLimits& limits) {
  return Supervisor(command, limits).run();
}

}  // namespace stria::tool
