#include "folded.hpp"

#include <sstream>

namespace stria::tool {

namespace {

// Returns where a line is cut: at the last blank that fits behind its first word.
size_t end_of_line(const std::string& line, size_t column) {
  const size_t first_word = line.find_first_not_of(' ', column);
  const size_t fits = line.rfind(' ', kColumns);
  return fits != std::string::npos && fits > first_word ? fits : line.find(' ', first_word);
}

}  // namespace

std::string folded(const std::string& line, size_t column) {
  std::string text;
  std::string rest = line;
  size_t begin = 0;  // where the words of the line in hand begin
  while (rest.size() > kColumns) {
    const size_t end = end_of_line(rest, begin);
    const size_t next = end == std::string::npos ? end : rest.find_first_not_of(' ', end);
    if (next == std::string::npos) {
      break;
    }
    text += rest.substr(0, end) + "\n";
    rest = std::string(column, ' ') + rest.substr(next);
    begin = column;
  }
  return text + rest + "\n";
}

std::string folded_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    all += folded(line, begin == std::string::npos ? 0 : begin + 2);
  }
  return all;
}

}  // namespace stria::tool
