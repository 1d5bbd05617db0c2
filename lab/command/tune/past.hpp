// Describes what the runs of a race took so far, so that ranks that are started anew go on where
// others were ended.
//
// Problem: a rank that waits for storage can't be interrupted, and a candidate that hangs would eat
// the budget.
// Method: a process without ranks starts them and watches (supervisor.hpp). Ranks say on standard
// output, in lines of their own, which run begins and what it took. When one isn't over in time,
// the watcher ends the ranks and starts others. These get the outcomes so far, and take them for
// the runs that the race asks for first.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stria::tool {

/// The beginning of the lines that the watcher reads.
inline constexpr const char* kToWatcher = "@stria-tune ";
/// The option by which ranks get the outcomes. It is between these processes, and not described.
inline constexpr const char* kPastOption = "--past";
/// The key of the defaults in outcomes; that of a candidate has its hints.
inline constexpr const char* kDefaultsKey = "d";

struct PastRun {
  std::string key;
  double seconds = 0;  ///< infinite where it was given up
  double ended_s = 0;  ///< since the race began
};

/// Returns all outcomes as one word for a command line, and back. The first part is the time that
/// has passed.
std::string in_a_word(const std::vector<PastRun>& runs, double elapsed_s);
std::vector<PastRun> from_a_word(const std::string& word, double& elapsed_s);

/// The outcomes by key, in their order.
class Past {
 public:
  explicit Past(const std::vector<PastRun>& runs);
  /// True while some are left.
  bool is_left() const { return left_ > 0; }
  /// Returns the next outcome of that key, which is then no longer left; null where there is none.
  const PastRun* take(const std::string& key);

 private:
  struct Queue {
    std::vector<PastRun> runs;
    size_t next = 0;
  };
  std::map<std::string, Queue> by_key_;
  size_t left_ = 0;
};

}  // namespace stria::tool
