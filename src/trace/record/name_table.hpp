// The numbers of files, datasets, kinds of spans and counters in the records of a rank, and the
// names that its part doesn't have yet. The caller guards it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/events/event.hpp"
#include "trace/format/part.hpp"

namespace stria::trace {

class NameTable {
 public:
  /// Has the kinds and counters that are built in.
  NameTable();

  /// Returns the number of a file. All files beyond 65,534 share one. Numbers are given one after
  /// another from 1.
  uint16_t file(const std::string& path);
  bool has_files() const { return !files_.empty(); }
  /// Returns how many numbers of files there are, that of no file included.
  size_t file_numbers() const { return file_numbers_; }
  int32_t dataset(const std::string& name);
  Kind kind(const std::string& name, Layer layer, Detail detail, bool overlaps);

  /// Returns the names that came since the last call.
  std::vector<Name> take_new();

 private:
  std::unordered_map<std::string, uint16_t> files_;
  size_t file_numbers_ = 1;
  std::unordered_map<std::string, int32_t> datasets_;
  std::unordered_map<std::string, Kind> kinds_;  ///< by layer and name
  std::vector<Name> new_names_;
};

}  // namespace stria::trace
