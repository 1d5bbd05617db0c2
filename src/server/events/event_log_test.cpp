// Lines of events: one each, on one line whatever it says, and not more than so many a minute.
#include "server/events/event_log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stria::server {
namespace {

class EventLogs : public ::testing::Test {
 protected:
  std::unique_ptr<EventLog> make(EventLog::Form form) {
    return std::make_unique<EventLog>(
        form, [this](const std::string& line) { lines_.push_back(line); }, [this] { return now_; });
  }
  std::vector<std::string> lines_;
  EventLog::Clock::time_point now_ = EventLog::Clock::now();
};

TEST_F(EventLogs, TextHasTimeServerLevelAndKind) {
  const auto log = make(EventLog::Form::kText);
  log->set_server("h:7700");
  log->tell({Level::kError, "disk_error", "read\n'/x' failed"});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].substr(lines_[0].find(' ')), " h:7700 error disk_error: read?'/x' failed\n");
  EXPECT_EQ(lines_[0].find('Z'), std::string("2026-11-27T18:40:00.000Z").size() - 1);
}

TEST_F(EventLogs, TheJournalGetsTheLevelAsSyslogNumbersIt) {
  const auto log = make(EventLog::Form::kJournal);
  log->tell({Level::kInfo, "started", "a"});
  log->tell({Level::kWarning, "refused", "b"});
  log->tell({Level::kError, "disk_error", "c"});
  EXPECT_EQ(lines_, (std::vector<std::string>{"<6>started: a\n", "<4>refused: b\n", "<3>disk_error: c\n"}));
}

TEST_F(EventLogs, JsonIsValidWhateverItSays) {
  const auto log = make(EventLog::Form::kJson);
  log->set_server("h:1");
  log->tell({Level::kWarning, "refused", "a \"quoted\" \\ \n\x01 \xff", {{"client", "10.0.0.1:5"}}});
  ASSERT_EQ(lines_.size(), 1u);
  const auto object = nlohmann::json::parse(lines_[0]);
  EXPECT_EQ(object["event"], "refused");
  EXPECT_EQ(object["level"], "warning");
  EXPECT_EQ(object["server"], "h:1");
  EXPECT_EQ(object["client"], "10.0.0.1:5");
  EXPECT_EQ(object["message"], "a \"quoted\" \\ \n\x01 \u00ff");
}

TEST_F(EventLogs, EachKindHasItsShareOfAMinute) {
  const auto log = make(EventLog::Form::kJournal);
  for (int i = 0; i < 100; ++i) {
    log->tell({Level::kError, "disk_error", std::to_string(i)});
  }
  log->tell({Level::kWarning, "refused", "another kind"});
  EXPECT_EQ(lines_.size(), size_t{EventLog::kLinesOfKind} + 1);
  EXPECT_EQ(log->left_out(), 100 - EventLog::kLinesOfKind);
  EXPECT_EQ(log->count(Level::kError), 100);
  log->tidy();
  EXPECT_EQ(lines_.size(), size_t{EventLog::kLinesOfKind} + 1) << "the minute isn't over";
  now_ += EventLog::kWindow;
  log->tidy();
  EXPECT_EQ(lines_.back(), "<4>disk_error: 80 more lines of this kind were left out\n");
  log->tell({Level::kError, "disk_error", "again"});
  EXPECT_EQ(lines_.back(), "<3>disk_error: again\n");
}

}  // namespace
}  // namespace stria::server
