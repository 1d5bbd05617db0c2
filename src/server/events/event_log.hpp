// Describes what a server tells about itself while it runs: a line for each event, for a file, for
// systemd's journal, or for a program (JSON).
//
// Problem: one bad disk or one strange client makes thousands of errors a second, which would bury
// everything else and fill the disk.
// Method: each kind of event has so many lines a minute. What is beyond is counted, and the count
// is told when the minute is over.
// Cost: a lock and a system call for a line that is written; a lock for one that isn't.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stria::server {

enum class Level : uint8_t { kInfo, kWarning, kError };

/// Returns "info", "warning" or "error".
const char* level_name(Level level);

struct Event {
  Level level = Level::kInfo;
  std::string_view what;  ///< its kind, a word such as disk_error; a literal
  std::string text;       ///< a sentence: what happened and why
  /// Further facts by name, for programs: which client, which server.
  std::vector<std::pair<std::string_view, std::string>> facts = {};
};

/// This is thread-safe.
class EventLog {
 public:
  enum class Form : uint8_t {
    kText,     ///< time, level, kind, sentence
    kJournal,  ///< with the level as syslog numbers it in front, and no time: systemd has its own
    kJson,     ///< an object
  };
  using Sink = std::function<void(const std::string& line)>;
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  static constexpr int kLinesOfKind = 20;
  static constexpr std::chrono::seconds kWindow{60};

  /// Each line goes to `sink`, with its line end. `server` is the directory's or the address's name
  /// in JSON.
  EventLog(
      Form form, Sink sink, Now now = [] { return Clock::now(); })
      : form_(form), sink_(std::move(sink)), now_(std::move(now)) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Sets the address of the server that the lines are of.
  void set_server(const std::string& address);
  void tell(const Event& event);
  /// Tells how many lines were left out, once their time is over. Must be called now and then.
  void tidy();

  int64_t count(Level level) const { return counts_[static_cast<size_t>(level)]; }
  int64_t left_out() const { return left_out_; }

 private:
  struct Window {
    Clock::time_point begin;
    int lines = 0;
    int64_t left_out = 0;
  };
  std::string line_of(const Event& event) const;
  void end_window(std::string_view what, Window& window);

  Form form_;
  Sink sink_;
  Now now_;
  std::mutex mutex_;
  std::string server_;
  std::map<std::string, Window, std::less<>> windows_;
  std::atomic<int64_t> counts_[3] = {};
  std::atomic<int64_t> left_out_ = 0;
};

/// Writes lines to a descriptor, each by one call, so that those of several servers don't mix.
EventLog::Sink to_descriptor(int descriptor);

}  // namespace stria::server
