// What a file that is open has on this rank, whichever way it was opened, and what is done with
// that alike for all of them.
//
// It is the same on every rank, except for the pending transfers. Every collective function
// validates locally, agrees with the other ranks (meet/meetings.hpp), and returns the same outcome
// on all of them. A put or a get becomes a Transfer, which is pending until flush() or commit()
// moves all of them as one request. What follows for a write is in write/write_session.hpp, for a
// read in read/read_session.hpp, and src/README.md tells the life of a write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file/define/catalog.hpp"
#include "file/meet/meetings.hpp"
#include "file/move/element_map.hpp"
#include "file/move/put_guard.hpp"
#include "file/move/transfer.hpp"
#include "file/session/accounts.hpp"
#include "file/session/agreement.hpp"
#include "file/session/call_gate.hpp"
#include "file/session/environment.hpp"
#include "file/session/file_identity.hpp"
#include "storage/driver.hpp"
#include "stria/file.hpp"

namespace stria::file {

struct OpenFile {
  /// `opened_by` is kCreate, kAppend or kOpen.
  OpenFile(Call opened_by, Environment environment, std::string path, std::shared_ptr<RollCall> roll_call);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  Comm& comm() const { return *environment.comm; }
  Format format() const { return environment.format->format(); }
  /// The file is put into; otherwise it is got from.
  bool is_written() const { return opened_by != Call::kOpen; }
  /// The file is put into, and was there already.
  bool grows() const { return opened_by == Call::kAppend; }
  /// Returns it for functions that know the file by where it is stored.
  StoredFile stored() const { return {.environment = environment, .path = stored_path}; }

  const Call opened_by;
  Environment environment;
  const std::string path;              ///< the path as the program gave it
  std::string stored_path;             ///< the path as the storage knows it
  storage::Capabilities capabilities;  ///< the capabilities of rank 0's file
  FileIdentity identity;               ///< the identity of the same file
  Catalog catalog;
  std::vector<Transfer> pending;
  std::function<void(const Progress&)> progress;  ///< is called while data are moved
  CallGate calls;                                 ///< the rules for threads
  Meetings meetings;                              ///< with the other ranks
  Accounts accounts;                              ///< what the calls have cost
};

/// Begins a call from outside, which file.calls.leave() ends. kInvalidArgument while another thread
/// is in a call, and from a report of progress: this one must do nothing, and isn't ended; the next
/// collective call then fails on all ranks. Collective: no.
Status begin_call(OpenFile& file);
/// Ends this rank's part; its later calls are refused. Makes the next collective call of the others
/// fail, unless the file has ended everywhere. `reason` completes "rank N …". It doesn't wait for
/// other ranks. Collective: no.
void leave(OpenFile& file, std::string_view reason) noexcept;
/// Has `report` called while data are moved.
void set_progress(OpenFile& file, std::function<void(const Progress&)> report);

/// Records a put, of which `guard` sees to it that it means what its memory holds now, or a get,
/// which has none. After an error the next flush fails. Collective: no.
Status record(OpenFile& file, PutGuard* guard, int dataset, const Hyperslab& slab, const Memory& memory);
Status record(OpenFile& file, PutGuard* guard, int dataset, const ElementMap& elements, const Memory& memory);
/// Finds the number by which the catalog knows a dataset.
Result<int> find_dataset(const OpenFile& file, const std::string& dataset_path);

/// Agrees on the beginning, of which `mine` is this rank's outcome so far, and takes over which
/// file rank 0's (`found`, null elsewhere) is, where it is and what it can do. Collective: yes.
Status agree_on_file(OpenFile& file, const Status& mine, storage::File* found, const std::string& found_path);
/// Returns the place of this rank's rows behind those of lower ranks. Collective: yes.
Result<Rows> place_rows(OpenFile& file, int64_t count);

/// Returns the plan by which all ranks move what they have agreed on, and counts the move. A rank
/// without one would not know what the others expect of it: it is made out of the reserve where
/// memory lacks. Local.
access::Plan plan_move(OpenFile& file, const access::RequestShape& shape);

/// Returns how the file was opened, in words behind its name.
const char* how_opened(const OpenFile& file);
/// Returns the hints, with the planner's choice where they leave the collective buffers to it.
Hints hints_in_effect(const OpenFile& file);
/// Names the options of an opening and their values.
using OpeningOptions = std::vector<std::pair<std::string, std::string>>;
/// Notes the opening, which all ranks must say alike: the call, the path, the hints by which
/// collective operations are decided, and options. `options` is the hash of these. Where ranks
/// differ, `describe` tells them, as long as the file lives.
void log_opening(OpenFile& file, uint64_t options, std::function<OpeningOptions()> describe);

}  // namespace stria::file
