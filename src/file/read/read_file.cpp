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

Result<std::unique_ptr<storage::File>> open_plain_or_healed(const OpenFile& file, const ReadFile& source) {
  if (source.parity != nullptr) {
    return std::unique_ptr<storage::File>(
        std::make_unique<HealedFile>(source.parity, source.parity->head().file_name, source.path));
  }
  storage::OpenOptions options = source.is_staged ? kOpenStaged : storage::OpenOptions();
  options.expected_number = file.identity.expected_number();
  return file.environment.driver->open(source.path, options);
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

Status open_handle(OpenFile& file, ReadFile& source) {
  if (source.file != nullptr) {
    return Status();
  }
  PhaseTimer timer(file.accounts.times(), Phase::kOpen);
  STRIA_ASSIGN_OR_RETURN(auto opened, open_plain_or_healed(file, source));
  if (!file.meetings.is_root()) {
    STRIA_RETURN_IF_ERROR(file.identity.check(*opened));
    source.file = std::make_unique<storage::SteadyFile>(std::move(opened), source.head);
  } else {
    STRIA_ASSIGN_OR_RETURN(auto steady, storage::SteadyFile::open(std::move(opened)));
    source.head = steady->head();
    source.steady = steady.get();
    source.file = std::move(steady);
  }
  join_parts(file, source);
  return Status();
}

Status open_reader(ReadFile& source) {
  STRIA_ASSERT(source.file != nullptr, source.path);
  return source.reader.of(*source.file).status();
}

void close_handles(ReadFile& source) noexcept {
  source.reader.close();
  source.steady = nullptr;
  source.file = nullptr;
}

Status take_parts(std::span<const std::byte> table, ReadFile& source) {
  if (!table.empty()) {
    STRIA_ASSIGN_OR_RETURN(PartsTable decoded, decode_parts(table, source.path));
    source.parts = std::make_shared<storage::PartMap>(std::move(decoded.map));
  }
  return Status();
}

void join_parts(const OpenFile& file, ReadFile& source) {
  if (source.parts == nullptr) {
    return;
  }
  auto parted = std::make_unique<storage::PartedFile>(std::move(source.file), file.environment.driver, source.parts,
                                                      storage::OpenOptions::Mode::kRead);
  if (source.parity != nullptr) {
    parted->read_parts_through(
        [parity = source.parity, parts = source.parts](int number) { return open_healed_part(parity, *parts, number); });
  }
  source.file = std::move(parted);
}

bool may_be_damage(const Status& failure) {
  const ErrorCode code = failure.code();
  return code == ErrorCode::kCorrupted || code == ErrorCode::kFormat || code == ErrorCode::kIo;
}

Status find_parity(const OpenFile& file, ReadFile& source) {
  STRIA_ASSIGN_OR_RETURN(auto set, ParitySet::find(file.environment.driver, source.path));
  STRIA_RETURN_IF_ERROR(set->check_age(ParitySet::Which::kFileItself));
  source.parity = std::move(set);
  return Status();
}

void note_healing(const OpenFile& file, const Status& failure, ReadFile& source) {
  const auto troubles = source.parity->troubles();
  source.healing_remark =
      fmt::format("what is damaged or missing of '{}' is read by its parity, 'stria repair {}' puts it back: {}{}{}", file.path,
                  file.path, failure.message(), troubles.empty() ? "" : "; ", in_words(troubles));
}

Result<bool> turn_to_parity(const OpenFile& file, const Status& failure, ReadFile& source) {
  if (!may_be_damage(failure) || source.parity != nullptr ||
      !or_out_of_memory([&] { return find_parity(file, source); }).ok()) {
    return false;
  }
  close_handles(source);
  return or_out_of_memory([&]() -> Result<bool> {
    note_healing(file, failure, source);
    return true;
  });
}

}  // namespace stria::file
