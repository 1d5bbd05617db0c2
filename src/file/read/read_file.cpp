#include "file/read/read_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/background/staging_place.hpp"
#include "file/parity/healed_file.hpp"
#include "file/parts/parts_table.hpp"
#include "storage/parted/parted_file.hpp"
#include "storage/path.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

Result<std::unique_ptr<storage::File>> open_plain_or_healed(const ReadBy& by, const ReadFile& file) {
  if (file.parity != nullptr) {
    return std::unique_ptr<storage::File>(std::make_unique<HealedFile>(file.parity, file.parity->head().file_name, file.path));
  }
  storage::OpenOptions options = file.is_staged ? kOpenStaged : storage::OpenOptions();
  options.expected_number = by.identity.expected_number();
  return by.environment.driver->open(file.path, options);
}

// Parts are the first members of the set; parity of another generation has others.
Result<std::unique_ptr<storage::File>> open_healed_part(const std::shared_ptr<ParitySet>& parity, const storage::PartMap& parts,
                                                        int number) {
  const auto part = static_cast<size_t>(number);
  const std::string& path = parts.parts[part].path;
  const auto& members = parity->head().members;
  if (members.size() != parts.parts.size() + 1 || members[part].name != storage::file_name_of(path)) {
    return Status(ErrorCode::kCorrupted,
                  fmt::format("the parity beside '{}' is not that of its part '{}'", parity->path(), path));
  }
  return std::unique_ptr<storage::File>(std::make_unique<HealedFile>(parity, members[part].name, path));
}

}  // namespace

Status open_handle(const ReadBy& by, ReadFile& file) {
  if (file.file != nullptr) {
    return Status();
  }
  PhaseTimer timer(by.times, Phase::kOpen);
  STRIA_ASSIGN_OR_RETURN(auto opened, open_plain_or_healed(by, file));
  if (!by.is_root()) {
    STRIA_RETURN_IF_ERROR(by.identity.check(*opened));
    file.file = std::make_unique<storage::SteadyFile>(std::move(opened), file.head);
  } else {
    STRIA_ASSIGN_OR_RETURN(auto steady, storage::SteadyFile::open(std::move(opened)));
    file.head = steady->head();
    file.steady = steady.get();
    file.file = std::move(steady);
  }
  join_parts(by, file);
  return Status();
}

Status open_reader(ReadFile& file) {
  STRIA_ASSERT(file.file != nullptr, file.path);
  if (file.reader == nullptr) {
    STRIA_ASSIGN_OR_RETURN(file.reader, container::open_file(*file.file));
  }
  return Status();
}

void close_handles(ReadFile& file) noexcept {
  file.reader = nullptr;
  file.steady = nullptr;
  file.file = nullptr;
}

Status take_parts(std::span<const std::byte> table, ReadFile& file) {
  if (!table.empty()) {
    STRIA_ASSIGN_OR_RETURN(PartsTable decoded, decode_parts(table, file.path));
    file.parts = std::make_shared<storage::PartMap>(std::move(decoded.map));
  }
  return Status();
}

void join_parts(const ReadBy& by, ReadFile& file) {
  if (file.parts == nullptr) {
    return;
  }
  auto parted = std::make_unique<storage::PartedFile>(std::move(file.file), by.environment.driver, file.parts,
                                                      storage::OpenOptions::Mode::kRead);
  if (file.parity != nullptr) {
    parted->read_parts_through(
        [parity = file.parity, parts = file.parts](int number) { return open_healed_part(parity, *parts, number); });
  }
  file.file = std::move(parted);
}

bool may_be_damage(const Status& failure) {
  const ErrorCode code = failure.code();
  return code == ErrorCode::kCorrupted || code == ErrorCode::kFormat || code == ErrorCode::kIo;
}

Status find_parity(const ReadBy& by, ReadFile& file) {
  STRIA_ASSIGN_OR_RETURN(auto set, ParitySet::find(by.environment.driver, file.path));
  STRIA_RETURN_IF_ERROR(set->check_age(ParitySet::Which::kFileItself));
  file.parity = std::move(set);
  return Status();
}

void note_healing(const ReadBy& by, const Status& failure, ReadFile& file) {
  const auto troubles = file.parity->troubles();
  file.healing_remark =
      fmt::format("what is damaged or missing of '{}' is read by its parity, 'stria repair {}' puts it back: {}{}{}",
                  by.given_path, by.given_path, failure.message(), troubles.empty() ? "" : "; ", fmt::join(troubles, ", "));
}

Result<bool> turn_to_parity(const ReadBy& by, const Status& failure, ReadFile& file) {
  if (!may_be_damage(failure) || file.parity != nullptr || !or_out_of_memory([&] { return find_parity(by, file); }).ok()) {
    return false;
  }
  close_handles(file);
  return or_out_of_memory([&]() -> Result<bool> {
    note_healing(by, failure, file);
    return true;
  });
}

}  // namespace stria::file
