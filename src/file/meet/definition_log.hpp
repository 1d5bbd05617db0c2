// A log of what all ranks must say alike about a file: how it is made and what is in it. Finds
// where they don't.
//
// Problem: a sum of hashes that is made anyway shows whether all ranks say the same
// (equality_sums.hpp), but a user wants to know which call and which argument differ.
// Method: each rank keeps a hash of each call. When the sums show a difference, rank 0 broadcasts
// its hashes, and each rank finds the first that differs from its own. For the earliest of these,
// the two ranks describe the call in words.
// Cost: 16 bytes per call, and a small function; messages only when something is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// A call in words: "create_dataset('dens')", and its arguments by name.
struct DefinitionText {
  std::string call;
  std::vector<std::pair<std::string, std::string>> arguments;
};

class DefinitionLog {
 public:
  using Describe = std::function<DefinitionText()>;

  /// Notes a call that all ranks make with the same arguments. `content` is the hash of one that
  /// some ranks may leave out; 0 where this one does.
  void add(uint64_t arguments, uint64_t content, Describe describe);

  /// Returns the hash of all calls so far, their contents left out.
  uint64_t hash() const { return hash_; }
  /// Returns the hash of all contents so far; says nothing where this rank has left one out.
  uint64_t content_hash() const { return content_hash_; }
  bool has_all_contents() const { return has_all_contents_; }

  /// Names the first call that differs, the argument and two ranks; success when no call differs.
  /// Collective: yes; the same outcome everywhere.
  Status explain(Comm& comm) const;

 private:
  struct Entry {
    uint64_t arguments = 0;
    uint64_t content = 0;
  };
  int64_t first_difference(const std::vector<Entry>& expected) const;
  std::vector<std::byte> told(int64_t number) const;

  std::vector<Entry> entries_;
  std::vector<Describe> descriptions_;
  uint64_t hash_ = 0;
  uint64_t content_hash_ = 0;
  bool has_all_contents_ = true;
};

/// Combines two hashes into one.
uint64_t combine_hashes(uint64_t seed, uint64_t value);

}  // namespace stria::file
