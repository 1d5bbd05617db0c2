#include "file/parity/parity_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "file/checksums/seal.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "storage/messages.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr int64_t kSampledStripes = 16;
// The times of files in a store are those of their servers, those on a node's own disk that of the
// node: their clocks needn't agree.
constexpr int64_t kClocksDifferNs = 2'000'000'000;

// Returns where a member's file is: the file itself may have got another name since.
std::string member_path(const std::string& path, const ParityHead& head, const ParityMember& member) {
  return member.name == head.file_name ? path : path_beside(path, member.name);
}

/// Returns the same of the first parity of a generation of which that can be said.
std::string why_unseen(storage::Driver& driver, const std::string& path, const std::vector<PartName>& names,
                       int64_t generation) {
  std::string why;
  for (const PartName& name : names) {
    why = why.empty() && name.generation == generation ? storage::why_unseen(driver, path_beside(path, name.name)) : why;
  }
  return why;
}

}  // namespace

std::string in_words(const std::vector<ParityTrouble>& troubles) {
  std::string words;
  for (const ParityTrouble& trouble : troubles) {
    words += (words.empty() ? "" : ", ") + trouble.words;
  }
  return words;
}

ParitySet::ParitySet(std::shared_ptr<storage::Driver> driver, std::string path, ParityHead head)
    : driver_(std::move(driver)), path_(std::move(path)), head_(std::move(head)), code_(head_.member_count(), head_.parities) {}

Result<std::shared_ptr<ParitySet>> ParitySet::find(const std::shared_ptr<storage::Driver>& driver, const std::string& path) {
  Status none(ErrorCode::kNotFound, fmt::format("'{}' has no parity", path));
  STRIA_ASSIGN_OR_RETURN(const auto names, list_parity(*driver, path));
  std::set<int64_t, std::greater<>> generations;
  for (const auto& name : names) {
    generations.insert(name.generation);
  }
  std::shared_ptr<ParitySet> best;
  int most = -1;
  for (const int64_t generation : generations) {
    auto set = open(driver, path, generation);
    if (const std::string why = set.ok() ? "" : why_unseen(*driver, path, names, generation); !why.empty()) {
      none = Status(ErrorCode::kCorrupted, fmt::format("the parity of '{}' is out of reach ({})", path, why));
      continue;
    }
    if (!set.ok()) {
      none = Status(ErrorCode::kCorrupted,
                    fmt::format("the parity beside '{}' says nothing, make it anew with 'stria repair --renew {} {}': {}", path,
                                std::count_if(names.begin(), names.end(),
                                              [&](const PartName& name) { return name.generation == generation; }),
                                path, set.status().message()));
      continue;
    }
    const int agreement = generations.size() == 1 ? 0 : (*set)->agreement();
    if (agreement > most) {
      most = agreement;
      best = std::move(*set);
    }
  }
  return best != nullptr ? Result<std::shared_ptr<ParitySet>>(std::move(best)) : none;
}

Result<std::shared_ptr<ParitySet>> ParitySet::open(const std::shared_ptr<storage::Driver>& driver, const std::string& path,
                                                   int64_t generation) {
  STRIA_ASSIGN_OR_RETURN(const auto names, list_parity(*driver, path));
  std::shared_ptr<ParitySet> set;
  Status unread(ErrorCode::kNotFound, fmt::format("'{}' has no parity", path));
  const std::string name = storage::file_name_of(path);
  for (const auto& one : names) {
    auto file = one.generation == generation ? driver->open(path_beside(path, one.name), {})
                                             : Result<std::unique_ptr<storage::File>>(Status(ErrorCode::kNotFound, ""));
    auto read = file.ok() ? read_head(**file) : Result<ReadHead>(file.status());
    if (!read.ok() || one.name != parity_name(name, generation, read->number)) {
      unread = read.ok() || one.generation != generation ? unread : read.status();
      continue;
    }
    if (set == nullptr) {
      set = std::shared_ptr<ParitySet>(new ParitySet(driver, path, std::move(read->head)));
      set->has_head_.resize(static_cast<size_t>(set->head_.parities));
    } else if (read->head != set->head_) {
      continue;
    }
    set->has_head_[static_cast<size_t>(read->number)] = true;
    set->is_committed_ = set->is_committed_ || read->is_committed;
  }
  if (set == nullptr) {
    return unread;
  }
  set->open_files();
  if (!set->has_its_length()) {
    return Status(ErrorCode::kCorrupted, fmt::format("nothing that is left of '{}' is as long as its parity says", path));
  }
  return set;
}

