// Describes what a check of a store finds (`stria fsck`), and how it is mended.
//
// Problem: names and parts are on different machines. A name may come from a backup that is older
// than its file, or a part from a disk that was away. Method: the servers list their parts, and the
// manager says to which files they belong; the manager lists its files, and the servers say how
// their parts are. What looks wrong is asked again, in the order in which a writer makes and a
// removal takes away, so that neither is taken for a fault. Cost: a request for 4,096 parts to the
// server and to the manager, and one for the parts of as many files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store_command.hpp"

namespace stria::tool {

/// A server's part that no name needs, as it is.
struct LonePart {
  int64_t server = 0;
  uint64_t number = 0;  ///< by which the server has it (wire/layout.hpp)
  int64_t bytes = 0;
  wire::Striped striped;
};

enum class FaultKind : uint8_t {
  kNoName,      ///< parts of a file that has no name
  kElsewhere,   ///< a part on a server that isn't one of its file's
  kOtherPlace,  ///< a part that was written as another part of its file
  kLost,        ///< a file whose part the server has lost
  kRemoved,     ///< a file that was removed; its name comes from a backup
  kSize,        ///< a part that isn't as long as its checksums say
  kServerGone,  ///< a file with a part on a server that the store has no more
  kNotLookedAt,
};

struct StoreFault {
  FaultKind kind = FaultKind::kNoName;
  uint64_t file = 0;
  int64_t server = -1;  ///< -1: several, or none
  std::string what;     ///< for people
  std::string path;     ///< within the store; empty: no name
  std::vector<LonePart> parts;
  std::string mended;  ///< what was done about it; empty: nothing
};

/// Returns "no name", "elsewhere" and so on.
const char* name_of_fault(FaultKind kind);

struct StoreFindings {
  int64_t files = 0;
  int64_t parts = 0;
  int64_t bytes = 0;
  std::map<int64_t, std::string> servers;  ///< those that answered: their addresses by number
  bool all_answered = true;
  std::vector<StoreFault> faults;
};

/// A manager's and its servers' answers, for both the check and the mending. They throw
/// stria::Error.
class StoreAsker {
 public:
  explicit StoreAsker(std::string url) : url_(std::move(url)), root_(find_in_store(url_)) {}

  template <typename Reply, typename Request>
  Reply manager(wire::Kind kind, const Request& request) const {
    const auto reply = root_.store->ask_manager(kind, wire::encode(request));
    reply.status().with_context(url_).throw_if_error();
    return wire::decode<Reply>(*reply).value();
  }
  wire::PartsListed server(const std::string& address, const wire::Parts& request) const;
  wire::PartKnown known(int64_t server, uint64_t file) const {
    return manager<wire::PartsKnown>(wire::Kind::kKnown, wire::PartsOf{server, {file}}).entries.at(0).known;
  }
  const std::string& url() const { return url_; }
  const StoreFile& root() const { return root_; }

 private:
  std::string url_;
  StoreFile root_;
};

StoreFindings check_store(const StoreAsker& asker);

/// `frees`: parts that no name needs go, and don't get one. Sets what was done about each fault.
/// Returns whether that lasts.
Status mend_store(const StoreAsker& asker, StoreFindings& findings, bool frees);

}  // namespace stria::tool
