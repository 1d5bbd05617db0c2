// What every rank says alike about a file: how it is made and what is in it. Finds where they don't.
//
// Problem: whether all ranks say the same is a sum of hashes that is made anyway (equality_sums.hpp), but a user wants to know
// which call and which argument. Method: each rank keeps a hash of each call; when the sums are not those of equal ranks, rank
// 0 tells its hashes, each rank finds the first that differs from its own, and of the earliest one the two ranks put the call
// into words. Cost: 16 bytes a call and a small function; messages only when something is wrong.
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

  /// Notes a call that all ranks make with the same arguments. `content` is the hash of one that some ranks may leave out; 0
  /// where this one does.
  void add(uint64_t arguments, uint64_t content, Describe describe);

  /// Of all calls so far, their contents left out.
  uint64_t hash() const { return hash_; }
  /// Of all contents so far; says nothing where this rank has left one out.
  uint64_t content_hash() const { return content_hash_; }
  bool has_all_contents() const { return has_all_contents_; }

  /// Names the first call that differs, the argument and two ranks; success where none does. Collective: yes; the same
  /// outcome everywhere.
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

/// One hash of two.
uint64_t combine_hashes(uint64_t seed, uint64_t value);

}  // namespace stria::file