// Where all files are shorter, the last stripe is lost, and a head that claims more than there ever
// was would have us look for it for years.
bool ParitySet::has_its_length() const {
  for (int unit = 0; unit < head_.unit_count(); ++unit) {
    storage::File* const file = files_[file_of_unit_[static_cast<size_t>(unit)]].file.get();
    const auto size = file != nullptr ? file->size() : Result<int64_t>(0);
    const bool is_data = unit < head_.member_count();
    const int64_t begin = is_data ? head_.members[static_cast<size_t>(unit)].begin : head_.units_begin();
    if (size.ok() && *size - begin >= head_.longest_bytes()) {
      return true;
    }
  }
  return false;
}

size_t ParitySet::add_file(const std::string& path) {
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const OneFile& one) { return one.path == path; });
  if (known != files_.end()) {
    return static_cast<size_t>(known - files_.begin());
  }
  auto opened = driver_->open(path, {});
  files_.push_back({.path = path, .file = opened.ok() ? std::move(*opened) : nullptr, .why_away = {}});
  const bool has_name = opened.ok() || opened.status().code() != ErrorCode::kNotFound;
  if (!opened.ok() && !storage::is_remote_path(path)) {
    files_.back().why_away = storage::why_unseen(*driver_, path);
    files_.back().is_unseen = !files_.back().why_away.empty();
  } else if (!opened.ok() && has_name) {
    files_.back().why_away = opened.status().message();
  }
  give_up_if_away(files_.back());
  return files_.size() - 1;
}

// The manager of a store opens what its servers can't give. One that doesn't answer is asked once:
// each request would wait for it again.
void ParitySet::give_up_if_away(OneFile& one) {
  if (one.file == nullptr || !storage::is_remote_path(one.path)) {
    return;
  }
  if (const Status known = one.file->size().status(); !known.ok()) {
    one.file = nullptr;
    one.why_away = known.message();
  }
}

void ParitySet::open_files() {
  for (const ParityMember& member : head_.members) {
    file_of_unit_.push_back(add_file(member_path(path_, head_, member)));
  }
  const std::string name = storage::file_name_of(path_);
  for (int number = 0; number < head_.parities; ++number) {
    file_of_unit_.push_back(add_file(path_beside(path_, parity_name(name, head_.generation, number))));
    if (!has_head_[static_cast<size_t>(number)]) {
      files_[file_of_unit_.back()].file = nullptr;
    }
  }
}

int64_t ParitySet::bytes_of_file(const std::string& name) const {
  int64_t bytes = 0;
  for (const ParityMember& member : head_.members) {
    bytes += member.name == name ? member.bytes : 0;
  }
  return bytes;
}

storage::File* ParitySet::file_at(const std::string& path) {
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const OneFile& one) { return one.path == path; });
  return known != files_.end() ? known->file.get() : nullptr;
}

bool ParitySet::read_record(int64_t stripe, int parity, std::vector<uint64_t>& record) {
  OneFile& one = files_[file_of_unit_[static_cast<size_t>(head_.member_count() + parity)]];
  storage::File* const file = one.file.get();
  if (file == nullptr) {
    return false;
  }
  record.assign(static_cast<size_t>(head_.unit_count() + 1), 0);
  const storage::ReadSegment segment{head_.records_begin() + stripe * head_.record_bytes(),
                                     reinterpret_cast<std::byte*>(record.data()), head_.record_bytes()};
  const auto got = file->read(std::span(&segment, 1));
  if (got.status().code() == ErrorCode::kIo) {
    give_up_if_away(one);
  }
  return got.ok() && *got == head_.record_bytes() && is_sound_record(record);
}

