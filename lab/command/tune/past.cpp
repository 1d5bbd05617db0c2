#include "tune/past.hpp"

#include <fmt/format.h>

#include <sstream>

namespace stria::tool {

std::string in_a_word(const std::vector<PastRun>& runs, double elapsed_s) {
  std::string word = fmt::format("{:.3f}", elapsed_s);
  for (const PastRun& run : runs) {
    word += fmt::format(",{}:{}:{:.3f}", run.key, run.seconds, run.ended_s);
  }
  return word;
}

std::vector<PastRun> from_a_word(const std::string& word, double& elapsed_s) {
  std::vector<PastRun> runs;
  std::istringstream stream(word);
  std::string entry;
  std::getline(stream, entry, ',');
  elapsed_s = std::stod(entry);
  while (std::getline(stream, entry, ',')) {
    const size_t first = entry.find(':'), second = entry.find(':', first + 1);
    runs.push_back({entry.substr(0, first), std::stod(entry.substr(first + 1)), std::stod(entry.substr(second + 1))});
  }
  return runs;
}

Past::Past(const std::vector<PastRun>& runs) : left_(runs.size()) {
  for (const PastRun& run : runs) {
    by_key_[run.key].runs.push_back(run);
  }
}

const PastRun* Past::take(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second.next == found->second.runs.size()) {
    return nullptr;
  }
  --left_;
  return &found->second.runs[found->second.next++];
}

}  // namespace stria::tool
