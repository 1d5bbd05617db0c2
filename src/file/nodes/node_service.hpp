// Files on disks that only their own node sees, for the ranks of other nodes.
//
// Problem: parts of a file lie on the nodes' own disks, and a rank needs one of another node: to
// write the rows that belong there, to make parity, or after a restart on other nodes.
// Method: a rank asks one that sees the file, by a message, and waits for the answer. Whoever waits
// for other ranks, in whatever call of Stria's, serves meanwhile (Attendant). So nobody needs a
// thread, a port or a server. A rank that serves only does I/O, and never asks: no circle of ranks
// can wait for each other.
// Invariant: a rank asks only where the call ends with a meeting of all ranks, so that those that
// are asked are in a call too. What needs no answer may be said at any time, and is done when the
// other one waits next.
// Every question that wants an answer gets one, also where memory is scarce: there is room for what
// comes, and a reserve for the word that memory lacks. An answer has the number of its question:
// where a rank gave up waiting for one, it isn't taken for the next.
// Cost: two messages for each request, of at most kMostBytes of data, and one copy on each side.
// A rank has 2 * kRoomBytes of addresses for them, and memory as far as messages have filled those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says what a rank can be asked.
enum class Ask : int64_t {
  kOpen,
  kClose,
  kRead,
  kWrite,
  kSize,
  kResize,
  kPreallocate,
  kSync,
  kSetAttributes,
  kRemove,
  kExists,
  kNameInfo,
  kIdentity,
  kSyncDirectory,
  kListDirectory,
  kNothing,
};

/// Returns the error of an answer that isn't what was asked for.
Status garbled_answer(int rank);

class NodeService final : public Attendant {
 public:
  static constexpr int64_t kMostBytes = 4 << 20;  ///< the bytes of data in a request or an answer
  static constexpr size_t kMostSegments = 65536;  ///< the segments of a request
  /// Holds both, and what goes with them.
  static constexpr size_t kRoomBytes = size_t{6} << 20;

  /// Returns the service of this communicator, made at the first call: it serves files of `driver`.
  /// Local.
  static std::shared_ptr<NodeService> of(Comm& comm, const std::shared_ptr<storage::Driver>& driver);
  NodeService(Comm& innermost, std::shared_ptr<storage::Driver> driver);

  /// Does what other ranks have asked.
  void attend() noexcept override;
  /// Asks `rank`, and returns the fields of its answer, or its error. `fields` are those of a
  /// FieldWriter. Where this rank itself lacks memory, as it says or throws, it isn't known whether
  /// the other has done it.
  Result<std::vector<std::byte>> ask(int rank, Ask what, std::span<const std::byte> fields);
  /// Has it done without an answer.
  void tell(int rank, Ask what, std::span<const std::byte> fields);
  /// Returns when all that this rank has told others is done.
  void settle();
  int64_t next_handle() { return ++last_handle_; }

 private:
  using HandleKey = std::pair<int, int64_t>;  // the rank that has it, its number there

  void serve(int from);
  void refuse_owed();
  int await_answer(int64_t number);
  void drop_late_answer();
  Result<std::vector<std::byte>> answer(int from, Ask what, std::span<const std::byte> fields);
  Result<std::vector<std::byte>> answer_for_file(storage::File& file, Ask what, std::span<const std::byte> fields);
  Result<std::vector<std::byte>> answer_for_name(Ask what, const std::string& path);
  Result<std::vector<std::byte>> open(const HandleKey& key, std::span<const std::byte> fields);
  void send_away(int rank, int tag, std::vector<std::byte> message);

  Comm& comm_;
  std::shared_ptr<storage::Driver> driver_;
  std::map<HandleKey, std::unique_ptr<storage::File>> files_;
  std::set<int> told_;              // ranks that have something to do
  std::vector<std::byte> request_;  // the one that is served
  std::vector<std::byte> answer_;   // the one that was asked for
  /// The number of each rank's question that memory lacked to answer; 0: there is none. A rank
  /// waits for one answer at a time.
  std::vector<int64_t> owed_;
  int owed_count_ = 0;
  access::MemoryReserve reserve_;  // for refusals
  int64_t last_question_ = 0;
  int64_t last_handle_ = 0;
  bool serves_ = false;
  bool asks_ = false;
  bool late_answer_ = false;  // one is to come, or there is no room for it
};

}  // namespace stria::file