bool ParitySet::read_as_it_is(int64_t stripe, int unit, uint64_t sum, std::byte* to) {
  OneFile& one = files_[file_of_unit_[static_cast<size_t>(unit)]];
  storage::File* const file = one.file.get();
  const int64_t bytes = head_.bytes_of(stripe, unit);
  const bool is_data = unit < head_.member_count();
  const int64_t begin = is_data ? head_.members[static_cast<size_t>(unit)].begin : head_.units_begin();
  std::fill_n(to, head_.unit_bytes, std::byte{0});
  if (file == nullptr) {
    return bytes == 0;  // nothing is lost of it
  }
  const storage::ReadSegment segment{begin + stripe * head_.unit_bytes, to, bytes};
  const auto got = bytes == 0 ? Result<int64_t>(0) : file->read(std::span(&segment, 1));
  if (got.status().code() == ErrorCode::kIo) {
    give_up_if_away(one);
  }
  return got.ok() && *got == bytes && sum_of({to, static_cast<size_t>(bytes)}) == sum;
}

Status ParitySet::read_unit(int64_t stripe, int unit, std::byte* to) {
  if (stripe_number_ != stripe) {
    std::vector<uint64_t> record;
    bool is_known = false;
    for (int parity = 0; parity < head_.parities && !is_known; ++parity) {
      is_known = read_record(stripe, parity, record);
    }
    if (is_known && read_as_it_is(stripe, unit, record[static_cast<size_t>(unit)], to)) {
      return Status();
    }
  }
  STRIA_ASSIGN_OR_RETURN(const Stripe* const whole, read_stripe(stripe));
  if (whole->is_beyond_repair) {
    return beyond_repair(stripe);
  }
  std::copy_n(whole->units[static_cast<size_t>(unit)], head_.unit_bytes, to);
  return Status();
}

Result<const ParitySet::Stripe*> ParitySet::read_stripe(int64_t stripe) {
  if (stripe_number_ == stripe) {
    return &stripe_;
  }
  const auto units = static_cast<size_t>(head_.unit_count());
  const auto members = static_cast<size_t>(head_.member_count());
  memory_.resize(units * static_cast<size_t>(head_.unit_bytes));
  stripe_number_ = -1;
  stripe_ = {.units = std::vector<std::byte*>(units),
             .was_wrong = std::vector<bool>(units),
             .record = {},
             .was_record_wrong = std::vector<bool>(static_cast<size_t>(head_.parities))};
  std::vector<uint64_t> record;
  for (int parity = 0; parity < head_.parities; ++parity) {
    const bool is_sound = read_record(stripe, parity, record) && (stripe_.record.empty() || record == stripe_.record);
    stripe_.was_record_wrong[static_cast<size_t>(parity)] = !is_sound;
    stripe_.record = is_sound ? record : stripe_.record;
  }
  stripe_.is_beyond_repair = stripe_.record.empty();
  for (size_t unit = 0; unit < units; ++unit) {
    stripe_.units[unit] = memory_.data() + unit * static_cast<size_t>(head_.unit_bytes);
    const uint64_t sum = stripe_.is_beyond_repair ? 0 : stripe_.record[unit];
    stripe_.was_wrong[unit] = !read_as_it_is(stripe, static_cast<int>(unit), sum, stripe_.units[unit]);
    const bool is_record_wrong = unit >= members && stripe_.was_record_wrong[unit - members];
    if (!stripe_.is_beyond_repair && (stripe_.was_wrong[unit] || is_record_wrong)) {
      note_wrong(static_cast<int>(unit));
    }
  }
  if (stripe_.is_beyond_repair && agrees_with_parity()) {
    stripe_.is_beyond_repair = false;
    stripe_.was_wrong.assign(units, false);
    stripe_.record = record_of_units(stripe);
    note_wrong(head_.member_count());
  }
  stripe_.is_beyond_repair = stripe_.is_beyond_repair || !code_.restore(stripe_.units, stripe_.was_wrong, head_.unit_bytes);
  stripe_number_ = stripe;
  return &stripe_;
}

