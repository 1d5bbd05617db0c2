// Holds what the measures of store_bench share: arguments, figures, files; and the measures.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::bench {

inline constexpr int64_t kMiB = 1 << 20;

/// Prints why, and ends the program.
[[noreturn]] void stop(const std::string& what);
void need(const Status& status);
void need(bool good, const char* what);

struct Arguments {
  std::string measure;
  std::string directory;
  std::vector<int> servers;
  int cycles = 1;
  int64_t size = 0;
};

inline double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Keeps named lists of figures, printed as JSON.
class Figures {
 public:
  void add(const std::string& name, double value) { values_[name].push_back(value); }
  void print() const;

 private:
  std::map<std::string, std::vector<double>> values_;
};

/// Creates a new file, or an old one without its bytes.
std::unique_ptr<storage::File> create(storage::Driver& driver, const std::string& path);
/// Bytes that depend on the seed.
void fill(std::vector<std::byte>& data, int seed);

/// Each does so much as arguments.size says in arguments.directory, arguments.cycles times.
using Measure = void(const Arguments& arguments, storage::Driver& driver, Figures& figures);
Measure measure_copy;
Measure measure_latency;
Measure measure_rate;
Measure measure_names;
Measure measure_pieces;
Measure measure_lists;
Measure measure_cold;

}  // namespace stria::bench
