#include "file/rewrite/joining.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "access/plan/planner.hpp"
#include "comm/self/self_comm.hpp"
#include "file/background/partial_file.hpp"
#include "file/opening/calls.hpp"
#include "file/opening/opening.hpp"
#include "file/parity/parity_writer.hpp"
#include "file/parts/parts_table.hpp"
#include "file/read/lookups.hpp"
#include "file/rewrite/carried_sums.hpp"
#include "file/session/catalog_message.hpp"
#include "file/session/environment.hpp"
#include "file/write/target/growing_file.hpp"
#include "storage/parted/parted_file.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::file {

namespace {

void refuse_damaged(const std::string& path, const std::vector<Damage>& damages) {
  if (!damages.empty()) {
    throw Error(ErrorCode::kCorrupted,
                fmt::format("'{}' is damaged: {} ('stria verify' says more)", path,
                            damages[0].dataset.empty() ? "its metadata" : "dataset '" + damages[0].dataset + "'"));
  }
}

std::shared_ptr<storage::Driver> driver_of(const access::ResolvedHints& hints) {
  return storage::make_driver(hints.driver).value();
}

access::ResolvedHints resolved(const Hints& hints) {
  std::vector<std::string> warnings;
  return access::resolve_hints(hints, warnings);
}

/// The old file, of which the sums of sums and metadata were compared. Data are compared in the new
/// one, since they have the same sums there.
class RewrittenFile {
 public:
  explicit RewrittenFile(const std::string& path)
      : session_(open_session(make_self_comm(), path, {.hints = {}, .verify = true})),
        read_(directed<ReadSession>(*session_, "rewrite")) {
    if (has_checksums(read_).value()) {
      refuse_damaged(path, read_.verify(nullptr, dataset_paths(read_).value()).value());
    }
  }

  ReadSession& read() const { return read_; }
  /// Opens it beside the session; the data of parts too.
  std::unique_ptr<storage::File> open() const {
    const auto& driver = read_.file().environment.driver;
    auto file = driver->open(storage::absolute_path(read_.file().path), {}).value();
    if (read_.source().parts == nullptr) {
      return file;
    }
    const auto map = std::make_shared<storage::PartMap>(*read_.source().parts);
    auto all = std::make_unique<storage::PartedFile>(std::move(file), driver, map, storage::OpenOptions::Mode::kRead);
    for (int part = 0; part < map->part_count(); ++part) {
      all->check_part(part).throw_if_error();
    }
    return all;
  }

 private:
  std::shared_ptr<Session> session_;
  ReadSession& read_;
};

/// The new file under its temporary name, which goes unless it is published. It gets as much parity
/// as the hints say, or else as the file has that it replaces, and in the same places.
class NewCopy {
 public:
  NewCopy(const std::string& path, const access::ResolvedHints& hints) {
    environment_.comm = make_self_comm();
    environment_.driver = driver_of(hints);
    environment_.hints = hints;
    file_ = std::make_unique<PartialFile>(environment_.driver, storage::absolute_path(path));
    file_->find().throw_if_error();
    const int had = parity_.find_old(stored()).value();
    parities_ = hints.parity_count > 0 ? static_cast<int>(hints.parity_count) : had;
    file_->create({.striping = access::striping_of(hints), .beside = {.has_parity = parities_ > 0}}).throw_if_error();
  }
  NewCopy(const NewCopy&) = delete;
  NewCopy& operator=(const NewCopy&) = delete;
  ~NewCopy() {
    if (!file_->is_published()) {
      parity_.discard(stored());
      file_->discard();
    }
  }

