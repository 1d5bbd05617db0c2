// Describes what the manager does so that a standby can take its place: it has changes recorded for
// it, gives it a copy of the names to begin with, and numbers the marks by which servers know
// whether the standby has all (wire/standby.hpp). For the manager's thread, but for epoch().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/manager/fleet/fleet.hpp"
#include "server/manager/names/names.hpp"
#include "server/manager/names/names_backup.hpp"
#include "server/manager/succession/change_recorder.hpp"
#include "server/manager/succession/change_stream.hpp"
#include "wire/standby.hpp"

namespace stria::server {

class Succession {
 public:
  /// `names` and `fleet` outlive this. The copy for the standby is made as the file `copy_path`.
  /// `stream`: null where there can't be a standby.
  Succession(Names& names, Fleet& fleet, const std::string& copy_path, std::shared_ptr<ChangeStream> stream);

  /// Loads what the database knows of a standby.
  Status load();
  uint64_t epoch() const { return names_.seals().epoch; }

  /// Has what was changed go to the standby. Returns the number of the last change; 0: there were
  /// none.
  uint64_t record();
  Result<wire::Followed> copy(const Caller& caller, const wire::Follow& request);
  /// Tells whether a standby may take over without the last changes.
  bool is_unsure() const;
  /// Returns the answer to a pulse, as a server of that version understands it. Where it isn't sure
  /// that the manager is the store's, no bytes are removed.
  Result<wire::PulseAnswer> checked(Result<wire::PulseAnswer> answer, uint16_t version) const;

  /// Returns another mark, with a higher number than `newest`. Durable.
  Result<wire::Mark> next_mark(const wire::Identity& in_step, uint64_t newest);
  /// Returns the servers that are asked who is the manager: all but the standby.
  Result<std::vector<Roster::Server>> voters(const wire::Identity& standby);

  void tidy() { base_.tidy(); }

 private:
  Status begin(const wire::Follow& request);
  Result<int64_t> number_of(std::string_view key);

  Names& names_;
  Fleet& fleet_;
  std::shared_ptr<ChangeStream> stream_;
  ChangeRecorder recorder_;
  NamesBackup base_;
  uint64_t recorded_for_ = 0;  // the number of the copy
  uint64_t first_ = 0;         // the last change that is in it
};

}  // namespace stria::server
