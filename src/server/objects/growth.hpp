// Knows which parts have grown, and which may not: the I/O server's side of quotas
// (manager/quotas.hpp).
//
// Problem: whose a file is, and how much its owner may have, the manager knows; how large its parts
// are, their servers. Neither is to be asked when data move.
// Method: where there are quotas, a server tells the manager each second which parts have changed
// their size, and hears which accounts their files belong to, and which accounts have all they may
// have. Parts of these don't grow from then on. So an account can grow beyond its quota by what is
// written in a second or two; and a part that nobody has written to since the server started may
// grow once.
// Cost: a load of a flag where there are no quotas; otherwise a look-up for each write that makes a
// part longer, and a number for each part that has grown since the start. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "wire/quotas.hpp"

namespace stria::server {

class Growth {
 public:
  bool counts() const { return counts_; }
  /// Must be called before a part becomes longer. kNoSpace, with the sentence, when it may not.
  Status check(uint64_t part) const;
  /// Its size has changed.
  void changed(uint64_t part);
  void changed(std::span<const uint64_t> parts);

  /// Some parts that have changed since they were told; they count as told.
  std::vector<uint64_t> take_changed(size_t most);
  /// Learns the manager's answer about these parts, in their order.
  void learn(std::span<const wire::Usage::Entry> told, const wire::UsageAnswer& answer);

 private:
  std::atomic<bool> counts_ = false;
  mutable std::mutex mutex_;
  std::unordered_set<uint64_t> changed_;
  std::unordered_map<uint64_t, std::vector<wire::Account>> accounts_;  // by part
  std::map<wire::Account, std::string> over_;
};

}  // namespace stria::server
