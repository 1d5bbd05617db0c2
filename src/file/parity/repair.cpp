#include "file/parity/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/parity/parity_set.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/part_servers.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr const char* kUnfinished = ".repair";

Result<ParityVerdict> look_at(ParitySet& set) {
  const ParityHead& head = set.head();
  ParityVerdict verdict{.parities = head.parities, .bytes = head.parities * head.file_bytes()};
  for (const ParityMember& member : head.members) {
    verdict.bytes += member.bytes;
  }
  for (int64_t stripe = 0; stripe < head.stripe_count(); ++stripe) {
    STRIA_ASSIGN_OR_RETURN(const ParitySet::Stripe* const read, set.read_stripe(stripe));
    if (read->is_beyond_repair) {
      std::vector<std::byte> unit(static_cast<size_t>(head.unit_bytes));
      ++verdict.beyond_repair;
      verdict.lost = verdict.lost.empty() ? set.read_unit(stripe, 0, unit.data()).message() : verdict.lost;
    }
  }
  verdict.troubles = set.troubles();
  return verdict;
}

/// Writes what is missing beside its name, and what is wrong in its place.
class Repair {
 public:
  Repair(std::shared_ptr<storage::Driver> driver, ParitySet& set, std::string place)
      : driver_(std::move(driver)), set_(set), place_(std::move(place)) {}

  Status run() {
    const ParityHead& head = set_.head();
    STRIA_RETURN_IF_ERROR(open_files());
    for (int64_t stripe = 0; stripe < head.stripe_count(); ++stripe) {
      STRIA_ASSIGN_OR_RETURN(const ParitySet::Stripe* const read, set_.read_stripe(stripe));
      for (int unit = 0; unit < head.unit_count(); ++unit) {
        STRIA_RETURN_IF_ERROR(put(stripe, unit, *read));
      }
    }
    return finish();
  }

 private:
  struct Target {
    std::unique_ptr<storage::File> file;
    std::string real;  // where a file which was missing lies at the end; else empty
    int64_t bytes = 0;
  };

  Status open_files() {
    const ParityHead& head = set_.head();
    STRIA_ASSIGN_OR_RETURN(PartServers servers, servers_beside_those_in_use());
    STRIA_ASSIGN_OR_RETURN(const storage::Destination destination, driver_->find_destination(set_.path()));
    for (int unit = 0; unit < head.unit_count(); ++unit) {
      const std::string& path = set_.path_of(unit);
      if (targets_.contains(path)) {
        continue;
      }
      Target& target = targets_[path];
      const bool is_data = unit < head.member_count();
      target.bytes = is_data ? set_.bytes_of_file(head.members[static_cast<size_t>(unit)].name) : head.file_bytes();
      storage::OpenOptions open;
      open.mode = storage::OpenOptions::Mode::kReadWrite;
      if (set_.is_missing(unit)) {
        STRIA_ASSIGN_OR_RETURN(target.real, find_place(path));
        // A repair that was killed may have left one.
        const Status removed = driver_->remove(target.real + kUnfinished);
        STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
        open.mode = storage::OpenOptions::Mode::kCreateNew;
        open.permissions = destination.replaced ? 0600 : open.permissions;
        open.striping = on_server(servers.next());
      }
      STRIA_ASSIGN_OR_RETURN(target.file, driver_->open(target.real.empty() ? path : target.real + kUnfinished, open));
      const bool keeps = !target.real.empty() && destination.replaced.has_value();
      STRIA_RETURN_IF_ERROR(keeps ? driver_->set_attributes(*target.file, *destination.replaced) : Status());
    }
    return Status();
  }

  // Returns the servers of a file in parts in a store, without those from which something is
  // missing.
  Result<PartServers> servers_beside_those_in_use() {
    const ParityHead& head = set_.head();
    const bool is_in_parts = head.members.front().name != head.file_name;
    STRIA_ASSIGN_OR_RETURN(PartServers servers,
                           is_in_parts ? PartServers::find(set_.path()) : Result<PartServers>(PartServers()));
    std::set<std::string> noted;
    for (int unit = 0; servers.count() > 0 && unit < head.unit_count(); ++unit) {
      const std::string& path = set_.path_of(unit);
      if (!noted.insert(path).second) {
        continue;
      }
      if (set_.is_missing(unit)) {
        servers.leave_out_those_of(path);
      } else {
        servers.note(path);
      }
    }
    return servers;
  }

  // Returns where a missing file goes. The file itself has its name, wherever else its parts lie.
  Result<std::string> find_place(const std::string& path) {
    if (path == set_.path()) {
      return path;
    }
    const std::string real = place_.empty() ? real_path(*driver_, path) : placed_path({place_}, 0, path);
    const std::string place = storage::directory_of(real);
    const Status listed = driver_->list_directory(place).status();
    return listed.ok()
               ? Result<std::string>(real)
               : Status(ErrorCode::kNotFound,
                        fmt::format("'{}' lay in '{}', where nothing can be put: name another directory with --place: {}", path,
                                    place, listed.message()));
  }

