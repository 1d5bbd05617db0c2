// Holds what the tests of sessions share: a file with datasets of every kind, written and read by
// simulated ranks over a driver in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/simulated/simulated_comm.hpp"
#include "file/read/lookups.hpp"
#include "file/read/read_session.hpp"
#include "file/read/small_content.hpp"
#include "file/write/defining.hpp"
#include "file/write/write_session.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::file::test {

using Bytes = std::vector<std::byte>;

/// Says how the file is written: by which ranks, with which method, in how many flushes.
struct Setting {
  int ranks = 1;
  int ranks_per_node = 1;
  uint64_t seed = 1;
  access::ResolvedHints hints{};
  bool checksums = true;
  int flushes = 0;               ///< before the commit; each moves another part of the data
  bool only_whole_rows = false;  ///< leaves out what is not put in whole, long rows
  bool compressed = false;       ///< whatever may be in chunks is, some of them across ranks
  /// The filters of those chunks.
  Filters filters = Filters::compress();
  std::string path = "run.h5";
};

/// One dataset: its values are a function of the element's number.
struct Content {
  std::string path;
  ElementType stored;
  std::vector<int64_t> dims;
  DatasetOptions options{};
  enum class Split { kRows, kColumns, kStrided, kRoot } split = Split::kRows;

  int64_t element_count() const;
  double value(int64_t element) const;  ///< one that every element type of the case holds exactly
};

/// Returns what the file of a setting has.
std::vector<Content> contents(const Setting& setting);

/// Returns a session's surroundings for a simulated rank. The comm must outlive it.
Environment environment_of(Comm& comm, std::shared_ptr<storage::Driver> driver, const access::ResolvedHints& hints);

/// Writes the file on one rank of many, and ends it with `commit`; the status is the agreed one.
Status write_file(const Setting& setting, Comm& comm, std::shared_ptr<storage::Driver> driver,
                  const std::function<Status(WriteSession&)>& commit = &WriteSession::commit);
/// Ends a file in the background, and waits for that. Fails where it has ended in the call.
Status commit_and_wait(WriteSession& session);
/// Reads the file on one rank of many, and compares: each rank its part, the first rank also all of
/// it. Empty when everything is right.
std::string compare_file(const Setting& setting, Comm& comm, std::shared_ptr<storage::Driver> driver,
                         const OpenOptions& options);

/// Runs the body on the setting's ranks. Fails the test on a deadlock.
void on_ranks(const Setting& setting, const std::function<void(Comm&)>& body);

/// Writes the file while the `nth` operation of `rank` fails with EIO, if it makes so many. Returns
/// how many it has made; `statuses` has each rank's.
int64_t write_with_failure(const Setting& setting, const std::function<Status(WriteSession&)>& commit,
                           storage::MemoryDriver& memory, int rank, int nth, std::vector<Status>& statuses);
/// Writes the file over one of these bytes, again and again: each storage operation of each rank
/// fails once, with EIO. All ranks must have the same outcome, which names the rank, and no
/// temporary file may stay. `check` sees the outcome of each failure, and the file of that name.
void fail_every_operation(const Setting& setting, const std::function<Status(WriteSession&)>& commit, const Bytes& before,
                          const std::function<void(const Status& failure, const Bytes& after)>& check);

/// Returns a handle on a driver that belongs to a test.
std::shared_ptr<storage::Driver> borrow(storage::Driver& driver);

}  // namespace stria::file::test
