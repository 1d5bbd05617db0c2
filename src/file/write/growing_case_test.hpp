// Holds what the tests of files that grow share: a model of a file, random additions to it, and the
// comparison of a file with its model.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "file/session/session_case_test.hpp"

namespace stria::file::test {

/// A dataset as it must be read.
struct ModelDataset {
  std::vector<int64_t> dims;
  bool extendable = false;
  ElementType stored = ElementType::kFloat64;
  DatasetOptions options;
  std::vector<double> values;

  int64_t row_elements() const;
  double unwritten() const;  ///< what elements are that nobody puts
};

struct Model {
  std::map<std::string, ModelDataset> datasets;
  std::map<std::pair<std::string, std::string>, double> attributes;  ///< by object and name
};

/// A box that one rank puts.
struct BoxPut {
  std::string path;
  std::vector<int64_t> start, count;
  int rank = 0;
  int step = 0;  ///< before which flush
};

/// Says what one session adds, the same on every rank.
struct Addition {
  int ranks = 1;
  int ranks_per_node = 1;
  int flushes = 0;
  bool in_background = false;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, ModelDataset>> created;  ///< with no rows where extendable
  std::vector<std::pair<std::string, int64_t>> appended;      ///< rows
  std::map<std::pair<std::string, std::string>, double> attributes;
  std::vector<BoxPut> puts;
};

/// Adds at random to the model, and says what makes the file so.
Addition add_at_random(uint64_t seed, Model& model);

/// Carries it out on one rank of many, on a new file or on one that grows. `model` is what the file
/// shall hold afterwards.
Status carry_out(const Addition& addition, const Model& model, bool is_new, Comm& comm,
                 std::shared_ptr<storage::Driver> driver);

/// Compares the file with the model, by the engine with its checksums and by libhdf5; empty when
/// everything is right. Collective: yes.
std::string compare_with(const Model& model, Comm& comm, std::shared_ptr<storage::Driver> driver);

inline constexpr const char* kGrowingPath = "grows.h5";

}  // namespace stria::file::test