  storage::File& file() { return *file_->file(); }
  /// Compares everything with its sums.
  void verify(const std::string& from) const {
    const auto session = open_session(make_self_comm(), partial_path(file_->path()), {.hints = {}, .verify = true});
    refuse_damaged(from, directed<ReadSession>(*session, "rewrite").verify().value());
  }
  void publish(int64_t file_bytes) {
    if (parities_ > 0) {
      const ParityFile whole{
          .path = partial_path(file_->path()), .name = storage::file_name_of(file_->path()), .bytes = file_bytes};
      parity_.make(stored(), {whole}, parities_, 0, true).throw_if_error();
    }
    PhaseTimes times;
    file_->publish(file_bytes, true, times).throw_if_error();
    if (parities_ > 0) {
      parity_.note_published(stored());
    }
  }

 private:
  StoredFile stored() const { return {.environment = environment_, .path = file_->path()}; }

  Environment environment_;
  std::unique_ptr<PartialFile> file_;
  ParityWriter parity_;
  int parities_ = 0;
};

/// Returns the datasets whose data lie in parts.
std::vector<container::PlacedData> data_in_parts(const container::Reader& reader, const std::string& path) {
  Catalog catalog = read_catalog(reader).value();
  read_parts(reader, path, catalog).status().throw_if_error();
  std::vector<container::PlacedData> placed;
  for (const DatasetEntry& entry : catalog.datasets()) {
    if (entry.is_virtual && entry.data_offset >= 0) {
      placed.push_back({.path = entry.spec.path, .place = entry.extent()});
    }
  }
  return placed;
}

Rewritten write_anew(const RewrittenFile& old, const std::string& to, const Hints& hints) {
  const std::string& from = old.read().file().path;
  const auto source = old.open();
  const auto reader = container::open_file(*source).value();
  const bool has_parts = old.read().source().parts != nullptr;
  const auto placed = has_parts ? data_in_parts(*reader, storage::absolute_path(from)) : std::vector<container::PlacedData>();
  CarriedSums sums = CarriedSums::of(*source, *reader).value();
  NewCopy target(to, resolved(hints));
  const auto copy = container::default_format().open_copy(*source, target.file(), placed).value();
  copy->copy_all().throw_if_error();
  if (sums.exist()) {
    sums.renew_tables(*copy, has_parts ? kPartsPath : "").throw_if_error();
  } else if (has_parts) {
    copy->remove(kPartsPath).throw_if_error();
  }
  const container::CopiedFile copied = copy->finish().value();
  if (sums.exist()) {
    sums.seal(target.file(), copied).throw_if_error();
    target.verify(from);
  }
  target.publish(copied.file_bytes);
  return {.old_bytes = old.read().file().accounts.report().file_bytes, .file_bytes = copied.file_bytes};
}

/// Tells whether two names mean one file, through links too.
bool is_same_file(const std::string& a, const std::string& b) {
  const auto driver = storage::make_driver("posix");
  const auto one = driver.ok() ? (*driver)->identity(a) : Result<storage::Identity>(driver.status());
  const auto other = driver.ok() ? (*driver)->identity(b) : Result<storage::Identity>(driver.status());
  return storage::absolute_path(a) == storage::absolute_path(b) || (one.ok() && other.ok() && *one == *other);
}

}  // namespace

Rewritten join_file(const std::string& from, const std::string& to, const Hints& hints) {
  const RewrittenFile old(from);
  if (old.read().source().parts == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no parts: it is one file", from));
  }
  Rewritten joined = write_anew(old, to, hints);
  joined.part_count = old.read().source().parts->part_count();
  return joined;
}

// What another program would add meanwhile to a file that is replaced would be lost.
Rewritten compact_file(const std::string& from, const std::string& to, const Hints& hints) {
  GrowingFile locked(driver_of(resolved(hints)), storage::absolute_path(from));
  if (is_same_file(from, to)) {
    locked.open(from).throw_if_error();
  }
  const RewrittenFile old(from);
  if (is_netcdf(old.read().file().format()) || old.read().source().parts != nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}': {}", from,
                            old.read().source().parts != nullptr
                                ? "it has parts; 'stria join' makes one file of it, without unused space"
                                : "a classic netCDF file has no unused space"));
  }
  return write_anew(old, to, hints);
}

}  // namespace stria::file