  // The link of a file that lies elsewhere than before is replaced by one change of a name.
  Status lead_to(const std::string& real, const std::string& path) {
    STRIA_RETURN_IF_ERROR(driver_->sync_directory(real));
    if (real == path || real_path(*driver_, path) == real) {
      return Status();
    }
    const Status removed = driver_->remove(path + kUnfinished);
    STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
    STRIA_RETURN_IF_ERROR(driver_->make_link(real, path + kUnfinished));
    return driver_->rename(path + kUnfinished, path);
  }

  Status put(int64_t stripe, int unit, const ParitySet::Stripe& read) {
    const ParityHead& head = set_.head();
    const int64_t bytes = head.bytes_of(stripe, unit);
    Target& target = targets_[set_.path_of(unit)];
    const bool is_data = unit < head.member_count();
    const int64_t begin = is_data ? head.members[static_cast<size_t>(unit)].begin : head.units_begin();
    if (bytes > 0 && read.was_wrong[static_cast<size_t>(unit)]) {
      const storage::WriteSegment segment{begin + stripe * head.unit_bytes, read.units[static_cast<size_t>(unit)], bytes};
      STRIA_RETURN_IF_ERROR(target.file->write(std::span(&segment, 1)));
    }
    if (!is_data && read.was_record_wrong[static_cast<size_t>(unit - head.member_count())]) {
      const storage::WriteSegment segment{head.records_begin() + stripe * head.record_bytes(),
                                          reinterpret_cast<const std::byte*>(read.record.data()), head.record_bytes()};
      return target.file->write(std::span(&segment, 1));
    }
    return Status();
  }

  Status finish() {
    const ParityHead& head = set_.head();
    for (const auto& [path, target] : targets_) {
      STRIA_RETURN_IF_ERROR(target.file->resize(target.bytes));
    }
    // The parity is written last, so that no part seems younger than it is.
    for (int number = 0; number < head.parities; ++number) {
      const std::vector<std::byte> encoded = head.encode(number);
      const auto mark = mark_of(head);
      const storage::WriteSegment segment{0, encoded.data(), static_cast<int64_t>(encoded.size())};
      const storage::WriteSegment marked{ParityHead::kMarkOffset, mark.data(), static_cast<int64_t>(mark.size())};
      storage::File& file = *targets_[set_.path_of(head.member_count() + number)].file;
      STRIA_RETURN_IF_ERROR(file.write(std::span(&segment, 1)));
      STRIA_RETURN_IF_ERROR(file.write(std::span(&marked, 1)));
    }
    for (const auto& [path, target] : targets_) {
      STRIA_RETURN_IF_ERROR(target.file->sync());
      STRIA_RETURN_IF_ERROR(target.file->close());
    }
    // The file itself comes last, so that nobody opens it before its parts are there.
    for (const bool of_file : {false, true}) {
      for (const auto& [path, target] : targets_) {
        if (!target.real.empty() && (path == set_.path()) == of_file) {
          STRIA_RETURN_IF_ERROR(driver_->rename(target.real + kUnfinished, target.real));
          STRIA_RETURN_IF_ERROR(lead_to(target.real, path));
        }
      }
    }
    return driver_->sync_directory(set_.path());
  }

  std::shared_ptr<storage::Driver> driver_;
  ParitySet& set_;
  const std::string place_;
  std::map<std::string, Target> targets_;
};

}  // namespace

Result<ParityVerdict> check_parity(const std::shared_ptr<storage::Driver>& driver, const std::string& path) {
  return or_out_of_memory([&]() -> Result<ParityVerdict> {
    STRIA_ASSIGN_OR_RETURN(const auto set, ParitySet::find(driver, driver->follow_links(path)));
    return look_at(*set);
  });
}

Result<ParityVerdict> repair_file(const std::shared_ptr<storage::Driver>& driver, const std::string& path,
                                  const RepairWishes& wishes) {
  return or_out_of_memory([&]() -> Result<ParityVerdict> {
    if (!wishes.place.empty() && storage::is_remote_path(path)) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' lies in a store, where what is missing is put on servers that are up: leave --place out", path));
    }
    STRIA_ASSIGN_OR_RETURN(const auto set, ParitySet::find(driver, driver->follow_links(path)));
    const bool is_there = set->file_at(set->path()) != nullptr;
    if (!is_there && !set->is_committed()) {
      return Status(ErrorCode::kNotFound,
                    fmt::format("the parity beside '{}' is that of a file that never got this name, or lost it at once: remove "
                                "{}.parity-*",
                                path, path));
    }
    STRIA_ASSIGN_OR_RETURN(ParityVerdict verdict, look_at(*set));
    if (verdict.beyond_repair > 0) {
      return Status(ErrorCode::kCorrupted, fmt::format("{}; {} of {} stripes are lost, and nothing was changed", verdict.lost,
                                                       verdict.beyond_repair, set->head().stripe_count()));
    }
    if (!verdict.troubles.empty()) {
      STRIA_RETURN_IF_ERROR(wishes.force ? Status() : set->check_age(ParitySet::Which::kAll));
      STRIA_RETURN_IF_ERROR(Repair(driver, *set, wishes.place).run());
    }
    return verdict;
  });
}

}  // namespace stria::file
