// The messages about quotas (docs/formats/wire.md, "Quotas").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/messages.hpp"

namespace stria::wire {

/// Says whose bytes and files are counted together.
enum class QuotaKind : uint8_t {
  kUser = 0,       ///< the owner's
  kDirectory = 1,  ///< all below a directory
};

struct Account {
  QuotaKind kind = QuotaKind::kUser;
  uint64_t id = 0;  ///< the user, or the directory's number
  auto operator<=>(const Account&) const = default;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct SetQuota {
  static constexpr const char* kName = "set quota";
  QuotaKind kind = QuotaKind::kUser;
  uint32_t uid = 0;
  std::string path;   ///< the path of the directory
  int64_t bytes = 0;  ///< the most; 0: any number
  int64_t files = 0;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct Quotas {
  static constexpr const char* kName = "quotas";
  struct Entry {
    Account account;
    std::string path;  ///< the path of a directory; empty: it was removed
    int64_t bytes_limit = 0;
    int64_t files_limit = 0;
    int64_t bytes = 0;
    int64_t files = 0;
  };
  std::vector<Entry> entries;
  bool counted = true;  ///< false: not all servers have told yet how large their parts are
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says what an I/O server tells the manager of the sizes of its parts.
struct Usage {
  static constexpr const char* kName = "usage";
  struct Entry {
    uint64_t part = 0;
    int64_t bytes = 0;
  };
  Identity server{};
  bool complete = false;  ///< with these it has told of all its parts
  std::vector<Entry> parts;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct UsageAnswer {
  static constexpr const char* kName = "usage answer";
  bool counts = false;  ///< there are quotas
  /// The accounts of the file of each part that was told.
  std::vector<std::vector<Account>> accounts;
  /// Those that may not grow, and the sentence that says so.
  struct Over {
    Account account;
    std::string why;
  };
  std::vector<Over> over;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Returns the error by which growth beyond a quota of the store is refused. `why`: whose it is.
Status over_quota(std::string why);
bool is_over_quota(const Status& status);

}  // namespace stria::wire