// All that tells whether units are right is gone, but data that are wrong would have other parity.
bool ParitySet::agrees_with_parity() const {
  const auto members = static_cast<size_t>(head_.member_count());
  const auto bytes = static_cast<size_t>(head_.unit_bytes);
  for (const OneFile& one : files_) {
    if (one.file == nullptr) {
      return false;
    }
  }
  std::vector<std::byte> made(static_cast<size_t>(head_.parities) * bytes);
  std::vector<std::byte*> parity;
  for (int number = 0; number < head_.parities; ++number) {
    parity.push_back(made.data() + static_cast<size_t>(number) * bytes);
  }
  code_.encode(std::span(stripe_.units).first(members), parity, head_.unit_bytes);
  return std::equal(made.begin(), made.end(), stripe_.units[members]);
}

std::vector<uint64_t> ParitySet::record_of_units(int64_t stripe) const {
  std::vector<uint64_t> sums;
  for (int unit = 0; unit < head_.unit_count(); ++unit) {
    sums.push_back(sum_of({stripe_.units[static_cast<size_t>(unit)], static_cast<size_t>(head_.bytes_of(stripe, unit))}));
  }
  return sealed_record(std::move(sums));
}

Status ParitySet::beyond_repair(int64_t stripe) const {
  if (stripe_.record.empty()) {
    return Status(ErrorCode::kCorrupted, fmt::format("no parity of '{}' tells which bytes of its stripe {} are right: {}",
                                                     path_, stripe, in_words(troubles())));
  }
  const auto lost = std::count(stripe_.was_wrong.begin(), stripe_.was_wrong.end(), true);
  return Status(ErrorCode::kCorrupted,
                fmt::format("'{}' can't be made whole: {} units of its stripe {} are lost, and its parity makes up for {}: {}",
                            path_, lost, stripe, head_.parities, in_words(troubles())));
}

std::optional<int64_t> ParitySet::changed_ns(int unit) const {
  const auto info = is_missing(unit) ? Result<storage::NameInfo>(storage::NameInfo{})
                                     : driver_->name_info(real_path(*driver_, path_of(unit)));
  return info.ok() ? info->changed_ns : std::nullopt;
}

// Parity is marked when the file has its name, so that nothing of the file is younger by itself.
Status ParitySet::check_age(Which which) const {
  std::optional<int64_t> made;
  bool clocks_differ = storage::is_remote_path(path_);
  for (int unit = head_.member_count(); unit < head_.unit_count(); ++unit) {
    made = std::max(made, changed_ns(unit));
    clocks_differ = clocks_differ || real_path(*driver_, path_of(unit)) != path_of(unit);
  }
  if (made && clocks_differ) {
    *made += kClocksDifferNs;
  }
  for (int unit = 0; made && unit < head_.member_count(); ++unit) {
    const bool counts = which == Which::kAll || path_of(unit) == path_;
    if (counts && changed_ns(unit) > made) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' was written to after its parity was made: to take that back all the same, say --force; to "
                      "keep it, make its parity anew with --renew",
                      path_of(unit)));
    }
  }
  return Status();
}

int ParitySet::agreement() {
  const int64_t step = std::max<int64_t>(head_.stripe_count() / kSampledStripes, 1);
  std::vector<std::byte> unit(static_cast<size_t>(head_.unit_bytes));
  std::vector<uint64_t> record;
  int right = 0;
  for (int64_t stripe = 0; stripe < head_.stripe_count(); stripe += step) {
    bool is_known = false;
    for (int parity = 0; parity < head_.parities && !is_known; ++parity) {
      is_known = read_record(stripe, parity, record);
    }
    for (int member = 0; is_known && member < head_.member_count(); ++member) {
      right +=
          head_.bytes_of(stripe, member) > 0 && read_as_it_is(stripe, member, record[static_cast<size_t>(member)], unit.data());
    }
  }
  return right;
}

std::vector<ParityTrouble> ParitySet::troubles() const {
  std::vector<ParityTrouble> found;
  for (const OneFile& one : files_) {
    if (one.file == nullptr && !one.why_away.empty()) {
      found.push_back({fmt::format("'{}' is out of reach ({})", one.path, one.why_away), one.is_unseen});
    } else if (one.file == nullptr) {
      found.push_back({fmt::format("'{}' is missing", one.path)});
    } else if (one.wrong_units > 0) {
      found.push_back({fmt::format("'{}' is damaged", one.path)});
    }
  }
  return found;
}

}  // namespace stria::file
