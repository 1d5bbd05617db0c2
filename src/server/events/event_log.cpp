#include "server/events/event_log.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace stria::server {

namespace {

// Syslog's numbers of the levels.
constexpr std::array<int, 3> kSyslogLevels{6, 4, 3};

std::string time_of_day() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts = {};
  gmtime_r(&now.tv_sec, &parts);
  constexpr int kFirstYear = 1900;
  constexpr int kNsOfMs = 1000000;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + kFirstYear, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / kNsOfMs);
}

/// Makes one line of the text, whatever a path or a client has put into it.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char each : text) {
    line += static_cast<unsigned char>(each) < ' ' || each == '\x7f' ? '?' : each;
  }
  return line;
}

/// Puts the text in quotes. Bytes that are no ASCII stand for characters of that number, so that
/// every text is valid.
std::string json_text(std::string_view text) {
  constexpr unsigned char kFirstBeyondAscii = 0x7f;
  std::string out = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      out += '\\';
      out += each;
    } else if (byte < ' ' || byte >= kFirstBeyondAscii) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += each;
    }
  }
  return out + "\"";
}

}  // namespace

const char* level_name(Level level) {
  constexpr std::array<const char*, 3> kNames{"info", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

EventLog::Sink to_descriptor(int descriptor) {
  return [descriptor](const std::string& line) {
    // Nobody is left to be told where this fails.
    while (::write(descriptor, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  };
}

void EventLog::set_server(const std::string& address) {
  const std::lock_guard lock(mutex_);
  server_ = address;
}

std::string EventLog::line_of(const Event& event) const {
  const auto level = static_cast<size_t>(event.level);
  if (form_ == Form::kJson) {
    std::string line = fmt::format(R"({{"time":"{}","level":"{}","event":{},"server":{},"message":{})", time_of_day(),
                                   level_name(event.level), json_text(event.what), json_text(server_), json_text(event.text));
    for (const auto& [name, value] : event.facts) {
      line += fmt::format(",{}:{}", json_text(name), json_text(value));
    }
    return line + "}\n";
  }
  const std::string text = on_one_line(event.text);
  return form_ == Form::kJournal ? fmt::format("<{}>{}: {}\n", kSyslogLevels[level], event.what, text)
                                 : fmt::format("{} {} {} {}: {}\n", time_of_day(), server_.empty() ? "-" : server_,
                                               level_name(event.level), event.what, text);
}

void EventLog::end_window(std::string_view what, Window& window) {
  if (window.left_out > 0) {
    sink_(line_of({Level::kWarning, what, fmt::format("{} more lines of this kind were left out", window.left_out)}));
  }
  window = {};
}

void EventLog::tell(const Event& event) {
  ++counts_[static_cast<size_t>(event.level)];
  const std::lock_guard lock(mutex_);
  auto found = windows_.find(event.what);
  if (found == windows_.end()) {
    found = windows_.emplace(std::string(event.what), Window{}).first;
  }
  Window& window = found->second;
  const Clock::time_point now = now_();
  if (window.lines > 0 && now - window.begin >= kWindow) {
    end_window(event.what, window);
  }
  if (window.lines == 0) {
    window.begin = now;
  }
  if (window.lines >= kLinesOfKind) {
    ++window.left_out;
    ++left_out_;
    return;
  }
  ++window.lines;
  sink_(line_of(event));
}

void EventLog::tidy() {
  const std::lock_guard lock(mutex_);
  for (auto& [what, window] : windows_) {
    if (window.lines > 0 && now_() - window.begin >= kWindow) {
      end_window(what, window);
    }
  }
}

}  // namespace stria::server
