// What a read does where the file, or a part of it, is damaged or missing: it goes by its parity.
//
// Problem: most files are whole, and must not pay for those that aren't.
// Method: a file is read as if it were whole. Where that fails, and there is parity, all handles
// are opened anew on the parity set, which compares every unit with its sum, and the call is made
// again. The ranks have agreed on the failure before, so that all of them do the same.
// Cost: nothing for a whole file; a call that fails is made twice.
#include <fmt/format.h>

#include "file/parity/healed_file.hpp"
#include "file/read/read_session.hpp"
#include "storage/parted/parted_file.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

bool may_be_damage(const Status& failure) {
  const ErrorCode code = failure.code();
  return code == ErrorCode::kCorrupted || code == ErrorCode::kFormat || code == ErrorCode::kIo;
}

}  // namespace

Status ReadSession::find_parity() {
  STRIA_ASSIGN_OR_RETURN(auto set, ParitySet::find(environment_.driver, stored_path_));
  STRIA_RETURN_IF_ERROR(set->check_age(ParitySet::Which::kFileItself));
  parity_ = std::move(set);
  return Status();
}

Result<bool> ReadSession::heal_root(const Status& failure) {
  if (!may_be_damage(failure) || parity_ != nullptr || !or_out_of_memory([&] { return find_parity(); }).ok()) {
    return false;
  }
  drop_handles();
  return or_out_of_memory([&]() -> Result<bool> {
    note_healing(failure);
    return true;
  });
}

void ReadSession::drop_handles() noexcept {
  reader_ = nullptr;
  steady_ = nullptr;
  file_ = nullptr;
}

void ReadSession::note_healing(const Status& failure) {
  const auto troubles = parity_->troubles();
  healing_remark_ =
      fmt::format("what is damaged or missing of '{}' is read by its parity, 'stria repair {}' puts it back: {}{}{}", path_,
                  path_, failure.message(), troubles.empty() ? "" : "; ", fmt::join(troubles, ", "));
}

// The message of the failure is the same on all ranks.
bool ReadSession::heal(const Status& failure) {
  if (!may_be_damage(failure) || parity_ != nullptr) {
    return false;
  }
  const bool is_rank_alone = comm().size() == 1;
  capabilities_.native_types = false;  // as HealedFile has it
  capabilities_.direct_align_bytes = 0;
  const Status found = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(find_parity());
    drop_handles();
    row_sums_ = RowSums();
    chunks_.forget_content();
    chunk_sums_loaded_ = false;
    STRIA_RETURN_IF_ERROR(open_handle());
    if (is_root()) {
      STRIA_ASSIGN_OR_RETURN(reader_, container::open_file(*file_));
    }
    note_healing(failure);
    environment_.hint_warnings.push_back(healing_remark_);
    return Status();
  });
  return (is_rank_alone ? found : comm().agree(found)).ok();
}

Result<std::unique_ptr<storage::File>> ReadSession::open_plain_or_healed() {
  if (parity_ != nullptr) {
    return std::unique_ptr<storage::File>(std::make_unique<HealedFile>(parity_, parity_->head().file_name, stored_path_));
  }
  storage::OpenOptions options = is_staged_ ? kOpenStaged : storage::OpenOptions();
  options.expected_number = identity_.expected_number();
  return environment_.driver->open(stored_path_, options);
}

// Parts are the first members of the set; parity of another generation has others.
Result<std::unique_ptr<storage::File>> ReadSession::open_healed_part(int number) {
  const auto part = static_cast<size_t>(number);
  const std::string& path = parts_->parts[part].path;
  const auto& members = parity_->head().members;
  if (members.size() != parts_->parts.size() + 1 || members[part].name != storage::file_name_of(path)) {
    return Status(ErrorCode::kCorrupted,
                  fmt::format("the parity beside '{}' is not that of its part '{}'", stored_path_, path));
  }
  return std::unique_ptr<storage::File>(std::make_unique<HealedFile>(parity_, members[part].name, path));
}

void ReadSession::join_parts() {
  if (parts_ == nullptr) {
    return;
  }
  auto parted =
      std::make_unique<storage::PartedFile>(std::move(file_), environment_.driver, parts_, storage::OpenOptions::Mode::kRead);
  if (parity_ != nullptr) {
    parted->read_parts_through([this](int number) { return open_healed_part(number); });
  }
  file_ = std::move(parted);
}

}  // namespace stria::file
